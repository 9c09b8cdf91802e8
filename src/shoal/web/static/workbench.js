// What every page can do: upload what is dropped or chosen, ask before something is removed, submit a choice at once.

const uploadOne = (id, path, file, onProgress) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const name = path.split("/").map(encodeURIComponent).join("/");
    request.open("PUT", `/uploads/${id}/${name}`);
    request.upload.onprogress = (event) => onProgress(event.loaded);
    request.onload = () => {
      if (request.status < 300) resolve();
      else reject(new Error(detailOf(request.responseText)));
    };
    request.onerror = () => reject(new Error("The upload was interrupted; choose the file again."));
    request.send(file);
  });

const detailOf = (text) => {
  try {
    return JSON.parse(text).detail;
  } catch {
    return "The workbench could not take the file; choose it again.";
  }
};

/** Upload files, each with its path; the id of the upload. */
export async function upload(files, onProgress = () => {}) {
  const answer = await fetch("/uploads", { method: "POST" });
  if (!answer.ok) throw new Error("The workbench does not answer; start it again.");
  const { id } = await answer.json();
  const total = files.reduce((sum, { file }) => sum + file.size, 0) || 1;
  let before = 0;
  for (const { path, file } of files) {
    await uploadOne(id, path, file, (loaded) => onProgress((before + loaded) / total));
    before += file.size;
  }
  return id;
}

const filesBelow = async (entry, path = "") => {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path: path + file.name, file }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    for (const one of some) found.push(...(await filesBelow(one, `${path}${entry.name}/`)));
  }
};

const chosen = (input) =>
  [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

// What file managers leave in folders, and nobody means to send.
const LITTER = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)$/;

export function makeDrop(place) {
  const field = place.querySelector("input[type=hidden]");
  const state = place.querySelector(".drop-state");
  const bar = place.querySelector(".drop-progress");
  const form = place.closest("form");

  const take = async (all) => {
    const files = all.filter(({ path }) => !LITTER.test(path));
    if (!files.length) {
      state.textContent = "There is nothing in it.";
      return;
    }
    field.value = "";
    enable(form);
    const name = files[0].path.split("/")[0];
    bar.hidden = false;
    state.textContent = `Uploading ${name} …`;
    try {
      field.value = await upload(files, (share) => (bar.value = share));
      state.textContent = `${name} is here.`;
    } catch (problem) {
      state.textContent = problem.message;
    }
    bar.hidden = true;
    enable(form);
    if (field.value) {
      place.dispatchEvent(new CustomEvent("uploaded", { bubbles: true, detail: { id: field.value, name } }));
      if (form?.dataset.submitsWhenUploaded !== undefined) form.requestSubmit();
    }
  };

  for (const input of place.querySelectorAll("input[type=file]")) {
    input.addEventListener("change", () => take(chosen(input)));
  }
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    place.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    if (entries.length > 1) state.textContent = "Drop one file or one folder.";
    else if (entries.length) await take(await filesBelow(entries[0]));
  });
}

/** A button that needs uploads works as soon as all of them are there. */
function enable(form) {
  for (const button of form?.querySelectorAll("[data-needs]") ?? []) {
    button.disabled = button.dataset.needs.split(" ").some((name) => !form.elements[name]?.value);
  }
}

for (const place of document.querySelectorAll("[data-drop]")) makeDrop(place);
for (const form of document.forms) {
  enable(form);
  if (form.dataset.asks) {
    form.addEventListener("submit", (event) => {
      if (!confirm(form.dataset.asks)) event.preventDefault();
    });
  }
}
// A button that was pressed says so until the next page comes, and a second click does not start a second job.
const AGAIN = 30000; // milliseconds after which a form may be sent once more
const sent = new WeakMap();
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return; // form.method may be a field of that name
  if (Date.now() - (sent.get(form) ?? 0) < AGAIN) event.preventDefault();
  else {
    sent.set(form, Date.now());
    event.submitter?.setAttribute("aria-busy", "true");
  }
});
for (const choice of document.querySelectorAll("[data-submits]")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}
// A dropped file that misses its place must not replace the page.
for (const event of ["dragover", "drop"]) {
  document.addEventListener(event, (happened) => happened.preventDefault());
}
// Pages that the browser kept for its back button may be out of date.
addEventListener("pageshow", (event) => event.persisted && location.reload());
