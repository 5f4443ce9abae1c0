#pragma once

#include <string_view>

namespace gnomon::apps {

/// The page of a report: what is shown, and the script that fills it from `data` with the functions of
/// page_script.h.
inline constexpr std::string_view report_body = R"page(<h1>gnomon explore</h1>
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
)page";

inline constexpr std::string_view report_script = R"page(const rows = data.rows, columns = data.columns;
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
  show("epochs", {
    type: "bar",
    data: {
      labels: some.map((row) => row.plan),
      datasets: [
        { label: "epoch, s", data: some.map((row) => row.epoch_s), backgroundColor: palette[0] },
        { label: "lower bound, s", data: some.map((row) => row.lower_bound_s), backgroundColor: palette[1] },
      ],
    },
    options: { scales: { y: { type: scaleOf(some.map((row) => row.epoch_s)), title: { display: true, text: "seconds" } } } },
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

function drawTimeline() {
  show("timeline", timelineConfig(data.timelines[element("timeline-row").selectedIndex].spans));
}

function drawTable() {
  const has = (column) => rows.some((row) => row[column] !== null && row[column] !== "" && row[column] !== 0);
  const shown = ["plan", ...columns, "workers", "epoch_s", "lower_bound_s", "over_bound", "bound_by", "host_memory_bytes",
    ...["device_memory_bytes", "price"].filter(has), "runs_here", "exact",
    ...["why_not_run", "why_not", "extrapolated", "scaled"].filter(has)];
  const mark = (row, column) => column === "epoch_s" && row.epoch_s !== null && row.extrapolated ? " *" : "";
  fillTable(element("rows"), shown, rows, (column, row) => formatted(column, row[column]) + mark(row, column),
    (row) => !row.runs_here);
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
)page";

}  // namespace gnomon::apps
