// Values in groups: dragged, or ticked and moved with a button. The groups become the hierarchy of their column.

const editor = document.getElementById("editor");
const place = document.getElementById("editor-groups");
const problem = editor.querySelector("[role=alert]");
const NONE = "";

const make = (name, className, text = "") => {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
};

function complain(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

function valueChip(value) {
  const item = make("li", "");
  const label = make("label", "");
  const tick = document.createElement("input");
  tick.type = "checkbox";
  tick.value = value;
  label.append(tick, value);
  item.append(label);
  item.draggable = true;
  item.addEventListener("dragstart", (event) => {
    tick.checked = true;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", value);
  });
  item.addEventListener("dragend", () => (tick.checked = false)); // also if it was let go elsewhere
  return item;
}

/** Everything that is ticked goes there. */
function moveTo(group) {
  const list = group.querySelector(".values");
  for (const tick of place.querySelectorAll(".values input:checked")) {
    tick.checked = false;
    list.append(tick.closest("li"));
  }
}

function addGroup(name, values) {
  const group = make("section", "group");
  const head = make("div", "group-head");
  if (name === NONE) {
    group.dataset.none = "";
    head.append(make("b", "", "In no group"));
  } else {
    const field = document.createElement("input");
    field.value = name;
    field.setAttribute("aria-label", "Name of the group");
    head.append(field);
  }
  const move = make("button", "quiet small", "Move here");
  move.type = "button";
  move.addEventListener("click", () => moveTo(group));
  head.append(move);
  const list = make("ul", "values");
  list.append(...values.map(valueChip));
  group.append(head, list);
  group.addEventListener("dragover", (event) => {
    event.preventDefault();
    group.classList.add("over");
  });
  group.addEventListener("dragleave", () => group.classList.remove("over"));
  group.addEventListener("drop", (event) => {
    event.preventDefault();
    group.classList.remove("over");
    moveTo(group);
  });
  place.append(group);
  return group;
}

const namedGroups = () => [...place.querySelectorAll(".group:not([data-none])")];
const valuesOf = (group) => [...group.querySelectorAll(".values input")].map((tick) => tick.value);

/** The groups by name, or null if they cannot be used. Groups without values are not kept. */
function gathered() {
  const groups = new Map(); // a group may be called as anything, also "constructor"
  for (const group of namedGroups()) {
    const name = group.querySelector(".group-head input").value.trim();
    const values = valuesOf(group);
    if (!values.length) continue;
    if (!name || groups.has(name)) {
      complain(name ? `Two groups are called ${name}; rename one.` : "A group has no name; name it.");
      return null;
    }
    groups.set(name, values);
  }
  return Object.fromEntries(groups);
}

async function fill(address) {
  place.replaceChildren();
  complain("");
  const answer = await fetch(address);
  const told = await answer.json();
  if (!answer.ok) return complain(told.detail);
  const groups = Object.keys(told.groups).length ? told.groups : { "Group 1": [], "Group 2": [] };
  const taken = new Set(Object.values(groups).flat());
  addGroup(NONE, told.values.filter((value) => !taken.has(value)));
  for (const [name, values] of Object.entries(groups)) addGroup(name, values);
}

/** Whether the groups were taken. */
async function save(address, groups) {
  const body = new URLSearchParams({ groups: JSON.stringify(groups) });
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.ok) complain((await answer.json()).detail);
  return answer.ok;
}

/** True when the groups were saved. */
export function openEditor(address, name) {
  editor.querySelector("h2 span").textContent = name;
  const filled = fill(address);
  editor.showModal();
  return new Promise((resolve) => {
    const act = async (event) => {
      const does = event.target.dataset?.does;
      await filled;
      if (does === "add") addGroup(`Group ${namedGroups().length + 1}`, []).querySelector("input").select();
      if (does === "cancel") editor.close("");
      if (does === "save") {
        const groups = gathered();
        if (groups && (await save(address, groups))) editor.close("saved");
      }
    };
    editor.returnValue = "";
    editor.addEventListener("click", act);
    editor.addEventListener(
      "close",
      () => {
        editor.removeEventListener("click", act);
        resolve(editor.returnValue === "saved");
      },
      { once: true },
    );
  });
}
