// The list beside the text, the least sure first unless another order is chosen. The order stays, so that nothing jumps while one decides.

const WORDS = {
  open: "to decide",
  masked: "masked",
  kept: "left",
  disputed: "reviewers differ",
  waiting: "waits for another",
  below: "below the threshold",
};
const unsure = (item) => Math.abs((item.probability ?? 1) - 0.5);
const first = (item) => item.spans[0][0];
const ORDERS = { unsure, risk: (item) => -(item.probability ?? 1), place: first };
const isAsked = (item) => item.stands !== "below";
const toDecide = (item) => item.stands === "open" || item.stands === "disputed";

const SHOWS = {
  all: isAsked,
  open: toDecide,
  unsure: (item) => toDecide(item) && unsure(item) <= 0.25,
  decided: (item) => isAsked(item) && !toDecide(item),
  differences: (item) => item.stands === "disputed",
  below: (item) => !isAsked(item),
};

const kindOf = (item) => ({ r: `repeat: ${item.called}`, a: `added: ${item.called}` })[item.id[0]] ?? item.called;

export const percent = (share) => `${Math.round(share * 100)} %`;

export class List {
  constructor(place, { show, kind, by }, nothing) {
    Object.assign(this, { place, show, kind, by, nothing, rows: new Map(), order: [] });
  }

  /** All items of a document; those chosen by the filters are shown. */
  fill(items) {
    const by = ORDERS[this.by.value];
    const rank = (item) => (item.stands === "disputed" && !this.rows.has(item.id) ? 0 : 1);
    this.order = [...items].sort(
      (one, other) => rank(one) - rank(other) || by(one) - by(other) || first(one) - first(other),
    );
    this.rows = new Map(this.order.map((item) => [item.id, this.#row(item)]));
    this.order.forEach((item) => this.paint(item));
    this.place.replaceChildren(...this.rows.values());
    this.count();
  }

  paint(item) {
    const row = this.rows.get(item.id);
    if (!row) return;
    const places = item.spans.length > 1 ? ` · ${item.spans.length} places` : "";
    const equal = item.documents > 1 ? ` · in ${item.documents} documents` : "";
    const sure = item.probability === null ? "" : ` · ${percent(item.probability)}`;
    row.className = item.stands;
    row.lastChild.textContent = `${kindOf(item)}${sure}${places}${equal} · ${WORDS[item.stands]}`;
    row.hidden = !this.matches(item);
  }

  matches(item) {
    return SHOWS[this.show.value](item) && (!this.kind.value || this.kind.value === item.kind);
  }

  filter() {
    for (const item of this.order) this.rows.get(item.id).hidden = !this.matches(item);
    this.count();
  }

  count() {
    const shown = this.order.some((item) => !this.rows.get(item.id).hidden);
    this.nothing.hidden = shown;
    this.nothing.textContent = this.order.length ? "Nothing here with this filter." : "Nothing was proposed in this document.";
  }

  choose(item) {
    this.place.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    const row = item && this.rows.get(item.id);
    if (!row) return this.place.removeAttribute("aria-activedescendant");
    row.setAttribute("aria-selected", "true");
    this.place.setAttribute("aria-activedescendant", row.id);
    const [list, box] = [this.place.getBoundingClientRect(), row.getBoundingClientRect()];
    if (box.top < list.top) this.place.scrollTop -= list.top - box.top;
    else if (box.bottom > list.bottom) this.place.scrollTop += box.bottom - list.bottom;
  }

  /** The next shown item after another, or before it, that passes a test; null at the end. */
  beside(item, step, passes = () => true) {
    const places = this.order.length;
    for (let at = this.order.indexOf(item) + step; at >= 0 && at < places; at += step) {
      const other = this.order[at];
      if (this.matches(other) && passes(other)) return other;
    }
    return null;
  }

  first(passes = () => true) {
    return this.order.find((item) => this.matches(item) && passes(item)) ?? null;
  }

  #row(item) {
    const row = document.createElement("li");
    row.id = `row-${item.id}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", "false");
    const name = document.createElement("b");
    name.textContent = item.name.length > 120 ? `${item.name.slice(0, 120)} …` : item.name;
    row.append(name, document.createElement("span"));
    row.item = item;
    return row;
  }
}

export { kindOf, toDecide };
