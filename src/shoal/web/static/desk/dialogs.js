// Dialogs: adding what nobody proposed, and who decided what.

const byId = (id) => document.getElementById(id);

for (const button of document.querySelectorAll("dialog [data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

/** Where the typed text is: from its first words up to its last ones; null if it is not there. */
function found(text, from, until) {
  const start = from ? text.indexOf(from) : -1;
  if (start < 0) return null;
  if (!until) return [start, start + from.length];
  const last = text.indexOf(until, start + from.length);
  return last < 0 ? null : [start, last + until.length];
}

const timesIn = (text, part) => text.split(part).length - 1;

/** Ask what to add; `add` is called with span, kind and reason. */
export function askWhatToAdd(text, selected, add) {
  const [dialog, from, until, told] = ["adding", "adding-text", "adding-until", "adding-found"].map(byId);
  const form = dialog.querySelector("form");
  const chosen = selected && text.slice(...selected);
  from.value = chosen ?? "";
  until.value = byId("adding-reason").value = "";
  const span = () => (selected && from.value === chosen && !until.value ? selected : found(text, from.value, until.value));
  const tell = () => {
    const place = span();
    if (!from.value) told.textContent = "";
    else if (!place) told.textContent = "The document does not have this text.";
    else if (until.value) told.textContent = `A passage of ${place[1] - place[0]} characters.`;
    else told.textContent = `${timesIn(text, from.value)} × in this document.`;
    if (until.value) byId("adding-kind").value = "BLOCK";
  };
  from.oninput = until.oninput = tell;
  form.onsubmit = (event) => {
    const place = span();
    if (!place) event.preventDefault();
    else add(place, byId("adding-kind").value, byId("adding-reason").value);
  };
  byId("adding-kind").onkeydown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    form.requestSubmit();
  };
  tell();
  dialog.showModal();
  (chosen ? byId("adding-kind") : from).focus();
}

/** Ask which kind to decide as a whole, with a preview; `decide` is called with kind, action and reason. */
export function askForKind(chosen, preview, decide) {
  const [dialog, kind, told, names, reason] = ["", "-kind", "-told", "-names", "-reason"].map((part) => byId(`whole-kind${part}`));
  const buttons = dialog.querySelectorAll("button[value]");
  const look = async () => {
    const asked = kind.value;
    for (const button of buttons) button.disabled = true;
    const open = await preview(asked);
    if (asked !== kind.value) return; // another was chosen meanwhile
    told.textContent = open.items ? `${open.items} open in ${open.documents} ${open.documents === 1 ? "document" : "documents"}:` : "Nothing of this kind is open.";
    names.textContent = open.names.join(" · ") + (open.others ? ` · and ${open.others} more` : "");
    for (const button of buttons) button.disabled = !open.items;
  };
  kind.value = chosen || kind.value;
  kind.onchange = look;
  reason.value = "";
  dialog.querySelector("form").onsubmit = (event) => decide(kind.value, event.submitter.value, reason.value);
  look();
  dialog.showModal();
  kind.focus();
}

const DID = { accept: "masked", reject: "left", shrink: "shrank", add: "added", undo: "took back", decided: "decided" };

export const didWhat = (decision) => `${decision.adjudicates ? "settled: " : ""}${DID[decision.action] ?? decision.action}`;

export const when = (at) => new Date(at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });

export function showHistory(entries) {
  const rows = entries.map((entry) => {
    const row = document.createElement("tr");
    const others = entry.items > 1 ? ` and ${entry.items - 1} equal` : "";
    const what = `${didWhat(entry)} “${entry.name || entry.item}” (${entry.document})${others}`;
    for (const cell of [when(entry.at), entry.reviewer, what, entry.reason]) {
      const place = document.createElement("td");
      place.textContent = cell;
      row.append(place);
    }
    if (!entry.holds && entry.action !== "undo") row.className = "taken-back";
    return row;
  });
  byId("history-rows").replaceChildren(...rows);
  byId("history").showModal();
}
