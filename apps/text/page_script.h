#pragma once

#include <string_view>

namespace gnomon::apps {

/// The style of all pages, and the functions that their scripts share: show() draws a chart, timelineConfig()
/// makes one of stages in lanes, formatted() prints a value, fillTable() makes a table that can be sorted.
inline constexpr std::string_view page_style =
    R"page(  body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1100px; padding: 0 1em; color: #222; }
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
)page";

inline constexpr std::string_view page_script = R"page("use strict";
const palette = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f", "#ff9da7", "#86bcb6"];
const element = (id) => document.getElementById(id);

const charts = {};
function show(id, config) {
  if (charts[id]) charts[id].destroy();
  config.options = Object.assign({ animation: false, maintainAspectRatio: false }, config.options);
  charts[id] = new Chart(element(id), config);
}

// Bars begin at zero as long as the shortest can still be seen beside the longest.
const scaleOf = (values) => Math.max(...values) > 20 * Math.min(...values) ? "logarithmic" : "linear";

// Each lane is a row of floating bars; every stage has a colour.
function timelineConfig(spans) {
  const lanes = [...new Set(spans.map((span) => span.lane))];
  const stages = [...new Set(spans.map((span) => span.stage))];
  return {
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

// A table that is sorted by the column whose heading is clicked.
function fillTable(table, columns, rows, text, isAside) {
  const fill = (sorted) => {
    table.replaceChildren();
    const head = table.insertRow();
    for (const column of columns) {
      const cell = document.createElement("th");
      cell.textContent = column;
      cell.addEventListener("click", () => fill([...rows].sort((a, b) =>
        a[column] === null ? 1 : b[column] === null ? -1 : a[column] < b[column] ? -1 : a[column] > b[column] ? 1 : 0)));
      head.append(cell);
    }
    for (const row of sorted) {
      const line = table.insertRow();
      line.className = isAside(row) ? "aside" : "";
      columns.forEach((column) => { line.insertCell().textContent = text(column, row); });
    }
  };
  fill(rows);
}
)page";

}  // namespace gnomon::apps
