// The map of an exploration: it fills while trials come in, can be limited, read and compared.

const SVG = "http://www.w3.org/2000/svg";
const LEFT = 56, RIGHT = 624, TOP = 12, BOTTOM = 352;
const EVERY = 1500; // milliseconds

const place = document.getElementById("map");
const drawing = document.getElementById("points");
const rows = document.getElementById("trials");
const pointed = document.getElementById("pointed");
const compared = document.getElementById("compared");
const limit = {
  loss: document.getElementById("limit-loss"),
  risk: document.getElementById("limit-risk"),
  crowd: document.getElementById("limit-crowd"),
};
let points = [];
let chosen = []; // names of at most two
let seen = "";
let words = { loss: "loss", risk: "risk", promised: "" };

const titled = (text) => text[0].toUpperCase() + text.slice(1);

const per = (value) => `${value.toFixed(1)} %`;
const inside = (point) =>
  point.loss <= (limit.loss.valueAsNumber || 100) &&
  point.risk <= (limit.risk.valueAsNumber || 100) &&
  (point.crowd || !limit.crowd.checked);
const promise = (point) => (point.crowd ? `at least ${point.alike} records alike` : "no crowd is promised");

function shape(name, attributes, parent, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

function cell(row, ...content) {
  const made = document.createElement("td");
  made.append(...content);
  row.append(made);
}

function scales() {
  const most = (key) => Math.max(10, Math.ceil(Math.max(...points.map((one) => one[key])) / 10) * 10);
  const [loss, risk] = [most("loss"), most("risk")];
  return {
    loss,
    risk,
    x: (value) => LEFT + (value / loss) * (RIGHT - LEFT),
    y: (value) => BOTTOM - (value / risk) * (BOTTOM - TOP),
  };
}

function drawAxes(scale) {
  for (let step = 0; step <= 5; step++) {
    const [loss, risk] = [(scale.loss * step) / 5, (scale.risk * step) / 5];
    shape("line", { class: "grid", x1: LEFT, x2: RIGHT, y1: scale.y(risk), y2: scale.y(risk) }, drawing);
    shape("text", { x: LEFT - 8, y: scale.y(risk) + 4, "text-anchor": "end" }, drawing, `${risk} %`);
    shape("text", { x: scale.x(loss), y: BOTTOM + 18, "text-anchor": "middle" }, drawing, `${loss} %`);
  }
  shape("line", { class: "axis", x1: LEFT, x2: RIGHT, y1: BOTTOM, y2: BOTTOM }, drawing);
  shape("text", { x: (LEFT + RIGHT) / 2, y: BOTTOM + 40, "text-anchor": "middle" }, drawing, titled(words.loss));
  const middle = (TOP + BOTTOM) / 2;
  shape("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, drawing, titled(words.risk));
}

function drawLimits(scale) {
  const [loss, risk] = [limit.loss.valueAsNumber, limit.risk.valueAsNumber];
  if (loss <= scale.loss) shape("line", { class: "limit", x1: scale.x(loss), x2: scale.x(loss), y1: TOP, y2: BOTTOM }, drawing);
  if (risk <= scale.risk) shape("line", { class: "limit", x1: LEFT, x2: RIGHT, y1: scale.y(risk), y2: scale.y(risk) }, drawing);
}

function classes(point) {
  const kinds = { crowdless: !point.crowd, outside: !inside(point), recommended: point.recommended, chosen: chosen.includes(point.name) };
  return Object.keys(kinds).filter((kind) => kinds[kind]).join(" ");
}

function draw() {
  drawing.replaceChildren();
  if (!points.length) return;
  const scale = scales();
  drawAxes(scale);
  const front = points.filter((one) => one.front).sort((a, b) => a.loss - b.loss);
  const path = front.map((one) => `${scale.x(one.loss)},${scale.y(one.risk)}`).join(" ");
  shape("polyline", { class: "front", points: path }, drawing);
  drawLimits(scale);
  const labels = [];
  for (const point of points) {
    const dot = shape("circle", { cx: scale.x(point.loss), cy: scale.y(point.risk), r: 6, class: classes(point) }, drawing);
    shape("title", {}, dot, `${point.name}: loss ${per(point.loss)}, risk ${per(point.risk)}`);
    const [x, y] = [scale.x(point.loss) + 9, scale.y(point.risk) - 7];
    const free = labels.every((one) => Math.abs(one.x - x) > 44 || Math.abs(one.y - y) > 14);
    if (point.k && free && (point.front || point.recommended || chosen.includes(point.name))) {
      labels.push({ x, y });
      shape("text", { x, y }, drawing, `k = ${point.k}`);
    }
    dot.addEventListener("mouseenter", () => say(point));
    dot.addEventListener("click", () => choose(point.name));
  }
}

function say(point) {
  pointed.textContent = `${point.name}: loss ${per(point.loss)}, risk ${per(point.risk)}, ${promise(point)}${point.recommended ? "; recommended" : ""}.`;
}

function list() {
  const focused = document.activeElement?.dataset?.about;
  rows.replaceChildren();
  for (const point of points) {
    const row = document.createElement("tr");
    row.className = [point.recommended ? "recommended" : "", inside(point) ? "" : "outside"].join(" ");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = chosen.includes(point.name);
    box.setAttribute("aria-label", `Compare ${point.name}`);
    box.dataset.about = `compare ${point.name}`;
    box.addEventListener("change", () => choose(point.name));
    const button = document.createElement("button");
    button.className = "quiet";
    button.textContent = "Protect with this";
    button.setAttribute("aria-label", `Protect with ${point.name}`);
    button.dataset.about = `protect ${point.name}`;
    button.addEventListener("click", () => protectWith(point));
    if (words.promised && !point.crowd) {
      button.disabled = true; // it has no groups that could keep the promise
      button.title = `It cannot promise ${words.promised}`;
    }
    cell(row, box);
    cell(row, point.name + (point.recommended ? " (recommended)" : ""));
    cell(row, per(point.loss));
    cell(row, per(point.risk));
    cell(row, point.crowd ? String(point.alike) : "no crowd");
    cell(row, button);
    rows.append(row);
    if (focused && [box, button].some((one) => one.dataset.about === focused)) rows.querySelector(`[data-about="${CSS.escape(focused)}"]`)?.focus();
  }
}

function protectWith(point) {
  if (!point.crowd && !confirm(`${point.name} promises no crowd: a record may be one of a kind. Protect with it all the same?`)) return;
  const form = document.getElementById("protect-with");
  form.elements.trial.value = point.name;
  form.requestSubmit();
}

function choose(name) {
  chosen = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name].slice(-2);
  show();
}

function compare() {
  const both = chosen.map((name) => points.find((one) => one.name === name)).filter(Boolean);
  if (both.length < 2) {
    compared.textContent = "Choose two points, or tick two protections below: they are compared here.";
    return;
  }
  const table = document.createElement("table");
  const line = (title, values, header = false) => {
    const row = table.insertRow();
    for (const [index, text] of [title, ...values].entries()) {
      const made = document.createElement(header || index === 0 ? "th" : "td");
      made.scope = header ? "col" : "row";
      made.textContent = text;
      row.append(made);
    }
  };
  line("", both.map((one) => one.name), true);
  line(titled(words.loss), both.map((one) => per(one.loss)));
  line(titled(words.risk), both.map((one) => per(one.risk)));
  line("Promise", both.map(promise));
  for (const name of Object.keys(both[0].figures)) {
    line(titled(name), both.map((one) => (name in one.figures ? per(one.figures[name]) : "–")));
  }
  compared.replaceChildren(table);
}

function show() {
  draw();
  list();
  compare();
}

async function follow() {
  for (;;) {
    try {
      const answer = await fetch(`/explore/outcomes/${place.dataset.explores}`);
      if (answer.ok) {
        const found = await answer.json();
        const now = JSON.stringify(found.points);
        if (now !== seen) {
          seen = now;
          points = found.points;
          words = found;
          const promised = words.promised ? ` Every point with a crowd also keeps ${words.promised}.` : "";
          pointed.textContent = `${points.length} protections were tried${found.over ? "" : " so far"}.${promised}`;
          show();
        }
        if (found.over) return;
      }
    } catch {
      // job.js says that the workbench does not answer
    }
    await new Promise((resume) => setTimeout(resume, EVERY));
  }
}

// A job that failed has no map.
if (place) {
  for (const input of Object.values(limit)) input.addEventListener("input", show);
  follow();
}
