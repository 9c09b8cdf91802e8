// A job under way: its steps and the time that is left, until it is over.

const EVERY = 500; // milliseconds

const inWords = (seconds) =>
  seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;

function show(place, job) {
  const steps = place.querySelector(".steps");
  if (job.steps.length) steps.querySelector(".starting")?.remove();
  for (const step of job.steps) {
    let row = [...steps.children].find((child) => child.dataset.name === step.name);
    if (!row) {
      row = document.createElement("div");
      row.className = "step";
      row.dataset.name = step.name;
      const label = document.createElement("span");
      label.textContent = step.name;
      const bar = document.createElement("progress");
      bar.setAttribute("aria-label", step.name);
      const left = document.createElement("span");
      left.className = "soft left";
      row.append(label, bar, left);
      steps.append(row);
    }
    const bar = row.querySelector("progress");
    if (step.total) {
      bar.max = step.total;
      bar.value = step.done;
    } else bar.removeAttribute("value");
    const finished = step.total && step.done >= step.total;
    row.querySelector(".left").textContent = finished
      ? "done"
      : step.left !== null
        ? `about ${inWords(step.left)} left`
        : "";
  }
  place.querySelector("h2").textContent = job.state === "waiting" ? "Waiting for another job" : "Under way";
  place.querySelector(".elapsed").textContent =
    job.state === "waiting" ? "Waits for its turn." : `Runs for ${inWords(job.seconds)}.`;
}

async function follow(place) {
  const lost = document.getElementById("lost");
  for (;;) {
    try {
      const answer = await fetch(`/jobs/${place.dataset.job}/state`);
      lost.hidden = true;
      if (!answer.ok) return location.assign("/");
      const job = await answer.json();
      show(place, job);
      place.dispatchEvent(new CustomEvent("progress", { bubbles: true, detail: job }));
      if (job.over) return location.reload();
    } catch {
      lost.hidden = false;
    }
    await new Promise((resume) => setTimeout(resume, EVERY));
  }
}

for (const place of document.querySelectorAll("[data-job]")) follow(place);
