// What the parts of the desk share: where one is, what there is, and how to say something.

export const byId = (id) => document.getElementById(id);

export const state = {
  document: null, // the name of the one shown
  items: [],
  documents: [], // with their progress
  length: -1, // of the log, as of the last news
  locked: false,
  chosen: null, // an item
  view: "before",
  shrinking: null,
};

export const say = (words) => (byId("said").textContent = words);

/** Why something was not done; empty when all is well again. */
export function refuse(words) {
  byId("refused").textContent = words;
  byId("refused").hidden = !words;
}
