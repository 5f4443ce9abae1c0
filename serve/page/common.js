"use strict";
// Okabe and Ito's colours, which people with any colour vision can tell apart.
const palette = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#999999", "#f0e442", "#44546a", "#8c564b"];
const element = (id) => document.getElementById(id);

const charts = {};
function show(id, config) {
  if (charts[id]) charts[id].destroy();
  config.options = Object.assign({ animation: false, maintainAspectRatio: false }, config.options);
  charts[id] = new Chart(element(id), config);
}

// Bars begin at zero as long as the shortest can still be seen beside the longest.
const scaleOf = (values) => Math.max(...values) > 20 * Math.min(...values) ? "logarithmic" : "linear";

// Epochs beside their lower bounds, one pair of bars for each row.
function epochsConfig(rows) {
  return {
    type: "bar",
    data: {
      labels: rows.map((row) => row.plan),
      datasets: [
        { label: "epoch, s", data: rows.map((row) => row.epoch_s), backgroundColor: palette[0] },
        { label: "lower bound, s", data: rows.map((row) => row.lower_bound_s), backgroundColor: palette[1] },
      ],
    },
    options: { scales: { y: { type: scaleOf(rows.map((row) => row.epoch_s)), title: { display: true, text: "seconds" } } } },
  };
}

function utilisationConfig(rows) {
  return {
    type: "bar",
    data: {
      labels: rows.map((row) => row.plan),
      datasets: ["cpu", "link", "device"].map((kind, i) => ({
        label: kind,
        data: rows.map((row) => 100 * row[kind + "_utilisation"]),
        backgroundColor: palette[i],
      })),
    },
    options: { scales: { y: { max: 100, title: { display: true, text: "% busy" } } } },
  };
}

// A stage has the same colour in every timeline.
const stageNames = ["cpu_batch", "transfer", "device_batch", "train", "device_gather", "all_reduce", "group_read", "group_prepare", "group_transfer"];
const stageColour = (stage) => palette[stageNames.indexOf(stage)] || palette[palette.length - 1];

// Each lane is a row of floating bars.
function timelineConfig(spans) {
  const lanes = [...new Set(spans.map((span) => span.lane))];
  const stages = [...new Set(spans.map((span) => span.stage))];
  return {
    type: "bar",
    data: {
      labels: lanes,
      datasets: stages.map((stage) => ({
        label: stage,
        backgroundColor: stageColour(stage),
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
  };
}

const short = (value) => String(+value.toPrecision(3));
function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) { value /= step; ++unit; }
  return short(value) + " " + units[unit];
}

// A value with the unit that its column's name says.
const shares = ["over_bound", "error", "over_best"];
function formatted(column, value) {
  if (value === null || value === undefined) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (shares.includes(column) || column.endsWith("_share") || column.endsWith("_accuracy")) return (100 * value).toFixed(1) + " %";
  if (column.endsWith("_bytes_per_s")) return scaled(value, 1024, ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"]);
  if (column.endsWith("_bytes")) return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
  if (column.endsWith("_s")) return value >= 1 ? short(value) + " s" : scaled(value * 1e6, 1000, ["\u00b5s", "ms", "s"]);
  return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(4));
}

// What an epoch rests on, as a mark; the sentence is shown on hover.
const marks = { "measured": "\u25cf", "speeds": "\u25d0", "data sheet": "\u25cb", "assumed": "?" };
const basisText = (row) => marks[row.rests_on] ? marks[row.rests_on] + " " + row.rests_on : "-";
const basisHint = (column, row) => ["epoch_s", "interval_s", "rests_on"].includes(column) && row.rests_on
  ? "Rests on: " + row.rests_on + ". " + row.rests_on_why : "";

// A table that is sorted by the column whose heading is clicked. `hint`: the text of a cell on hover.
function fillTable(table, columns, rows, text, isAside, hint = () => "") {
  const fill = (sorted) => {
    table.replaceChildren();
    const head = table.insertRow();
    for (const column of columns) {
      const cell = document.createElement("th");
      const sort = document.createElement("button");
      sort.type = "button";
      sort.textContent = column;
      cell.append(sort);
      sort.addEventListener("click", () => fill([...rows].sort((a, b) =>
        a[column] === null ? 1 : b[column] === null ? -1 : a[column] < b[column] ? -1 : a[column] > b[column] ? 1 : 0)));
      head.append(cell);
    }
    for (const row of sorted) {
      const line = table.insertRow();
      line.className = isAside(row) ? "aside" : "";
      for (const column of columns) {
        const cell = line.insertCell();
        cell.textContent = text(column, row);
        cell.title = hint(column, row);
      }
    }
  };
  fill(rows);
}
