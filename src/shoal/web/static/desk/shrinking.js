// Shrinking: a part of an item remains, word by word.

export class Shrinking {
  constructor(text, item, span) {
    this.item = item;
    this.words = [...text.slice(...span).matchAll(/\S+/g)].map((found) => [
      span[0] + found.index,
      span[0] + found.index + found[0].length,
    ]);
    this.first = 0;
    this.last = this.words.length - 1;
  }

  get span() {
    return [this.words[this.first][0], this.words[this.last][1]];
  }

  /** Move the end by a word, or the start. */
  move(step, start) {
    if (start) this.first = Math.min(Math.max(this.first + step, 0), this.last);
    else this.last = Math.max(Math.min(this.last + step, this.words.length - 1), this.first);
  }
}

/** What would be masked of an item: each place that reads the same shrinks to the same part, others stay whole. */
export function cutOf(text, item, [start, end]) {
  const around = item.spans.find((span) => span[0] <= start && end <= span[1]);
  const written = text.slice(...around);
  return item.spans.map((span) =>
    text.slice(...span) === written ? [span[0] + start - around[0], span[0] + end - around[0]] : span,
  );
}
