const rows = data.rows, columns = data.columns;
const valuesOf = (column) => [...new Set(rows.map((row) => row[column]))];

function option(select, text) {
  const made = document.createElement("option");
  made.textContent = text;
  made.value = text;
  select.append(made);
}

// The axis, and a value for every other swept field.
const axis = document.createElement("select");
option(axis, "plan");
columns.forEach((column) => option(axis, column));
const chosen = {};
function addChoice(name, select) {
  const label = document.createElement("label");
  label.append(name + " ", select);
  select.addEventListener("change", draw);
  element("choices").append(label);
}
addChoice("Against", axis);
for (const column of columns) {
  chosen[column] = document.createElement("select");
  valuesOf(column).forEach((value) => option(chosen[column], value));
  addChoice(column, chosen[column]);
}
const matches = (row, except) =>
  columns.every((column) => column === except || String(row[column]) === chosen[column].value);

function drawByPlan() {
  const some = rows.filter((row) => row.epoch_s !== null && matches(row, ""));
  show("epochs", epochsConfig(some));
}

function drawAgainst(column) {
  const labels = valuesOf(column);
  const plans = [...new Set(rows.map((row) => row.plan))];
  const at = (plan, value) =>
    rows.find((row) => row.plan === plan && row[column] === value && matches(row, column));
  show("epochs", {
    type: "line",
    data: {
      labels,
      datasets: plans.map((plan, i) => ({
        label: plan,
        data: labels.map((value) => (at(plan, value) || {}).epoch_s ?? null),
        borderColor: palette[i % palette.length],
        backgroundColor: palette[i % palette.length],
        borderDash: i < palette.length ? [] : [6, 3],
      })),
    },
    options: {
      scales: {
        x: { title: { display: true, text: column } },
        y: { type: "logarithmic", title: { display: true, text: "epoch, seconds" } },
      },
    },
  });
}

function drawUtilisation() {
  const some = rows.filter((row) => row.epoch_s !== null && matches(row, ""));
  show("utilisation", utilisationConfig(some));
}

function draw() {
  if (axis.value === "plan") drawByPlan();
  else drawAgainst(axis.value);
  drawUtilisation();
}

function drawTimeline() {
  show("timeline", timelineConfig(data.timelines[element("timeline-row").selectedIndex].spans));
}

function drawTable() {
  const has = (column) => rows.some((row) => row[column] !== null && row[column] !== "" && row[column] !== 0);
  const shown = ["plan", ...columns, "workers", "epoch_s", ...["interval_s"].filter(has), "rests_on", "lower_bound_s", "over_bound", "bound_by", "host_memory_bytes",
    ...["device_memory_bytes", "price"].filter(has), "runs_here", "exact",
    ...["why_not_run", "why_not", "extrapolated", "scaled"].filter(has)];
  const mark = (row, column) => column === "epoch_s" && row.epoch_s !== null && row.extrapolated ? " *" : "";
  const text = (column, row) => column === "rests_on" ? basisText(row) : formatted(column, row[column]) + mark(row, column);
  fillTable(element("rows"), shown, rows, text, (row) => !row.runs_here, basisHint);
}

draw();
drawTable();
if (data.timelines.length > 0) {
  data.timelines.forEach((timeline) => option(element("timeline-row"), timeline.name));
  element("timeline-row").addEventListener("change", drawTimeline);
  drawTimeline();
} else {
  element("timeline-part").remove();
}
