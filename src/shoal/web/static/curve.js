// Loss and risk against k: two lines, a slider, and the figures at the k that is chosen.

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 520, HIGH = 250, LEFT = 50, RIGHT = 96, TOP = 14, BOTTOM = 34;
const PATIENCE = 500; // milliseconds until a choice is taken for the last one

const make = (name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const records = ({ sample, records: all }) =>
  sample < all ? `${sample.toLocaleString("en")} of ${all.toLocaleString("en")} records` : "all records";
const percent = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;

/** The curve of a form; returns what computes it anew. `counted` is told how many rows are left out for their gaps. */
export function startCurve(form, counted) {
  const svg = document.querySelector("#curve svg");
  const words = document.getElementById("curve-words");
  const atK = document.getElementById("at-k");
  const slider = document.getElementById("slider");
  const k = form.elements.k;
  let found = null, waiting = null, asking = null;

  const scale = () => {
    const least = Math.log(found.points[0].k);
    const most = Math.log(found.points.at(-1).k) || 1;
    const highest = 20 * Math.ceil(Math.max(1, ...found.points.flatMap((point) => [point.loss, point.risk])) / 20);
    return {
      highest,
      x: (value) => LEFT + ((Math.log(value) - least) / (most - least || 1)) * (WIDE - LEFT - RIGHT),
      y: (value) => TOP + (1 - value / highest) * (HIGH - TOP - BOTTOM),
    };
  };

  const nearest = () => {
    const distance = (point) => Math.abs(Math.log(point.k) - Math.log(Math.max(2, Number(k.value) || 2)));
    return found.points.reduce((best, point) => (distance(point) < distance(best) ? point : best));
  };

  const line = (name, label, { x, y }) => {
    const group = make("g", { class: name });
    const points = found.points.map((point) => [x(point.k), y(point[name])]);
    group.append(make("polyline", { class: "line", points: points.map((point) => point.join(",")).join(" ") }));
    for (const [cx, cy] of points) group.append(make("circle", { cx, cy, r: 3.5 }));
    const [endX, endY] = points.at(-1);
    group.append(make("text", { x: endX + 9, y: endY + 4 }, label));
    return group;
  };

  const draw = () => {
    const { x, y, highest } = scale();
    svg.replaceChildren();
    for (const share of [0, 0.5, 1]) {
      const at = y(share * highest);
      svg.append(make("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: at, y2: at }));
      svg.append(make("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, `${Math.round(share * highest)} %`));
    }
    const places = found.points.map((point) => x(point.k));
    found.points.forEach((point, place) => {
      svg.append(make("text", { x: places[place], y: HIGH - 14, "text-anchor": "middle" }, point.k));
      const from = place ? (places[place - 1] + places[place]) / 2 : LEFT - 8;
      const to = place + 1 < places.length ? (places[place] + places[place + 1]) / 2 : places[place] + 8;
      const band = make("rect", { class: "band", x: from, width: to - from, y: TOP, height: HIGH - TOP - BOTTOM });
      band.append(make("title", {}, `k = ${point.k}: loss ${percent(point.loss)}, risk ${percent(point.risk)}`));
      band.addEventListener("click", () => choose(place));
      svg.append(band);
    });
    svg.append(make("text", { x: WIDE - RIGHT + 20, y: HIGH - 14 }, "k"));
    const here = x(Math.min(Math.max(Number(k.value) || 2, found.points[0].k), found.points.at(-1).k));
    svg.append(make("line", { class: "here", x1: here, x2: here, y1: TOP, y2: HIGH - BOTTOM }));
    const [loss, risk] = [line("loss", "loss", { x, y }), line("risk", "risk", { x, y })];
    const last = found.points.at(-1);
    if (Math.abs(y(last.loss) - y(last.risk)) < 14) {
      (last.loss < last.risk ? loss : risk).querySelector("text").setAttribute("dy", 14);
    }
    svg.append(loss, risk);
  };

  const show = () => {
    if (!found?.points.length) return;
    const point = nearest();
    slider.max = found.points.length - 1;
    slider.value = found.points.indexOf(point);
    slider.setAttribute("aria-valuetext", `k = ${point.k}`);
    const about = Number(k.value) === point.k ? `With k = ${point.k}` : `With k near ${point.k}`;
    atK.textContent = `${about}: about ${percent(point.loss)} loss, ${percent(point.risk)} risk.`;
    draw();
  };

  const choose = (place) => {
    k.value = found.points[place].k;
    show();
  };

  const take = (curve) => {
    found = curve.points.length ? curve : null;
    counted(curve.withheld);
    svg.toggleAttribute("hidden", !found);
    slider.disabled = !found;
    words.textContent = found
      ? `An estimate on ${records(curve)} for k alone, without the search for better groups: the release usually loses less, and ` +
        `more where l, t or people are asked for. Loss: ${curve.loss}. Risk: ${curve.risk}.`
      : "There are too few records for a curve.";
    show();
  };

  const fail = (why) => {
    found = null;
    counted(0);
    svg.toggleAttribute("hidden", true);
    slider.disabled = true;
    atK.textContent = "";
    words.textContent = `There is no estimate: ${why}`;
  };

  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    words.textContent = "Loss and risk are being estimated on a sample …";
    try {
      const answer = await fetch(`/plan/${form.dataset.upload}/curve`, {
        method: "POST",
        body: new URLSearchParams(new FormData(form)),
        signal: asking.signal,
      });
      const curve = await answer.json();
      if (answer.ok) take(curve);
      else fail(curve.detail);
    } catch (problem) {
      if (problem.name !== "AbortError") fail("the workbench does not answer.");
    }
    svg.parentElement.dataset.state = found ? "there" : "none";
  };

  slider.addEventListener("input", () => found && choose(Number(slider.value)));
  k.addEventListener("input", show);
  return () => {
    clearTimeout(waiting);
    svg.parentElement.dataset.state = "waiting";
    waiting = setTimeout(ask, PATIENCE);
  };
}
