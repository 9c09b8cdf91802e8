// The redacted text as it would be released now.

export class After {
  constructor(place) {
    this.place = place;
  }

  show({ text, pieces }) {
    const nodes = [];
    let end = 0;
    this.pieces = pieces.map(([start, upTo, original]) => {
      nodes.push(document.createTextNode(text.slice(end, start)));
      const piece = document.createElement("span");
      piece.className = "piece";
      piece.textContent = text.slice(start, upTo);
      piece.original = original;
      nodes.push(piece);
      end = upTo;
      return piece;
    });
    nodes.push(document.createTextNode(text.slice(end)));
    this.place.replaceChildren(...nodes);
  }

  /** Bring the last piece before a place of the original into sight. */
  scrollTo(original) {
    const piece = this.pieces.findLast((one) => one.original <= original) ?? this.pieces[0];
    if (!piece) return;
    const place = this.place.getBoundingClientRect();
    this.place.scrollTop += piece.getBoundingClientRect().top - place.top - place.height / 3;
  }
}
