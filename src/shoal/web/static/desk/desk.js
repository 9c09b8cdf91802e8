// The desk. A decision is painted at once and then sent; if it is refused, it is taken back and the reason shown.

import { After } from "./after.js";
import { askForKind, askWhatToAdd, showHistory } from "./dialogs.js";
import { List, toDecide } from "./list.js";
import { Marks } from "./marks.js";
import { Server } from "./server.js";
import { paintDocument, showCard, showDocuments, showProgress } from "./showing.js";
import { cutOf, Shrinking } from "./shrinking.js";
import { byId, refuse, say, state } from "./state.js";

const EVERY = 1500; // milliseconds between two looks at what others decided
const SOON = 250;

const place = document.querySelector("[data-desk]");
const reviewersNeeded = Number(place.dataset.reviewers);
const server = new Server(place.dataset.desk, place.dataset.reviewer);
const marks = new Marks(byId("text"));
const after = new After(byId("after"));
const list = new List(byId("list"), { show: byId("show"), kind: byId("kind"), by: byId("order") }, byId("nothing"));

function choose(item, number = 0) {
  stopShrinking();
  state.chosen = item;
  marks.choose(item);
  list.choose(item);
  showCard();
  if (item) {
    if (state.view !== "after") marks.scrollTo(item, number);
    if (state.view !== "before") after.scrollTo(item.spans[0][0]);
  }
  remember();
}

// Where one is: the address has the document and the item.

let remembering;
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => history.replaceState(null, "", address()), 500);
}

addEventListener("pagehide", () => state.document && history.replaceState(null, "", address()));

function address() {
  const query = new URLSearchParams({ document: state.document });
  if (state.chosen) query.set("item", state.chosen.id);
  return `?${query}`;
}

let opening = 0;
async function open(name, { push = false, item = null, edge = null } = {}) {
  clearTimeout(remembering);
  if (push && state.document) history.replaceState(null, "", address());
  const turn = ++opening;
  const told = await server.get(`documents/${name}`);
  if (turn !== opening) return; // another one was asked for meanwhile
  state.document = name;
  state.items = told.items.map((item) => named(item, told.text));
  state.length = told.length;
  if (push) history.pushState(null, "", `?document=${name}`);
  byId("name").textContent = told.name;
  byId("note").hidden = !told.lost;
  byId("note").textContent = told.lost ? `Only the text is shown and released; lost are ${told.lost}.` : "";
  for (const link of byId("documents").querySelectorAll("a")) {
    if (link.id === `document-${name}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  byId(`document-${name}`)?.scrollIntoView({ block: "nearest" });
  marks.show(told.text, state.items);
  list.rows.clear();
  list.fill(state.items);
  showProgress();
  const wanted = state.items.find((one) => one.id === item);
  const last = edge === "last" ? list.order.findLast((one) => list.matches(one)) : null;
  choose(wanted ?? last ?? list.first(toDecide) ?? list.first());
  if (state.view !== "before") await showAfter();
}

/** A passage is called by its own words; the terms that caused it are said beside. */
function named(item, text) {
  if (item.kind !== "BLOCK") return item;
  const [[start, end]] = item.spans;
  const words = text.slice(start, Math.min(end, start + 300)).replace(/\s+/g, " ").trim();
  return Object.assign(item, { terms: item.id.startsWith("a") ? "" : item.name, name: words });
}

/** What the workbench says of items replaces what is shown. */
function take(items, all) {
  const known = new Map(state.items.map((item) => [item.id, item]));
  let other = false;
  for (const item of items) {
    const mine = known.get(item.id);
    if (mine) Object.assign(mine, named(item, marks.text));
    else {
      state.items.push(named(item, marks.text));
      other = true;
    }
  }
  if (all) {
    const there = new Set(items.map((item) => item.id));
    other ||= state.items.some((item) => !there.has(item.id));
    state.items = state.items.filter((item) => there.has(item.id));
  }
  if (other) {
    marks.update(state.items);
    list.fill(state.items);
    if (!state.items.includes(state.chosen)) choose(list.first(toDecide) ?? list.first());
    else list.choose(state.chosen);
  } else {
    for (const item of items) {
      marks.paint(known.get(item.id));
      list.paint(known.get(item.id));
    }
    list.count();
  }
  showCard();
  showProgress();
}

// What others decided

let looking;
function lookSoon(wait = SOON) {
  clearTimeout(looking);
  looking = setTimeout(look, wait);
}

async function look() {
  const asked = state.document;
  try {
    if (!server.waiting && asked && !state.shrinking && document.visibilityState === "visible") {
      const news = await server.get(`documents/${asked}/news`, { since: state.length });
      lock(news.locked);
      if (news.items && asked === state.document && !server.waiting) {
        state.length = news.length;
        state.documents = news.documents;
        take(news.items, true);
        state.documents.forEach(paintDocument);
        if (state.view !== "before") await showAfter();
      }
    }
  } catch (problem) {
    if (!problem.lost) refuse(problem.message); // else the page says so already
  }
  lookSoon(EVERY);
}

function lock(locked) {
  state.locked = locked;
  byId("locked").hidden = !locked;
  for (const name of ["accept", "reject", "accept-one", "reject-one", "shrink", "add", "kind", "undo", "redo", "why"]) {
    document.querySelector(`[data-does="${name}"]`).disabled = locked;
  }
}

// Deciding

/** How it will stand, as far as one can know here; the answer says it for sure. */
function expected(item, action, settles) {
  const stands = action === "reject" ? "kept" : "masked";
  if (settles) return stands;
  const others = item.by.filter((decision) => decision.reviewer !== server.reviewer && !decision.adjudicates);
  if (others.some((decision) => (decision.action === "reject") !== (action === "reject"))) return "disputed";
  return others.length + 1 >= reviewersNeeded ? stands : "waiting";
}

function together(item, action, settles) {
  return state.items.filter((other) => {
    if (other === item) return true;
    if (other.group !== item.group || other.kind === "BLOCK") return false;
    const disputed = other.stands === "disputed" && other.mine === null;
    const decided = (other.stands === "masked" || other.stands === "kept") && other.mine === null;
    if (disputed !== settles || (other.mine !== null && other.mine !== item.mine)) return false;
    return !decided && (other.stands !== "below" || action === "accept");
  });
}

async function decide(action, { everywhere = true, span = null } = {}) {
  const item = state.chosen;
  if (!item) return say("Choose something in the list first.");
  if (state.locked) return refuse("This review is locked: a release was made of it.");
  const settles = item.stands === "disputed" && item.mine === null;
  const all = everywhere && item.kind !== "BLOCK";
  const touched = all && !span ? together(item, action, settles) : [item]; // what else shrinks, the answer says
  const before = touched.map((one) => [one, { stands: one.stands, mine: one.mine, cut: one.cut }]);
  for (const one of touched) {
    Object.assign(one, { stands: expected(one, action, settles), mine: settles ? one.mine : action, cut: span && cutOf(marks.text, one, span) });
    marks.paint(one);
    list.paint(one);
  }
  refuse("");
  const reason = takeReason();
  say(`${action === "reject" ? "Left" : action === "shrink" ? "Shrunk" : "Masked"}: ${item.name.slice(0, 60)}`);
  advance(item);
  showProgress();
  try {
    const asked = { document: state.document, item: item.id, action, span, reason, adjudicates: settles, everywhere: all };
    const answer = await server.post("decide", asked);
    if (asked.document === state.document) take(answer.items, false);
    lookSoon();
  } catch (problem) {
    for (const [one, was] of before) {
      Object.assign(one, was);
      marks.paint(one);
      list.paint(one);
    }
    refuse(problem.message);
    say("");
    showProgress();
    if (state.items.includes(item)) choose(item);
  }
}

function takeReason() {
  const reason = byId("reason").value;
  byId("reason").value = "";
  return reason;
}

function advance(item) {
  const next = list.beside(item, 1, toDecide) ?? list.first(toDecide);
  if (next) choose(next);
  else {
    showCard();
    const left = state.documents.some((one) => one.id !== state.document && one.open + one.disputed);
    say(left ? "Nothing more is open here; n goes to the next document." : "Everything is decided. Make the release when you are ready.");
  }
}

async function takeBack(what) {
  if (state.locked) return refuse("This review is locked: a release was made of it.");
  refuse("");
  try {
    const answer = await server.post(what, { document: state.document, reason: what === "undo" ? takeReason() : "" });
    if (!answer.made) return say(what === "undo" ? "There is nothing of yours to undo." : "There is nothing to redo.");
    say(what === "undo" ? `Taken back: ${answer.made}` : `Done again: ${answer.made}`);
    const [[name, item]] = answer.touched;
    if (name !== state.document) await open(name, { push: true, item });
    else {
      take(answer.items, false);
      const there = state.items.find((one) => one.id === item);
      if (there) choose(there);
      await look();
      if (!there) choose(state.items.find((one) => one.id === item) ?? state.chosen);
    }
  } catch (problem) {
    refuse(problem.message);
  }
}

function startAdding() {
  if (state.locked) return refuse("This review is locked: a release was made of it.");
  askWhatToAdd(marks.text, marks.selected(), async (span, kind, reason) => {
    refuse("");
    try {
      const answer = await server.post("add", { document: state.document, span, kind, reason: reason || takeReason() });
      say("Added and masked.");
      const [[, item]] = answer.touched;
      await look();
      const added = state.items.find((one) => one.id === item);
      if (added) choose(added);
    } catch (problem) {
      refuse(problem.message);
    }
  });
}

function decideKind() {
  if (state.locked) return refuse("This review is locked: a release was made of it.");
  const preview = (kind) => server.get(`kinds/${kind}`);
  askForKind(byId("kind").value || state.chosen?.kind, preview, async (kind, action, reason) => {
    refuse("");
    try {
      const answer = await server.post("decide-kind", { document: state.document, kind, action, reason: reason || takeReason() });
      say(`${action === "reject" ? "Left" : "Masked"}: ${answer.made}`);
      await look();
      choose(list.first(toDecide) ?? list.first());
    } catch (problem) {
      refuse(problem.message);
    }
  });
}

// Shrinking

function startShrinking() {
  const item = state.chosen;
  if (!item) return say("Choose something in the list first.");
  const selected = marks.selected();
  const around = selected && item.spans.find(([start, end]) => start <= selected[0] && selected[1] <= end);
  if (around) {
    getSelection().removeAllRanges();
    return decide("shrink", { span: selected });
  }
  if (state.view === "after") setView("before");
  state.shrinking = new Shrinking(marks.text, item, item.spans[0]);
  if (state.shrinking.words.length < 2) {
    state.shrinking = null;
    return say("It is a single word: select the part that must go, then press s.");
  }
  marks.showPreview(item, state.shrinking.span);
  say("Shrink: ← → move the end, with Shift the start; Enter decides, Esc leaves it as it is.");
}

function stopShrinking() {
  if (!state.shrinking) return;
  const { item } = state.shrinking;
  state.shrinking = null;
  marks.showPreview(item, null);
  say("");
}

function shrinkingKey(event) {
  const shrinking = state.shrinking;
  if (event.key === "Escape") stopShrinking();
  else if (event.key === "Enter") {
    const { span } = shrinking;
    stopShrinking();
    decide("shrink", { span });
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    shrinking.move(event.key === "ArrowLeft" ? -1 : 1, event.shiftKey);
    marks.showPreview(shrinking.item, shrinking.span);
  } else return event.key === "Shift";
  return true;
}

// Views

async function showAfter() {
  const told = await server.get(`documents/${state.document}/after`);
  after.show(told);
  byId("note").hidden = !told.open;
  byId("note").textContent = told.open ? `${told.open} open here can still be read; decide them before the release.` : "";
}

const wide = matchMedia("(min-width: 100rem)");
wide.addEventListener("change", () => state.view === "both" && !wide.matches && setView("before"));

function nextView() {
  const views = wide.matches ? ["before", "both", "after"] : ["before", "after"];
  return views[(views.indexOf(state.view) + 1) % views.length];
}

async function setView(view) {
  state.view = view;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === view));
  }
  byId("text").hidden = view === "after";
  byId("after").hidden = view === "before";
  byId("note").hidden = true;
  try {
    if (view !== "before") await showAfter();
  } catch (problem) {
    refuse(problem.message);
  }
  if (state.chosen) choose(state.chosen);
}

function step(by, passes) {
  const next = state.chosen ? list.beside(state.chosen, by, passes) : list.first(passes);
  if (next) return choose(next);
  if (passes) return stepDocument(by, (one) => one.open + one.disputed, by < 0 ? "last" : null);
  return null;
}

function stepDocument(by, passes = () => true, edge = null) {
  const at = state.documents.findIndex((one) => one.id === state.document);
  const others = by > 0 ? state.documents.slice(at + 1) : state.documents.slice(0, at).reverse();
  const around = by > 0 ? state.documents.slice(0, at) : [];
  const next = others.find(passes) ?? around.find((one) => passes(one) && passes(one) !== true);
  if (next) return open(next.id, { push: true, edge }).catch((problem) => refuse(problem.message));
  const more = list.first(toDecide);
  if (edge === null && more && more !== state.chosen) return choose(more);
  return say(by > 0 ? "There is nothing after this." : "There is nothing before this.");
}

const DOES = {
  accept: () => decide("accept"),
  reject: () => decide("reject"),
  "accept-one": () => decide("accept", { everywhere: false }),
  "reject-one": () => decide("reject", { everywhere: false }),
  shrink: startShrinking,
  add: startAdding,
  kind: decideKind,
  why: () => byId("reason").focus(),
  next: () => step(1, toDecide),
  previous: () => step(-1),
  down: () => step(1),
  "next-document": () => stepDocument(1),
  "previous-document": () => stepDocument(-1),
  undo: () => takeBack("undo"),
  redo: () => takeBack("redo"),
  view: () => setView(nextView()),
  filter: () => byId("show").focus(),
  history: () => server.get("history").then(showHistory, (problem) => refuse(problem.message)),
  help: () => byId("help").showModal(),
};
const KEYS = {
  a: "accept", r: "reject", A: "accept-one", R: "reject-one", s: "shrink", "+": "add", m: "kind", w: "why", n: "next", p: "previous",
  j: "down", k: "previous", "]": "next-document", "[": "previous-document", u: "undo", U: "redo", v: "view", f: "filter",
  h: "history", "?": "help",
}; // prettier-ignore

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (document.querySelector("dialog[open]") || event.altKey) return;
  if (target.matches("input, select, textarea")) {
    if (target.closest(".desk") && (event.key === "Escape" || (event.key === "Enter" && target.id === "reason"))) byId("list").focus();
    return;
  }
  if (state.shrinking && shrinkingKey(event)) return event.preventDefault();
  const control = event.ctrlKey || event.metaKey;
  if (control && event.key.toLowerCase() === "z") {
    event.preventDefault();
    return DOES[event.shiftKey ? "redo" : "undo"]();
  }
  if (control || event.isComposing || !byId("single-keys").checked) return;
  const inText = target.closest(".text");
  const arrow = { ArrowDown: "down", ArrowUp: "previous" }[event.key];
  const does = arrow && !inText ? arrow : KEYS[event.key];
  if (!does) return;
  event.preventDefault();
  DOES[does]();
});

byId("single-keys").checked = localStorage.getItem("shoal-desk-keys") !== "off";
byId("single-keys").addEventListener("change", (event) =>
  localStorage.setItem("shoal-desk-keys", event.target.checked ? "on" : "off"),
);
for (const button of document.querySelectorAll("[data-does]")) {
  // A click must not take away what is selected in the text.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => DOES[button.dataset.does]());
}
for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => setView(button.dataset.view));
}
for (const filter of [byId("show"), byId("kind")]) {
  filter.addEventListener("change", () => {
    list.filter();
    if (!state.chosen || !list.matches(state.chosen)) choose(list.first(toDecide) ?? list.first());
    byId("list").focus();
  });
}
byId("order").addEventListener("change", () => {
  list.fill(state.items);
  list.choose(state.chosen);
  byId("list").focus();
});
byId("list").addEventListener("click", (event) => {
  const row = event.target.closest("li");
  if (row) choose(row.item);
});
byId("text").addEventListener("click", (event) => {
  const span = event.target.closest("span");
  if (!span?.items || !getSelection().isCollapsed) return;
  const [item] = span.items.filter((one) => one.stands !== "below").concat(span.items);
  choose(item, item.spans.findIndex(([start, end]) => start <= span.from && span.from < end));
});
addEventListener("popstate", () => {
  const query = new URLSearchParams(location.search);
  const name = query.get("document");
  if (name && name !== state.document) open(name, { item: query.get("item") }).catch((problem) => refuse(problem.message));
});

async function begin() {
  const told = await server.get("progress");
  state.documents = told.documents;
  lock(told.locked);
  showDocuments((name) => open(name, { push: true }).catch((problem) => refuse(problem.message)));
  const query = new URLSearchParams(location.search);
  const named = state.documents.find((one) => one.id === query.get("document"));
  const first = named ?? state.documents.find((one) => one.open + one.disputed) ?? state.documents[0];
  await open(first.id, { item: query.get("item") });
  byId("list").focus();
  place.dataset.ready = "yes";
  lookSoon(EVERY);
}

begin().catch((problem) => refuse(problem.message));
