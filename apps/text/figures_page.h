#pragma once

#include <string_view>

namespace gnomon::apps {

/// The page of a paper's figures: what is shown, and the script that fills it from `data` with the functions
/// of serve/page/common.js.
inline constexpr std::string_view figures_body = R"page(<h1 id="title"></h1>
<p id="source"></p>
<p>What is predicted or measured stands beside what the paper prints: diamonds on lines, pale bars beside full ones. Numbers
are computed by the simulator from what is given with each figure, or measured on the graph that stands there; thin lines
through bars and points are standard deviations.</p>
<h2>Claims</h2>
<div class="scroll"><table id="claims"></table></div>
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
  return { type, beginAtZero: true, stacked: chart.kind === "stacked", ticks: { callback },
    title: { display: true, text: chart.y_label } };
}

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

function barConfig(chart) {
  const places = [...new Set(chart.series.flatMap((series) => series.points.map((point) => point.x)))].sort((a, b) => a - b);
  const colour = coloursOf(chart);
  const find = (series, x) => series.points.find((point) => point.x === x);
  const at = (series, x) => find(series, x)?.y ?? null;
  return {
    type: "bar",
    plugins: [deviations],
    data: {
      labels: places.map((x) => chart.categories.length > 0 ? chart.categories[x] : plain(x)),
      datasets: chart.series.map((series) => ({
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
    plugins: [deviations],
    data: {
      datasets: chart.series.map((series) => ({
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
    options: { scales: { x: { ticks: { callback: (value) => plain(value) }, title: { display: true, text: chart.x_label } }, y: yAxis(chart) } },
  };
}

function configOf(chart) {
  if (chart.kind === "timeline") return timelineConfig(chart.spans);
  return chart.categories.length > 0 || chart.kind === "bars" || chart.kind === "stacked" ? barConfig(chart) : lineConfig(chart);
}

const columns = ["claim", "figure", "holds", "printed", "here", "error", "where", "not computed"];
function claimRow(figure, claim) {
  const number = (value) => value === null || value === undefined ? "-" : plain(+value.toPrecision(4)) + " " + claim.unit;
  return {
    figure: figure.id, claim: claim.text, where: claim.where, printed: number(claim.printed), here: number(claim.value),
    error: claim.error === undefined ? "-" : (claim.error < 0 ? "" : "+") + (100 * claim.error).toFixed(1) + " %",
    holds: claim.holds === undefined ? "-" : claim.holds ? "yes" : "no",
    "not computed": claim.holds === undefined ? claim.why_not : "",
  };
}
const rows = data.figures.flatMap((figure) => figure.claims.map((claim) => claimRow(figure, claim)));
const text = (column, row) => row[column];
fillTable(element("claims"), columns, rows, text, (row) => row.holds === "-");

let number = 0;
for (const figure of data.figures) {
  const section = add(element("figures"), "section", "");
  add(section, "h2", figure.id + ": " + figure.shows);
  const from = figure.verdict === "measured" ? "Measured: " : "Given: ";
  add(section, "p", figure.why !== "" ? "Not drawn: " + figure.why + "." : from + figure.given + ".");
  if (figure.not_measured !== "") add(section, "p", "Not measured here: " + figure.not_measured + ".");
  for (const chart of figure.charts) {
    if (chart.title !== "") add(section, "h3", chart.title);
    const canvas = document.createElement("canvas");
    canvas.id = "chart" + number++;
    const box = add(section, "div", "");
    box.className = "chart";
    box.append(canvas);
    show(canvas.id, configOf(chart));
    if (chart.measured_on !== "") add(section, "p", "On " + chart.measured_on + ".");
    chart.missing.forEach((why) => add(section, "p", "Not possible: " + why));
  }
  if (figure.on_claims !== "") add(section, "p", figure.on_claims).style.fontWeight = "bold";
  if (figure.claims.length > 0) {
    const scroll = add(section, "div", "");
    scroll.className = "scroll";
    fillTable(add(scroll, "table", ""), columns.filter((column) => column !== "figure"),
      figure.claims.map((claim) => claimRow(figure, claim)), text,
      (row) => row.holds === "-");
  }
}
)page";

}  // namespace gnomon::apps
