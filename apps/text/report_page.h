#pragma once

#include <string_view>

namespace gnomon::apps {

/// The page of a report, in three parts: Chart.js stands between the first two, the data as JSON between the
/// last two.
inline constexpr std::string_view report_head = R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>gnomon explore</title>
<style>
  body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1100px; padding: 0 1em; color: #222; }
  h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
  label { margin-right: 1.5em; } select { font: inherit; max-width: 30em; }
  .chart { position: relative; height: 420px; }
  .scroll { max-height: 32em; overflow: auto; border: 1px solid #ddd; }
  table { border-collapse: collapse; width: 100%; }
  th, td { padding: 2px 8px; text-align: right; white-space: nowrap; }
  th:first-child, td:first-child { text-align: left; }
  th { position: sticky; top: 0; background: #eee; cursor: pointer; }
  tr:nth-child(even) td { background: #f7f7f7; }
  tr.aside td { color: #888; }
</style>
<script>)page";

inline constexpr std::string_view report_body = R"page(</script>
</head>
<body>
<h1>gnomon explore</h1>
<p>Simulated epochs. No schedule can be faster than its lower bound; "bound by" names the busiest resource.
Plans in grey do not run here: they can only be simulated, or are not possible. An asterisk marks epochs that are extrapolated
beyond what was measured.</p>
<div id="choices"></div>
<h2>Epochs</h2>
<div class="chart"><canvas id="epochs"></canvas></div>
<h2>Utilisation</h2>
<div class="chart"><canvas id="utilisation"></canvas></div>
<div id="timeline-part">
<h2>How an epoch begins</h2>
<label>Row <select id="timeline-row"></select></label>
<div class="chart"><canvas id="timeline"></canvas></div>
</div>
<h2>All rows</h2>
<div class="scroll"><table id="rows"></table></div>
<script>
"use strict";
const data = )page";

inline constexpr std::string_view report_tail = R"page(;
const rows = data.rows, columns = data.columns;
const palette = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f", "#ff9da7", "#86bcb6"];
const valuesOf = (column) => [...new Set(rows.map((row) => row[column]))];
const element = (id) => document.getElementById(id);

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

const charts = {};
function show(id, config) {
  if (charts[id]) charts[id].destroy();
  config.options = Object.assign({ animation: false, maintainAspectRatio: false }, config.options);
  charts[id] = new Chart(element(id), config);
}

// Bars begin at zero as long as the shortest can still be seen beside the longest.
function scaleOf(some) {
  const epochs = some.map((row) => row.epoch_s);
  return Math.max(...epochs) > 20 * Math.min(...epochs) ? "logarithmic" : "linear";
}

function drawByPlan() {
  const some = rows.filter((row) => row.epoch_s !== null && matches(row, ""));
  show("epochs", {
    type: "bar",
    data: {
      labels: some.map((row) => row.plan),
      datasets: [
        { label: "epoch, s", data: some.map((row) => row.epoch_s), backgroundColor: palette[0] },
        { label: "lower bound, s", data: some.map((row) => row.lower_bound_s), backgroundColor: palette[1] },
      ],
    },
    options: { scales: { y: { type: scaleOf(some), title: { display: true, text: "seconds" } } } },
  });
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
  const kinds = ["cpu", "link", "device"];
  show("utilisation", {
    type: "bar",
    data: {
      labels: some.map((row) => row.plan),
      datasets: kinds.map((kind, i) => ({
        label: kind,
        data: some.map((row) => 100 * row[kind + "_utilisation"]),
        backgroundColor: palette[i],
      })),
    },
    options: { scales: { y: { max: 100, title: { display: true, text: "% busy" } } } },
  });
}

function draw() {
  if (axis.value === "plan") drawByPlan();
  else drawAgainst(axis.value);
  drawUtilisation();
}

// Each lane is a row of floating bars; every stage has a colour.
function drawTimeline() {
  const { spans } = data.timelines[element("timeline-row").selectedIndex];
  const lanes = [...new Set(spans.map((span) => span.lane))];
  const stages = [...new Set(spans.map((span) => span.stage))];
  show("timeline", {
    type: "bar",
    data: {
      labels: lanes,
      datasets: stages.map((stage, i) => ({
        label: stage,
        backgroundColor: palette[i],
        borderColor: "#fff",
        borderWidth: 1,
        grouped: false,
        data: spans.filter((span) => span.stage === stage)
          .map((span) => ({ x: [span.begin_s, span.end_s], y: span.lane, batch: span.batch })),
      })),
    },
    options: {
      indexAxis: "y",
      scales: { x: { title: { display: true, text: "seconds" } } },
      plugins: { tooltip: { callbacks: { label: (item) => item.dataset.label + " " + item.raw.batch } } },
    },
  });
}

function drawTable() {
  const has = (column) => rows.some((row) => row[column] !== null && row[column] !== "" && row[column] !== 0);
  const shown = ["plan", ...columns, "workers", "epoch_s", "lower_bound_s", "over_bound", "bound_by", "host_memory_bytes",
    ...["device_memory_bytes", "price"].filter(has), "runs_here", "exact",
    ...["why_not_run", "why_not", "extrapolated", "scaled"].filter(has)];
  const short = (value) => String(+value.toPrecision(3));
  const scaled = (value, step, units) => {
    let unit = 0;
    while (Math.abs(value) >= step && unit + 1 < units.length) { value /= step; ++unit; }
    return short(value) + " " + units[unit];
  };
  function text(column, value) {
    if (value === null) return "-";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value !== "number") return String(value);
    if (column === "over_bound") return (100 * value).toFixed(1) + " %";
    if (column.endsWith("_bytes_per_s")) return scaled(value, 1024, ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"]);
    if (column.endsWith("_bytes")) return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
    if (column.endsWith("_s")) return value >= 1 ? short(value) + " s" : scaled(value * 1e6, 1000, ["µs", "ms", "s"]);
    return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(4));
  }
  const mark = (row, column) => column === "epoch_s" && row.epoch_s !== null && row.extrapolated ? " *" : "";
  const table = element("rows");
  const fill = (sorted) => {
    table.replaceChildren();
    const head = table.insertRow();
    for (const column of shown) {
      const cell = document.createElement("th");
      cell.textContent = column;
      cell.addEventListener("click", () => fill([...rows].sort((a, b) =>
        a[column] === null ? 1 : b[column] === null ? -1 : a[column] < b[column] ? -1 : a[column] > b[column] ? 1 : 0)));
      head.append(cell);
    }
    for (const row of sorted) {
      const line = table.insertRow();
      line.className = row.runs_here ? "" : "aside";
      shown.forEach((column) => { line.insertCell().textContent = text(column, row[column]) + mark(row, column); });
    }
  };
  fill(rows);
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
</script>
</body>
</html>
)page";

}  // namespace gnomon::apps
