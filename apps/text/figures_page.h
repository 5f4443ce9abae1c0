#pragma once

#include <string_view>

namespace gnomon::apps {

/// The page of a paper's figures: what is shown, and the script that fills it from `data` with the functions
/// of serve/page/common.js.
inline constexpr std::string_view figures_body = R"page(<style>
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); gap: 0 1.5em; }
.charts > * { min-width: 0; } .charts > .wide { grid-column: 1 / -1; }
.charts .chart { height: 320px; } h3 { font-size: 1em; margin: 1em 0 .3em; }
.claims td, .claims th { vertical-align: top; text-align: left; }
.claims td:first-child { min-width: 16em; white-space: normal; } .claims td:last-child { min-width: 12em; white-space: normal; }
section .scroll { max-height: none; }
.on-claims { border-left: 3px solid #0072b2; padding-left: .6em; }
</style>
<h1 id="title"></h1>
<p id="source"></p>
<p>What is predicted or measured stands beside what the paper prints: diamonds on lines, pale bars beside full ones, dashed
lines for numbers that hold across a chart. Numbers are computed by the simulator from what is given with each figure, or
measured on the graph that stands there; thin lines through bars and points are standard deviations.</p>
<h2>Claims</h2>
<p>The direction of a claim is who wins, or which way a knob moves; its size holds if the number is at most 20 % off the printed
one. Limits such as "less than 2 GB" have no size.</p>
<div class="scroll"><table id="claims" class="claims"></table></div>
<div id="figures"></div>
)page";

inline constexpr std::string_view figures_script =
    R"page(element("title").textContent = "gnomon reproduce " + data.paper;
element("source").textContent = data.source;

function add(parent, tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  parent.append(made);
  return made;
}

// One colour for each name, whether printed or predicted; printed bars are pale.
const named = (series) => !series.printed ? series.name : series.name === "predicted" ? "printed" : series.name + ", printed";
function coloursOf(chart) {
  const names = [...new Set(chart.series.map((series) => series.name))];
  return (series) => palette[names.indexOf(series.name) % palette.length];
}

const plain = (value) => value >= 1e6 || (value !== 0 && value < 1e-3) ? String(value) : String(+value.toPrecision(4));
// Shares stay on a linear axis. Of a logarithmic axis, 1, 3, 10, 30 … have labels, which leaves room between them.
const hasLabel = (value) => [1, 3].includes(Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9)));
function yAxis(chart) {
  const values = chart.series.flatMap((series) => series.points.map((point) => point.y));
  const isShare = chart.y_label.endsWith("%");
  const type = !isShare && Math.min(...values) > 0 ? scaleOf(values) : "linear";
  const callback = (value) => type === "linear" || hasLabel(value) ? plain(value) : null;
  // Lines of shares that are all high need not begin at zero, as bars must.
  const isHigh = isShare && chart.kind === "lines" && chart.categories.length === 0 && Math.min(...values) > 50;
  return { type, beginAtZero: !isHigh, stacked: chart.kind === "stacked", ticks: { callback },
    title: { display: true, text: chart.y_label } };
}

// A printed number that holds at every x: a dashed line from side to side.
const levelLine = (chart, series, data) => ({
  type: "line", label: named(series), data, level: series.points[0].y, showLine: false, pointRadius: 0, pointStyle: "line",
  borderColor: coloursOf(chart)(series), backgroundColor: "transparent", borderDash: [6, 4], borderWidth: 2,
});
const levels = {
  id: "levels",
  afterDatasetsDraw(drawn) {
    const { ctx, chartArea, scales } = drawn;
    drawn.data.datasets.forEach((dataset, i) => {
      if (dataset.level === undefined || !drawn.isDatasetVisible(i)) return;
      const y = scales.y.getPixelForValue(dataset.level);
      ctx.save();
      ctx.beginPath();
      ctx.setLineDash(dataset.borderDash);
      ctx.lineWidth = dataset.borderWidth;
      ctx.strokeStyle = dataset.borderColor;
      ctx.moveTo(chartArea.left, y);
      ctx.lineTo(chartArea.right, y);
      ctx.stroke();
      ctx.restore();
    });
  },
};

// A thin line from one deviation below to one above each mean that has a deviation.
const deviations = {
  id: "deviations",
  afterDatasetsDraw(drawn) {
    drawn.data.datasets.forEach((dataset, i) => {
      const meta = drawn.getDatasetMeta(i);
      if (!dataset.deviations || meta.hidden) return;
      dataset.deviations.forEach((deviation, j) => {
        if (deviation === null || !meta.data[j]) return;
        const { x } = meta.data[j];
        const value = typeof dataset.data[j] === "object" ? dataset.data[j].y : dataset.data[j];
        const scale = drawn.scales.y;
        drawn.ctx.beginPath();
        drawn.ctx.strokeStyle = "#333";
        drawn.ctx.moveTo(x, scale.getPixelForValue(value - deviation));
        drawn.ctx.lineTo(x, scale.getPixelForValue(value + deviation));
        drawn.ctx.stroke();
      });
    });
  },
};
const deviationOf = (point) => point?.deviation ?? null;

// Each printed series behind the predicted one of its name.
function inPairs(chart) {
  const names = [...new Set(chart.series.map((series) => series.name))];
  return [...chart.series].sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name) || a.printed - b.printed);
}

// Sweeps over orders of magnitude are drawn on a logarithmic axis, and few values are all labelled.
function xAxis(chart) {
  const values = [...new Set(chart.series.flatMap((series) => series.points.map((point) => point.x)))].sort((a, b) => a - b);
  const isSwept = values.length <= 16 && !/time|%/.test(chart.x_label);
  const type = isSwept && values[0] > 0 && values[values.length - 1] >= 30 * values[0] ? "logarithmic" : "linear";
  const axis = { type, ticks: { callback: (value) => plain(value) }, title: { display: true, text: chart.x_label } };
  if (isSwept) axis.afterBuildTicks = (scale) => { scale.ticks = values.map((value) => ({ value })); };
  return axis;
}

function barConfig(chart) {
  const places = [...new Set(chart.series.flatMap((series) => series.points.map((point) => point.x)))].sort((a, b) => a - b);
  const colour = coloursOf(chart);
  const find = (series, x) => series.points.find((point) => point.x === x);
  const at = (series, x) => find(series, x)?.y ?? null;
  return {
    type: "bar",
    plugins: [deviations, levels],
    data: {
      labels: places.map((x) => chart.categories.length > 0 ? chart.categories[x] : plain(x)),
      datasets: inPairs(chart).map((series) => series.level ? levelLine(chart, series, places.map(() => series.points[0].y)) : ({
        label: named(series),
        data: places.map((x) => at(series, x)),
        deviations: places.map((x) => deviationOf(find(series, x))),
        backgroundColor: colour(series) + (series.printed ? "60" : ""),
        borderColor: colour(series),
        borderWidth: series.printed ? 1 : 0,
      })),
    },
    options: { scales: { x: { stacked: chart.kind === "stacked", title: { display: true, text: chart.x_label } }, y: yAxis(chart) } },
  };
}

function lineConfig(chart) {
  const colour = coloursOf(chart);
  return {
    type: "scatter",
    plugins: [deviations, levels],
    data: {
      datasets: chart.series.map((series) => series.level ? levelLine(chart, series, series.points) : ({
        label: named(series),
        data: series.points,
        deviations: series.points.map(deviationOf),
        showLine: chart.kind === "lines" && !series.printed,
        pointStyle: series.printed ? "rectRot" : "circle",
        pointRadius: series.printed ? 7 : series.points.length > 30 ? 0 : 3,
        borderColor: colour(series),
        backgroundColor: colour(series) + (series.printed ? "60" : ""),
      })),
    },
    options: {
      plugins: { legend: { labels: { usePointStyle: true } } },
      scales: { x: xAxis(chart), y: yAxis(chart) },
    },
  };
}

function configOf(chart) {
  if (chart.kind === "timeline") return timelineConfig(chart.spans);
  return chart.categories.length > 0 || chart.kind === "bars" || chart.kind === "stacked" ? barConfig(chart) : lineConfig(chart);
}

const columns = ["claim", "figure", "direction", "size", "printed", "here", "error", "where", "not computed"];
function claimRow(figure, claim) {
  const isComputed = claim.direction !== undefined || claim.size !== undefined;
  const short = (value) => plain(+value.toPrecision(4));
  const number = (value, to) => value === undefined ? "-" : short(value) + (to === undefined ? "" : " to " + short(to)) + " " + claim.unit;
  const judged = (holds) => holds === undefined ? "-" : holds ? "yes" : "no";
  return {
    figure: figure.id, claim: claim.text, where: claim.where, direction: judged(claim.direction), size: judged(claim.size),
    printed: number(claim.printed, claim.printed_to) + (claim.limit ? " (limit)" : ""), here: number(claim.value),
    error: claim.error === undefined ? "-" : (claim.error < 0 ? "" : "+") + (100 * claim.error).toFixed(1) + " %",
    "not computed": isComputed ? "" : claim.why_not,
  };
}
function fillClaims(table, shown, rows) {
  table.className = "claims";
  fillTable(table, shown, rows, (column, row) => row[column], (row) => row["not computed"] !== "");
}
fillClaims(element("claims"), columns, data.figures.flatMap((figure) => figure.claims.map((claim) => claimRow(figure, claim))));

// A chart of many bars, or of lanes, takes the whole width.
const bars = (chart) => Math.max(1, chart.categories.length) * chart.series.length;
const isWide = (chart) => chart.kind === "timeline" || (configOf(chart).type === "bar" && bars(chart) > 24);

let number = 0;
for (const figure of data.figures) {
  const section = add(element("figures"), "section", "");
  add(section, "h2", figure.id + ": " + figure.shows);
  const from = figure.verdict === "measured" ? "Measured: " : "Given: ";
  add(section, "p", figure.why !== "" ? "Not drawn: " + figure.why + "." : from + figure.given + ".");
  if (figure.not_measured !== "") add(section, "p", "Not measured here: " + figure.not_measured + ".");
  const charts = add(section, "div", "");
  charts.className = "charts";
  for (const chart of figure.charts) {
    const part = add(charts, "div", "");
    part.className = isWide(chart) || figure.charts.length === 1 ? "wide" : "";
    if (chart.title !== "") add(part, "h3", chart.title);
    const canvas = document.createElement("canvas");
    canvas.id = "chart" + number++;
    canvas.setAttribute("role", "img");
    canvas.ariaLabel = figure.id + " " + chart.title + ": " + chart.y_label;
    const box = add(part, "div", "");
    box.className = "chart";
    if (chart.kind === "timeline") box.style.height = Math.min(520, 160 + 16 * new Set(chart.spans.map((span) => span.lane)).size) + "px";
    box.append(canvas);
    show(canvas.id, configOf(chart));
    if (chart.measured_on !== "") add(part, "p", "On " + chart.measured_on + ".");
    if (chart.missing.length > 0) {
      const list = add(part, "ul", "");
      chart.missing.forEach((why) => add(list, "li", "Not possible: " + why));
    }
  }
  if (figure.on_claims !== "") add(section, "p", figure.on_claims).className = "on-claims";
  if (figure.claims.length > 0) {
    const scroll = add(section, "div", "");
    scroll.className = "scroll";
    fillClaims(add(scroll, "table", ""), columns.filter((column) => column !== "figure"),
      figure.claims.map((claim) => claimRow(figure, claim)));
  }
}
)page";

}  // namespace gnomon::apps
