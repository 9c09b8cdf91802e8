// The redacted text as it would be released now, in chunks like the original: what did not change stays as it is.

import { chunksOf } from "./marks.js";

function built(text, start, end, pieces) {
  const element = document.createElement("div");
  element.className = "chunk";
  let at = start;
  const spans = pieces.map(([from, upTo, original]) => {
    const span = document.createElement("span");
    span.className = "piece";
    span.original = original;
    span.textContent = text.slice(from, Math.min(upTo, end));
    element.append(text.slice(at, from), span);
    at = Math.min(upTo, end);
    return span;
  });
  element.append(text.slice(at, end));
  return { element, spans };
}

export class After {
  constructor(place) {
    this.place = place;
    this.chunks = [];
  }

  show({ text, pieces }) {
    const before = this.chunks;
    let next = 0;
    this.chunks = [...chunksOf(text)].map(([start, end], place) => {
      const from = next;
      while (next < pieces.length && pieces[next][0] < end) next++;
      const inside = pieces.slice(from, next);
      const key = `${text.slice(start, end)}\0${inside.map(([piece, , original]) => [piece - start, original])}`;
      return before[place]?.key === key ? before[place] : { key, ...built(text, start, end, inside) };
    });
    if (before.length !== this.chunks.length) return this.place.replaceChildren(...this.chunks.map((chunk) => chunk.element));
    return this.chunks.forEach((chunk, place) => chunk !== before[place] && before[place].element.replaceWith(chunk.element));
  }

  /** Bring the last piece before a place of the original into sight. */
  scrollTo(original) {
    const pieces = this.chunks.flatMap((chunk) => chunk.spans);
    const piece = pieces.findLast((one) => one.original <= original) ?? pieces[0];
    if (!piece) return;
    const [place, box] = [this.place.getBoundingClientRect(), piece.getBoundingClientRect()];
    if (box.top < place.top + 40 || box.bottom > place.bottom - 40) {
      this.place.scrollTop += box.top - place.top - place.height / 3;
    }
  }
}
