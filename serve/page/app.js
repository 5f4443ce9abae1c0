"use strict";
// The token comes with the printed address, and leaves it for the session: addresses are shared and logged.
const given = new URLSearchParams(location.search).get("token");
if (given) {
  sessionStorage.setItem("token", given);
  history.replaceState(null, "", location.pathname + location.hash);
}
const token = sessionStorage.getItem("token");

async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = "Bearer " + token;
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch("api/" + path, options);
  if (response.ok) return response;
  throw new Error((await response.json().catch(() => ({}))).error || "the server answered " + response.status);
}
const askJson = async (path, body) => (await ask(path, body)).json();

// What can be moved: the fields, and the ends of the slider. Sliders with `log` move by factors.
const sliders = [
  { label: "Cores", paths: ["machine.cpu.cores"], min: 1, max: 128, log: true, whole: true },
  { label: "Host memory", paths: ["machine.cpu.memory_bytes"], min: 2 ** 30, max: 2 ** 42, log: true, unit: "_bytes" },
  { label: "Link", paths: ["machine.link.bandwidth_bytes_per_s"], min: 1e8, max: 1e12, log: true, unit: "_bytes_per_s" },
  { label: "Device memory", paths: ["machine.device.memory_bytes"], min: 2 ** 28, max: 2 ** 38, log: true, unit: "_bytes" },
  { label: "Devices", paths: ["machine.device.count", "plan.devices"], min: 1, max: 16, log: true, whole: true },
  { label: "Disk", paths: ["machine.disk.bandwidth_bytes_per_s"], min: 1e8, max: 2e10, log: true, unit: "_bytes_per_s" },
  { label: "Cache budget", paths: ["plan.cache.budget"], min: 0, max: 1, unit: "_share" },
  { label: "Mini-batches waiting in host memory", paths: ["plan.cpu_buffer"], min: 1, max: 64, log: true, whole: true },
  { label: "Mini-batches waiting on the device", paths: ["plan.device_buffer"], min: 1, max: 64, log: true, whole: true },
];
const steps = 200;
const valueAt = (slider, step) => {
  const value = slider.log ? slider.min * (slider.max / slider.min) ** (step / steps)
    : slider.min + (slider.max - slider.min) * (step / steps);
  return slider.whole || slider.unit !== "_share" ? Math.round(value) : +value.toPrecision(4);
};
const stepOf = (slider, value) => Math.round(steps * (slider.log
  ? Math.log(value / slider.min) / Math.log(slider.max / slider.min) : (value - slider.min) / (slider.max - slider.min)));
const shown = (slider, value) => value === undefined ? "as it is" : value === null ? "not known" : formatted(slider.unit || "", value);

let offer = {};
let base = null; // the profile's document on the chosen machine
const state = { profile: "", machine: "", plans: [], drawn: [], settings: {}, seed: 0 };
let found = null; // the plan of the last search
let latest = null;

const baseValue = (path) => path.startsWith("plan.") ? undefined
  : path.split(".").reduce((at, name) => at === null || at === undefined ? null : at[name], base);
const planName = (plan) => typeof plan === "string" ? plan : plan.name;

function fillSelect(select, values, texts) {
  select.replaceChildren(...values.map((value, i) => new Option(texts ? texts[i] : value, value)));
}

function drawSliders() {
  for (const slider of sliders) {
    const value = state.settings[slider.paths[0]] ?? baseValue(slider.paths[0]);
    slider.output.textContent = shown(slider, value);
    slider.input.setAttribute("aria-valuetext", slider.output.textContent);
    if (typeof value === "number") slider.input.value = stepOf(slider, value);
  }
}

function makeSliders() {
  sliders.forEach((slider, i) => {
    const label = document.createElement("label"), line = document.createElement("span");
    slider.output = document.createElement("output");
    slider.input = Object.assign(document.createElement("input"), { type: "range", min: 0, max: steps, step: 1, id: "slider-" + i });
    label.htmlFor = slider.input.id; // else it names the output, which stands before
    slider.input.value = slider.log ? 0 : steps;
    line.append(slider.label, slider.output);
    label.append(line, slider.input);
    element("sliders").append(label);
    slider.input.addEventListener("input", () => {
      for (const path of slider.paths) state.settings[path] = valueAt(slider, +slider.input.value);
      drawSliders();
      follow();
    });
    slider.input.addEventListener("keydown", (event) => moveByArrow(slider, event));
  });
}

// To the next value: a step of the input may round to the same one, from which the slider could not leave.
function moveByArrow(slider, event) {
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const before = valueAt(slider, +slider.input.value);
  let step = +slider.input.value;
  do step += by; while (step > 0 && step < steps && valueAt(slider, step) === before);
  slider.input.value = step;
  slider.input.dispatchEvent(new Event("input"));
}

function makePlans() {
  for (const name of [...offer.plans, ...(found ? [found.name] : [])]) {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", value: name });
    box.checked = state.plans.some((plan) => planName(plan) === name);
    box.addEventListener("change", () => {
      state.plans = state.plans.filter((plan) => planName(plan) !== name);
      if (box.checked) state.plans.push(found && found.name === name ? found : name);
      drawChoices();
      follow();
    });
    label.append(box, " " + name);
    element("plans").append(label);
  }
}

function drawPlans() {
  element("plans").replaceChildren();
  makePlans();
  drawChoices();
}

function drawChoices() {
  const names = state.plans.map(planName);
  state.drawn = [0, 1].map((i) => names.includes(state.drawn[i]) ? state.drawn[i] : names[Math.min(i, names.length - 1)] || "");
  ["first", "second"].forEach((id, i) => {
    fillSelect(element(id), names);
    element(id).value = state.drawn[i];
  });
}

function say(text) { element("message").textContent = text; }

function drawRows(answer, how) {
  latest = answer;
  const rows = answer.order.map((i) => answer.rows[i]);
  const some = rows.filter((row) => row.epoch_s !== null);
  const has = (column) => rows.some((row) => row[column] !== null && row[column] !== "" && row[column] !== 0);
  const columns = ["plan", "epoch_s", ...["interval_s"].filter(has), "rests_on", ...(rows.some((row) => row.moved_by !== "not moved") ? ["moved_by"] : []),
    ...["data_sheet_bound_s"].filter(has), "lower_bound_s", "over_bound", "bound_by", "workers", "host_memory_bytes",
    ...["device_memory_bytes", "price"].filter(has), "runs_here", "exact", ...["why_not_run", "why_not", "extrapolated", "scaled"].filter(has)];
  const text = (column, row) => column === "rests_on" ? basisText(row) : formatted(column, row[column]);
  fillTable(element("rows"), columns, rows, text, (row) => !row.runs_here, basisHint);
  element("rows").className = how === "computed" ? "quick" : "";
  element("rows").dataset.how = how;
  element("rows").dataset.elapsedMs = (1000 * answer.elapsed_s).toFixed(1); // in the server; in the page: shownMs
  show("epochs", epochsConfig(some));
  show("utilisation", utilisationConfig(some));
  ["first", "second"].forEach((id, i) => {
    const row = rows.find((row) => row.plan === state.drawn[i]);
    element(id + "-epoch").textContent = !row ? "" : row.epoch_s === null ? row.why_not
      : "Epoch " + formatted("epoch_s", row.epoch_s) + ", bound by " + row.bound_by;
  });
}

function drawTimelines(timelines) {
  const spans = state.drawn.map((name) => (timelines.find((line) => line.name.split(" ")[0] === name) || { spans: [] }).spans);
  const end = Math.max(...spans.flat().map((span) => span.end_s), 0);
  ["first", "second"].forEach((id, i) => {
    const config = timelineConfig(spans[i]);
    if (end > 0) config.options.scales.x.max = end; // the same scale on both sides
    show(id + "-timeline", config);
  });
}

// Computed epochs at once, the simulation once nothing has moved for a while; answers to older states are dropped.
let turn = 0, timer = 0, busy = false, again = false;
async function follow() {
  const mine = ++turn;
  clearTimeout(timer);
  location.replace("#" + encodeURIComponent(JSON.stringify(state)));
  if (state.plans.length === 0) { say("Choose at least one plan."); return; }
  timer = setTimeout(() => simulate(mine), 150);
  if (busy) { again = true; return; }
  busy = true;
  element("status").textContent = "Computing.";
  const begin = performance.now();
  try {
    const answer = await askJson("compute", state);
    if (element("rows").dataset.how !== "simulated" || mine === turn) drawRows(answer, "computed");
    element("rows").dataset.shownMs = (performance.now() - begin).toFixed(1);
    element("status").textContent = "Computed in " + Math.round(performance.now() - begin) + " ms; simulating.";
    say("");
  } catch (error) { say(error.message); }
  busy = false;
  if (again) { again = false; clearTimeout(timer); follow(); }
}

async function simulate(mine) {
  try {
    const answer = await askJson("explore", state);
    if (mine !== turn) return;
    drawRows(answer, "simulated");
    drawTimelines(answer.timelines);
    element("status").textContent = "Simulated.";
    say("");
  } catch (error) { if (mine === turn) say(error.message); }
}

async function chooseProfile() {
  try {
    base = await askJson("profile", { profile: state.profile, machine: state.machine });
    drawSliders();
    await follow();
  } catch (error) { say(error.message); }
}

function save(name, type, text) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function saveBy(id, name, type, text) {
  element(id).addEventListener("click", async () => {
    try { save(name, type, await text()); } catch (error) { say(error.message); }
  });
}

let tuning = null;
function showTuning(running) {
  element("tune").disabled = running;
  element("cancel").hidden = element("tuning").hidden = !running;
}
// Plans whose predicted difference from the best is within its uncertainty.
function equalText(tuning) {
  const names = tuning.candidates.slice(1).filter((each) => each.equals_best).map((each) => each.plan.name);
  return names.length ? " Cannot be told apart from it: " + [...new Set(names)].join(", ") + "." : "";
}
async function watchTuning() {
  const status = await askJson("tuning", { number: tuning });
  if (status.status === "running") {
    const bar = element("tuning");
    if (status.total > 0) Object.assign(bar, { max: status.total, value: status.done });
    else bar.removeAttribute("value");
    element("tuned").textContent = status.what;
    return true;
  }
  element("tuned").textContent = status.status === "done" ? "Found " + status.result.plan.name + "." + equalText(status.result.tuning) : status.error || "Cancelled.";
  if (status.status === "done") {
    found = Object.assign(status.result.plan, { name: "tuned" });
    state.plans = [...state.plans.filter((plan) => planName(plan) !== "tuned"), found];
    state.drawn = ["tuned", state.drawn.find((name) => name !== "tuned") || "tuned"];
    drawPlans();
    follow();
  }
  return false;
}
async function tune() {
  showTuning(true);
  try {
    const plain = Object.assign({}, state, { plans: [] });
    tuning = (await askJson("tune", { state: plain, budget: +element("budget").value })).number;
    while (await watchTuning()) await new Promise((resolve) => setTimeout(resolve, 200));
  } catch (error) { element("tuned").textContent = error.message; }
  showTuning(false);
}

// A training: what is measured beside what is predicted, again every two seconds until it has ended.
let shownRun = null, predictedRun = null, whyNotPredicted = "";

// What is shown of an epoch, or of its prediction, of its stages: mean durations, and how busy the engines were.
function stageValues(epoch, seconds, run) {
  const stages = epoch.stages || {}, values = {};
  const busy = (...names) => names.reduce((sum, name) => sum + (stages[name] ? stages[name].count * stages[name].mean_s : 0), 0);
  for (const name of Object.keys(stages)) values[name + "_s"] = stages[name].mean_s;
  if (run.workers > 0) values["workers busy_share"] = busy("cpu_batch", "group_prepare") / (run.workers * seconds);
  values["device busy_share"] = busy("device_batch", "device_gather", "train") / (Math.max(1, run.devices) * seconds);
  return values;
}

const dashed = [6, 3];
function lineChart(id, labels, lines, text) {
  const datasets = lines.map(([label, data, dash], i) =>
    ({ label, data, borderColor: palette[i % palette.length], backgroundColor: palette[i % palette.length], borderDash: dash || [] }));
  show(id, { type: "line", data: { labels, datasets }, options: { scales: { y: { beginAtZero: true, title: { display: true, text } } } } });
}

function drawStages(run) {
  const last = run.epochs[run.epochs.length - 1];
  const measured = last ? stageValues(last, last.seconds, run) : {};
  const predicted = predictedRun ? stageValues(predictedRun, predictedRun.epoch_s, run) : {};
  const rows = Object.keys({ ...predicted, ...measured }).map((key) => ({
    key, stage: key.replace(/_s$|_share$/, ""), measured: measured[key] ?? null, predicted: predicted[key] ?? null,
    difference: key in measured && predicted[key] > 0 ? measured[key] / predicted[key] - 1 : null,
  }));
  fillTable(element("run-stages"), ["stage", "measured", "predicted", "difference"], rows,
    (column, row) => formatted(column === "difference" ? "over_best" : column === "stage" ? "" : row.key, row[column]), () => false);
  const names = Object.keys(predicted).filter((key) => key.endsWith("_s") && predicted[key] > 0);
  lineChart("run-drift", run.epochs.map((epoch) => epoch.epoch),
    names.map((key) => [key.replace(/_s$/, ""), run.epochs.map((epoch) => stageValues(epoch, epoch.seconds, run)[key] / predicted[key])]),
    "measured over predicted");
}

function drawRun(run) {
  const epochs = run.epochs, labels = epochs.map((epoch) => epoch.epoch), seconds = epochs.map((epoch) => epoch.seconds);
  lineChart("run-seconds", labels, [["measured", seconds],
    ...(predictedRun ? [["predicted", labels.map(() => predictedRun.epoch_s), dashed]] : [])], "seconds");
  lineChart("run-loss", labels, [["training", epochs.map((epoch) => epoch.loss)], ["validation", epochs.map((epoch) => epoch.valid_loss)]], "loss");
  drawStages(run);
  const last = seconds[seconds.length - 1];
  const drift = predictedRun && last !== undefined ? "; the last epoch took " + formatted("over_best", Math.abs(last / predictedRun.epoch_s - 1)) +
    (last > predictedRun.epoch_s ? " more" : " less") + " than predicted (" + formatted("epoch_s", predictedRun.epoch_s) + ", from " + predictedRun.profile + ")"
    : whyNotPredicted ? "; not predicted: " + whyNotPredicted : "";
  element("run-status").textContent = run.plan + ", " + epochs.length + " epochs" + (run.has_ended ? ", ended" : ", running") + drift + ".";
  const columns = epochs.length ? Object.keys(epochs[0]).filter((key) => typeof epochs[0][key] !== "object") : [];
  fillTable(element("run-rows"), columns, epochs, (column, row) => formatted(column === "seconds" ? "epoch_s" : column, row[column]), () => false);
}

let runTimer = 0;
async function followRun() {
  clearTimeout(runTimer);
  const asked = { run: element("run").value, profile: state.profile };
  try {
    const run = await askJson("run", { run: asked.run });
    if (JSON.stringify(asked) !== shownRun) {
      shownRun = JSON.stringify(asked);
      whyNotPredicted = "";
      predictedRun = await askJson("predicted", asked).catch((error) => { whyNotPredicted = error.message; return null; });
    }
    drawRun(run);
    if (run.has_ended) return;
  } catch (error) { say(error.message); }
  runTimer = setTimeout(followRun, 2000);
}

// Runs that begin while the page is open appear in the list, without changing what is chosen.
async function refreshRuns() {
  try {
    const names = (await askJson("runs")).runs, select = element("run");
    if (JSON.stringify(names) !== JSON.stringify([...select.options].map((option) => option.value))) {
      const chosen = select.value;
      fillSelect(select, names);
      element("run-part").hidden = names.length === 0;
      if (names.includes(chosen)) select.value = chosen;
      else if (names.length > 0) followRun();
    }
  } catch { /* the server may be back at the next time */ }
  setTimeout(refreshRuns, 3000);
}

function readHash() {
  try {
    const asked = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    for (const key of Object.keys(state)) if (asked[key] !== undefined) state[key] = asked[key];
    found = state.plans.find((plan) => typeof plan === "object") || null;
  } catch { /* no state, or not one of ours: the first one stands */ }
}

async function start() {
  offer = await askJson("offer");
  state.profile = offer.profiles[0];
  state.plans = [...offer.plans];
  state.drawn = ["gnomon", "device"];
  readHash();
  fillSelect(element("profile"), offer.profiles);
  fillSelect(element("machine"), ["", ...offer.machines], ["as in the profile", ...offer.machines]);
  element("profile").value = state.profile;
  element("machine").value = state.machine;
  makeSliders();
  drawPlans();
  for (const id of ["profile", "machine"]) {
    element(id).addEventListener("change", () => { state[id] = element(id).value; chooseProfile(); });
  }
  ["first", "second"].forEach((id, i) => element(id).addEventListener("change", () => { state.drawn[i] = element(id).value; follow(); }));
  element("reset").addEventListener("click", () => { state.settings = {}; drawSliders(); follow(); });
  element("tune").addEventListener("click", tune);
  element("cancel").addEventListener("click", () => askJson("tuning", { number: tuning, cancel: true }).catch(() => {}));
  saveBy("csv", "exploration.csv", "text/csv", async () => (await ask("csv", state)).text());
  saveBy("json", "exploration.json", "application/json",
    async () => JSON.stringify({ schema: "gnomon.exploration/1", profiles: [state.profile], rows: (await askJson("explore", state)).rows }, null, 2));
  saveBy("trace", "trace.json", "application/json", async () => (await ask("trace", state)).text());
  element("run").addEventListener("change", followRun);
  refreshRuns();
  await chooseProfile();
}
start().catch((error) => say(error.message));
