#pragma once

#include <string_view>

namespace gnomon::apps {

/// The page of a comparison: what is shown, and the script that fills it from `data` with the functions of
/// serve/page/common.js.
inline constexpr std::string_view comparison_body = R"page(<h1>gnomon compare</h1>
<p>Every preset on the device "<span id="device"></span>": epochs as predicted from the profile and as measured (median), the
fastest first. Accuracy is on the test vertices after <span id="trained"></span> epochs of training. Presets in grey did not run.</p>
<h2>Epochs</h2>
<div class="chart"><canvas id="epochs"></canvas></div>
<h2>Predicted against measured</h2>
<div class="chart"><canvas id="agreement"></canvas></div>
<h2>All presets</h2>
<div class="scroll"><table id="rows"></table></div>
)page";

inline constexpr std::string_view comparison_script = R"page(const rows = data.rows;
const ran = rows.filter((row) => row.runs);
element("device").textContent = data.device;
element("trained").textContent = data.trained_epochs;
const seconds = ran.flatMap((row) => [row.predicted_s, row.measured_s]);

show("epochs", {
  type: "bar",
  data: {
    labels: ran.map((row) => row.preset),
    datasets: [
      { label: "predicted, s", data: ran.map((row) => row.predicted_s), backgroundColor: palette[0] },
      { label: "measured, s", data: ran.map((row) => row.measured_s), backgroundColor: palette[1] },
    ],
  },
  options: { scales: { y: { type: scaleOf(seconds), title: { display: true, text: "seconds" } } } },
});

const ends = [Math.min(...seconds), Math.max(...seconds)];
show("agreement", {
  type: "scatter",
  data: {
    datasets: [
      { label: "presets", data: ran.map((row) => ({ x: row.measured_s, y: row.predicted_s })), backgroundColor: palette[0] },
      { label: "predicted = measured", type: "line", pointRadius: 0, borderColor: palette[7],
        data: ends.map((end) => ({ x: end, y: end })) },
    ],
  },
  options: {
    scales: {
      x: { type: scaleOf(seconds), title: { display: true, text: "measured, seconds" } },
      y: { type: scaleOf(seconds), title: { display: true, text: "predicted, seconds" } },
    },
    plugins: { tooltip: { callbacks: { label: (item) => item.datasetIndex === 0 ? ran[item.dataIndex].preset : "" } } },
  },
});

const has = (column) => rows.some((row) => row[column] !== null && row[column] !== "");
const columns = ["preset", "exact", "predicted_s", "predicted_interval_s", "measured_s", "error", "over_best",
  "measured_bytes", "measured_device_bytes", "row_hit_share",
  "list_hit_share", "row_peer_share", "list_peer_share", "test_accuracy", "valid_accuracy", "why_not"].filter(has);
fillTable(element("rows"), columns, rows, (column, row) => formatted(column, row[column]), (row) => !row.runs);
)page";

}  // namespace gnomon::apps
