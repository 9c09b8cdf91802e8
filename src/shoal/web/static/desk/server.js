// What the desk asks the workbench. What changes something is sent in order, one after the other.

const lost = document.getElementById("lost");

async function answered(request) {
  let answer;
  try {
    answer = await request;
  } catch {
    lost.hidden = false;
    throw Object.assign(new Error("The workbench does not answer; what you decided last was not kept."), { lost: true });
  }
  lost.hidden = true;
  let content = null;
  try {
    content = await answer.json();
  } catch {
    // said below
  }
  if (!answer.ok || content === null) throw new Error(content?.detail ?? "The workbench could not do this; load the page again.");
  return content;
}

export class Server {
  constructor(job, reviewer) {
    this.base = `/review/${job}`;
    this.reviewer = reviewer;
    this.waiting = 0; // decisions on their way
    this.last = Promise.resolve();
  }

  /** Asked after all that was decided before, so that the answer knows of it. */
  async get(path, asked = {}) {
    await this.last;
    const query = new URLSearchParams({ reviewer: this.reviewer, ...asked });
    return answered(fetch(`${this.base}/${path}?${query}`));
  }

  post(path, content) {
    this.waiting += 1;
    const body = JSON.stringify({ reviewer: this.reviewer, ...content });
    const headers = { "Content-Type": "application/json" };
    const send = () => answered(fetch(`${this.base}/${path}`, { method: "POST", headers, body }));
    const sent = this.last.then(send, send);
    this.last = sent.then(() => {}, () => {});
    return sent.finally(() => (this.waiting -= 1));
  }
}
