// What becomes of a file: the summary of what was chosen, how labels are compared, and what the choices lead to.

import { startCurve } from "./curve.js";
import { openEditor } from "./groups.js";

const form = document.getElementById("choices");
const columns = [...form.querySelectorAll(".column")];

const inWords = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const role = (column) => column.querySelector(".roles input:checked")?.value;

/** How many rows the release leaves out because they lack a value, as counted with the curve. */
let incomplete = 0;
function withheld() {
  if (!incomplete) return "";
  const lack = incomplete === 1 ? "lacks a value and is" : "lack a value and are";
  return ` ${inWords(incomplete, "row")} ${lack} left out, too.`;
}

/** Whether there is something to protect, in one sentence. */
function summarise() {
  const summary = document.getElementById("summary");
  const run = document.getElementById("run");
  if (!columns.length) {
    summary.textContent = "Words and how often a crowd has them are released, never a text.";
    return;
  }
  const has = (name) => columns.filter((column) => role(column) === name).length;
  const kept = has("confidential") + has("insensitive");
  run.disabled = !has("quasi");
  summary.textContent = run.disabled
    ? "Choose Protect for at least one column that others may know of a person."
    : `${inWords(has("quasi"), "column")} protected, ${kept} released as ${kept === 1 ? "it is" : "they are"}, ${has("identifier")} left out.${withheld()}`;
}

/** Labels, and numbers that are codes, need to be compared only where they are protected. */
function showLabels() {
  for (const column of columns) {
    const place = column.querySelector(".labels");
    if (!place) continue;
    const numbers = column.querySelector(".numbers");
    const how = place.querySelector("select").value;
    const isProtected = role(column) === "quasi";
    if (numbers) numbers.hidden = !isProtected;
    place.hidden = !isProtected || numbers?.querySelector("select").value === "";
    place.querySelector(".edit").hidden = how !== "groups";
    place.querySelector(".file").hidden = how !== "file";
  }
}

/** What only some choices need to know: how strong, how frequent. */
function showNeeded() {
  const needed = { strength: ["method", "rank-swap", "noise"], frequency: ["diversity", "recursive"] };
  for (const [id, [choice, ...values]] of Object.entries(needed)) {
    const place = document.getElementById(id);
    if (!place) continue;
    place.hidden = !values.includes(form.elements[choice].value);
    place.querySelector("input").required = !place.hidden;
  }
}

/** A column with a record's person, name or own k is not released, and its role says so for as long as it is chosen. */
const roleBefore = new Map();
function dropChosen({ name, value }) {
  roleBefore.get(name)?.click();
  const column = columns.find((one) => one.querySelector("legend").textContent === value);
  roleBefore.set(name, column?.querySelector(".roles input:checked"));
  column?.querySelector(".roles [value=identifier]").click();
}

const counted = (rows) => {
  incomplete = rows;
  summarise();
};
const estimate = document.getElementById("curve") ? startCurve(form, counted) : () => {};

form.addEventListener("change", (event) => {
  if (["person", "k_column", "identity"].includes(event.target.name)) dropChosen(event.target);
  summarise();
  showLabels();
  showNeeded();
  if (/^(role|kind|labels|missing|text|identity|label|person|k_column)/.test(event.target.name)) estimate();
});
for (const button of form.querySelectorAll("[data-edits]")) {
  button.addEventListener("click", async () => {
    const field = form.elements[`groups-${button.dataset.edits}`];
    if (await openEditor(form.dataset.upload, button.dataset.edits, button.dataset.column, field)) estimate();
  });
}
// A choice of groups is of no use without groups: the editor opens at once.
for (const select of form.querySelectorAll(".labels select")) {
  select.addEventListener("change", () => {
    if (select.value === "groups") select.parentElement.querySelector(".edit").click();
  });
}
// A field that is hidden cannot say what is wrong with it.
form.addEventListener("invalid", (event) => event.target.closest("details")?.setAttribute("open", ""), true);

summarise();
showLabels();
showNeeded();
estimate();
