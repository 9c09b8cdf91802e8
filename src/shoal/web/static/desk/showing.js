// What is shown beside the text: the chosen item, and how far the documents are.

import { didWhat, when } from "./dialogs.js";
import { kindOf, percent } from "./list.js";
import { byId, state } from "./state.js";

export function showCard() {
  const item = state.chosen;
  byId("now-name").textContent = item ? item.name : "Nothing chosen";
  const facts = [];
  if (item) {
    facts.push(kindOf(item));
    if (item.id.startsWith("r")) facts.push("the same is masked elsewhere");
    if (item.terms) facts.push(`because of: ${item.terms}`);
    if (item.probability !== null) facts.push(`${percent(item.probability)} likely to need a mask`);
    if (item.spans.length > 1) facts.push(`${item.spans.length} places here`);
    if (item.equal > 1) facts.push(`${item.equal} equal in ${item.documents} ${item.documents > 1 ? "documents" : "document"}`);
    if (item.stands === "disputed") facts.push(item.mine ? "reviewers differ; another person settles it" : "reviewers differ: your answer settles it");
  }
  byId("now-facts").textContent = facts.join(" · ");
  const lines = (item?.by ?? []).map((decision) => {
    const line = document.createElement("li");
    const why = decision.reason ? `: ${decision.reason}` : "";
    line.textContent = `${decision.reviewer} ${didWhat(decision)}, ${when(decision.at)}${why}`;
    return line;
  });
  byId("now-by").replaceChildren(...lines);
}

export function showProgress() {
  const here = state.documents.find((one) => one.id === state.document);
  if (here) {
    here.open = state.items.filter((item) => item.stands === "open").length;
    here.disputed = state.items.filter((item) => item.stands === "disputed").length;
    here.total = state.items.filter((item) => item.stands !== "below").length;
    paintDocument(here);
  }
  const sum = (name) => state.documents.reduce((total, one) => total + one[name], 0);
  const [left, total] = [sum("open") + sum("disputed"), sum("total")];
  byId("overall").max = total || 1;
  byId("overall").value = total ? total - left : 1;
  byId("overall-words").textContent = left ? `${left} of ${total} to decide` : "everything is decided";
}

export function paintDocument(one) {
  const row = byId(`document-${one.id}`);
  const bar = row.querySelector("progress");
  const left = one.open + one.disputed;
  bar.max = one.total || 1;
  bar.value = one.total ? one.total - left : 1;
  const words = left ? `${one.open} open` + (one.disputed ? `, ${one.disputed} differ` : "") : "done";
  const told = row.querySelector(".left");
  if (told.textContent !== words) told.textContent = words;
}

/** The list of documents; `open` is called with the name of the one that is clicked. */
export function showDocuments(open) {
  const rows = state.documents.map((one) => {
    const row = document.createElement("li");
    const link = document.createElement("a");
    link.id = `document-${one.id}`;
    link.href = `?document=${one.id}`;
    const name = document.createElement("b");
    name.textContent = one.name;
    const bar = document.createElement("progress");
    bar.setAttribute("aria-label", `Decided in ${one.name}`);
    const left = document.createElement("span");
    left.className = "soft left";
    link.append(name, bar, left);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(one.id);
    });
    row.append(link);
    return row;
  });
  byId("documents").replaceChildren(...rows);
  state.documents.forEach(paintDocument);
}
