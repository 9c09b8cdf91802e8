// The plan of a file: every choice is kept at once, and the page says what it leads to.

import { startCurve } from "./curve.js";
import { openEditor } from "./groups.js";
import { makeDrop } from "./workbench.js";

const form = document.getElementById("choices");
const columns = [...form.querySelectorAll(".column")];
const plan = `/plan/${form.dataset.upload}`;

const MOST_KEPT = 60000; // characters that browsers still send while a page is left

const inWords = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const role = (column) => column.querySelector(".roles input:checked")?.value;

/** How many rows the release leaves out because they lack a value, as counted with the curve. */
let incomplete = 0;
function withheld() {
  if (!incomplete) return "";
  const lack = incomplete === 1 ? "lacks a value and is" : "lack a value and are";
  return ` ${inWords(incomplete, "row")} ${lack} left out, too.`;
}

const partsNamed = () =>
  columns
    .flatMap((column) => [...column.querySelectorAll(".roles .part input:checked + span")])
    .map((part) => `1 ${part.textContent.toLowerCase()}, `)
    .join("");

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
    : `${inWords(has("quasi"), "column")} protected, ${kept} released as ${kept === 1 ? "it is" : "they are"}, ${partsNamed()}${has("drop") || "none"} left out.${withheld()}`;
}

/** What only some choices need to know: how strong, how frequent. */
function showNeeded() {
  for (const field of form.querySelectorAll("[data-if]")) {
    field.hidden = !field.dataset.if.split(" ").includes(form.elements[field.dataset.of]?.value);
    for (const input of field.querySelectorAll("input")) input.required = !field.hidden;
  }
}

/** A column that is the weight, the person or the like has no other role; choosing one ends that part. */
const parts = [...form.querySelectorAll("[data-part]")];
const columnNamed = (name) => columns.find((one) => one.querySelector("legend").textContent === name);
const roleBefore = new Map();
function endPart(select) {
  const pill = form.querySelector(`.roles [value=${select.name}]`);
  if (!pill) return;
  const roles = pill.closest(".roles");
  if (pill.checked) roles.querySelector(`[value=${roleBefore.get(select.name) ?? "drop"}]`).checked = true;
  pill.closest("label").remove();
}
function beginPart(select) {
  endPart(select);
  const column = columnNamed(select.value);
  if (!column) return;
  roleBefore.set(select.name, role(column));
  const pill = column.querySelector(".roles label").cloneNode(true);
  pill.querySelector("input").value = select.name;
  pill.querySelector("span").textContent = select.dataset.part;
  pill.className = "part";
  column.querySelector(".roles").append(pill);
  pill.querySelector("input").checked = true;
}
function endPartsLeft() {
  for (const select of parts) {
    const column = columnNamed(select.value);
    if (!column || role(column) === select.name) continue;
    select.value = "";
    endPart(select);
  }
}

/** Keep what is chosen now; those who need it kept wait for this. */
let keeping = Promise.resolve();
function keep() {
  const body = new URLSearchParams(new FormData(form));
  keeping = keeping.then(async () => {
    try {
      const answer = await fetch(plan, { method: "POST", body, keepalive: body.toString().length < MOST_KEPT });
      if (!answer.ok) return;
      const { line, python } = await answer.json();
      document.getElementById("plan-line").textContent = line;
      document.getElementById("plan-python").textContent = python;
    } catch {
      // the next choice is kept, or the form is sent
    }
  });
  return keeping;
}

const counted = (rows) => {
  incomplete = rows;
  summarise();
};
const estimate = document.getElementById("curve") ? startCurve(form, counted) : () => {};

/** What can be said of a column depends on its role and kind: it is asked for when somebody wants to see it. */
async function showColumn(details) {
  await keeping;
  const answer = await fetch(`${plan}/column/${details.closest(".column").dataset.place}`);
  if (!answer.ok) return;
  details.innerHTML = await answer.text();
  for (const drop of details.querySelectorAll("[data-drop]")) makeDrop(drop);
}
for (const details of form.querySelectorAll(".of-column")) {
  const fill = () => details.open && !details.querySelector(".fields") && showColumn(details);
  details.addEventListener("toggle", fill);
  fill(); // somebody may have been quicker than this script
  details.addEventListener("click", async ({ target }) => {
    if (target.dataset?.edits === undefined) return;
    const name = details.closest(".column").querySelector("legend").textContent;
    if (await openEditor(`${plan}/groups/${target.dataset.edits}`, name)) {
      await showColumn(details);
      estimate();
    }
  });
}

const settle = () => {
  endPartsLeft();
  summarise();
  showNeeded();
  return keep();
};
form.addEventListener("change", async ({ target }) => {
  if (!target.name) return;
  if (parts.includes(target)) beginPart(target);
  const details = target.closest(".column")?.querySelector(".of-column");
  await settle();
  if (details?.querySelector(".fields")) await showColumn(details);
  if (/-\d+$|^(missing|text_column|id_column|label_column|person|household|weight|k_column)$/.test(target.name)) estimate();
});
form.addEventListener("uploaded", async ({ target }) => {
  const details = target.closest(".of-column");
  await keep();
  if (details) await showColumn(details);
  estimate();
});

// Many columns: a part of their names shows some, and a button gives all of these a role.
const filter = document.getElementById("filter");
const shown = () => columns.filter((column) => !column.hidden);
filter?.addEventListener("input", () => {
  const part = filter.value.trim().toLowerCase();
  for (const column of columns) column.hidden = !column.querySelector("legend").textContent.toLowerCase().includes(part);
  document.getElementById("matching").textContent = part ? `${shown().length} of ${columns.length}` : "";
});
for (const button of form.querySelectorAll("[data-bulk]")) {
  button.addEventListener("click", () => {
    for (const column of shown()) column.querySelector(`.roles [value=${button.dataset.bulk}]`).checked = true;
    settle().then(estimate);
  });
}
// Enter in the filter or beside a number sends no form that somebody did not mean to send.
filter?.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
// A field that is hidden cannot say what is wrong with it.
form.addEventListener("invalid", (event) => event.target.closest("details")?.setAttribute("open", ""), true);

summarise();
showNeeded();
estimate();
