// A text with marks. It is built once, in chunks that the browser lays out only when they come into sight; a decision
// changes the classes of a few spans, and a chunk is built anew only when its marks begin or end elsewhere.

const LONG = 4000; // characters of a chunk, up to the next line end
const LONGEST = 12000;

export function* chunksOf(text) {
  for (let start = 0; start < text.length; ) {
    const line = text.indexOf("\n", start + LONG);
    let end = line < 0 ? text.length : line + 1;
    if (end - start > LONGEST) {
      const space = text.lastIndexOf(" ", start + LONGEST);
      end = space > start ? space + 1 : start + LONGEST;
    }
    yield [start, end];
    start = end;
  }
}

const within = (place, spans) => spans.some(([start, end]) => start <= place && place < end);

/** How an item stands at a place: what was cut away from it stays. */
const standsAt = (item, place) =>
  item.cut && (item.stands === "masked" || item.stands === "waiting") && !within(place, item.cut) ? "kept" : item.stands;

export class Marks {
  constructor(place) {
    this.place = place;
    this.text = "";
    this.chunks = [];
    this.chosen = null; // an item
    this.preview = null; // [start, end] of what would remain of it
  }

  /** Another document. */
  show(text, items) {
    this.text = text;
    this.chosen = this.preview = null;
    this.chunks = [...chunksOf(text)].map(([start, end]) => {
      const element = document.createElement("div");
      element.className = "chunk";
      return { start, end, element, built: null, spans: [] };
    });
    this.update(items);
    this.place.replaceChildren(...this.chunks.map((chunk) => chunk.element));
    this.place.scrollTop = 0;
  }

  /** The same document with other items; chunks that stay as they are are only painted. */
  update(items) {
    this.items = items;
    const marks = [];
    for (const item of items) for (const [start, end] of item.spans) marks.push({ item, start, end });
    marks.sort((one, other) => one.start - other.start || other.end - one.end);
    for (const chunk of this.chunks) {
      chunk.marks = marks.filter((mark) => mark.start < chunk.end && mark.end > chunk.start);
      this.#refresh(chunk);
    }
  }

  /** An item stands otherwise, or is shrunk to another part. */
  paint(item) {
    for (const chunk of this.#chunksWith(item)) this.#refresh(chunk, item);
  }

  choose(item) {
    const before = this.chosen;
    this.chosen = item;
    if (before && before !== item) this.paint(before);
    if (item) this.paint(item);
  }

  showPreview(item, span) {
    this.preview = span;
    this.paint(item);
  }

  /** Bring a place of an item into sight. */
  scrollTo(item, number = 0) {
    const [start] = item.spans[number] ?? item.spans[0];
    const chunk = this.chunks.find((one) => one.start <= start && start < one.end);
    const span = chunk?.spans.find((one) => one.from >= start) ?? chunk?.element;
    if (!span) return;
    const place = this.place.getBoundingClientRect();
    const box = span.getBoundingClientRect();
    if (box.top < place.top + 40 || box.bottom > place.bottom - 40) {
      this.place.scrollTop += box.top - place.top - place.height / 3;
    }
  }

  /** The stretch that is selected in the text, without blanks at its ends; null if there is none. */
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const ends = [this.#offset(range.startContainer, range.startOffset), this.#offset(range.endContainer, range.endOffset)];
    if (ends.includes(null)) return null;
    let [start, end] = ends;
    while (start < end && /\s/.test(this.text[start])) start++;
    while (end > start && /\s/.test(this.text[end - 1])) end--;
    return start < end ? [start, end] : null;
  }

  #offset(node, offset) {
    if (!this.place.contains(node)) return null;
    if (node.nodeType === Node.TEXT_NODE) return (node.from ?? node.parentNode.from) + offset;
    const child = node.childNodes[offset];
    if (child) return child.from ?? this.chunks.find((chunk) => chunk.element === child)?.start ?? null;
    const chunk = this.chunks.find((one) => one.element === node || one.element.contains(node));
    return chunk ? (node.upTo ?? chunk.end) : null;
  }

  #chunksWith(item) {
    return this.chunks.filter((chunk) => item.spans.some(([start, end]) => start < chunk.end && end > chunk.start));
  }

  #points(chunk) {
    const points = new Set([chunk.start, chunk.end]);
    const add = ([start, end]) => {
      if (start > chunk.start && start < chunk.end) points.add(start);
      if (end > chunk.start && end < chunk.end) points.add(end);
    };
    for (const { item, start, end } of chunk.marks) {
      add([start, end]);
      item.cut?.forEach(add);
      if (this.preview && item === this.chosen) add(this.preview);
    }
    return [...points].sort((one, other) => one - other);
  }

  /** Build it if the bounds of its marks have changed, else paint it: all of it, or one item. */
  #refresh(chunk, item = null) {
    const points = this.#points(chunk);
    const built = `${points}/${chunk.marks.map((mark) => mark.item.id)}`;
    if (built === chunk.built) {
      for (const span of chunk.spans) {
        if (!item || span.items.includes(item)) this.#paint(span);
      }
      return;
    }
    chunk.built = built;
    chunk.spans = [];
    const nodes = points.slice(1).map((end, number) => this.#node(chunk, points[number], end));
    chunk.element.replaceChildren(...nodes);
  }

  #node(chunk, start, end) {
    const items = chunk.marks.filter((mark) => mark.start <= start && mark.end >= end);
    const text = document.createTextNode(this.text.slice(start, end));
    text.from = start;
    if (!items.length) return text;
    const span = document.createElement("span");
    span.from = start;
    span.upTo = end;
    // The shortest comes first: an entity within a passage is what one points at.
    span.items = items.sort((one, other) => one.end - one.start - (other.end - other.start)).map((mark) => mark.item);
    span.append(text);
    chunk.spans.push(span);
    this.#paint(span);
    return span;
  }

  #paint(span) {
    const [first, ...around] = span.items;
    const looks = ["m", standsAt(first, span.from)];
    if (first.kind === "BLOCK") looks.push("block");
    const block = around.find((item) => item.kind === "BLOCK");
    if (block) looks.push(`in-${standsAt(block, span.from)}`);
    if (this.chosen && span.items.includes(this.chosen)) {
      looks.push("now");
      if (this.preview) looks.push(within(span.from, [this.preview]) ? "stays" : "cut");
    }
    const look = looks.join(" ");
    if (span.className !== look) span.className = look;
  }
}
