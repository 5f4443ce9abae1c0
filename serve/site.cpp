#include "serve/site.h"

#include <array>
#include <chrono>
#include <string_view>

#include "base/csv.h"
#include "base/error.h"
#include "serve/page_files.h"
#include "serve/run_view.h"

namespace gnomon::serve {
namespace {

using base::Json;

Response json_response(const Json& json) {
  return {200, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

struct Asset {
  std::string_view path;
  std::string_view file;
  std::string_view type;
};

constexpr std::array<Asset, 4> assets{{{"/", "serve.html", "text/html; charset=utf-8"},
                                       {"/common.js", "common.js", "text/javascript; charset=utf-8"},
                                       {"/app.js", "app.js", "text/javascript; charset=utf-8"},
                                       {"/style.css", "style.css", "text/css; charset=utf-8"}}};

std::string text_in(const Json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_string()) {
    throw base::InputError(name, "must be text");
  }
  return found->get<std::string>();
}

/// Deeper than any document of ours: the parser and the writer recurse.
constexpr int max_depth = 32;

Json parsed(const std::string& text) {
  const auto check_depth = [](int depth, Json::parse_event_t, Json&) {
    if (depth > max_depth) {
      throw base::InputError("body", "is nested too deeply");
    }
    return true;
  };
  auto json = Json::parse(text, check_depth, false);
  if (!json.is_object()) {
    throw base::InputError("body", "must be a JSON object");
  }
  return json;
}

/// The document with the time that it took.
template <class Make>
Json timed(const Make& make) {
  const auto begin = std::chrono::steady_clock::now();
  Json document = make();
  document["elapsed_s"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return document;
}

}  // namespace

Response Site::answer(const Request& request) {
  if (const auto refused = guard_.refuse(request)) {
    return *refused;
  }
  try {
    if (request.method == "POST") {
      return answer_post(request.path, parsed(request.body));
    }
    if (request.method != "GET") {
      return refusal(405, "use GET or POST");
    }
    return request.path == "/api/offer"  ? json_response(offer())
           : request.path == "/api/runs" ? json_response(runs())
                                         : answer_asset(request.path);
  } catch (const base::InputError& error) {
    return refusal(422, error.what());
  } catch (const Json::exception& error) {
    return refusal(422, error.what());
  } catch (const std::exception& error) {
    return refusal(500, error.what());
  }
}

Response Site::answer_asset(const std::string& path) const {
  if (path == "/chart.js") {
    return {200, "text/javascript; charset=utf-8", std::string(chart_library())};
  }
  for (const auto& asset : assets) {
    if (asset.path == path) {
      return {200, std::string(asset.type), std::string(page_file(asset.file))};
    }
  }
  return refusal(404, "there is nothing here");
}

Json Site::offer() const {
  Json plans = Json::array();
  for (const auto& plan : plan::presets()) {
    plans.push_back(plan.name);
  }
  return {{"profiles", offer_.profiles},
          {"machines", offer_.machines},
          {"plans", plans},
          {"runs", run_names(offer_.runs)}};
}

Json Site::runs() const { return {{"runs", run_names(offer_.runs)}}; }

Json Site::explored(const Json& body, const char* work) {
  read_state(body, offer_);  // what is wrong is told before a process starts
  return perform_({{"work", work}, {"state", body}}, {}, nullptr);
}

Response Site::answer_post(const std::string& path, const Json& body) {
  if (path == "/api/profile") {
    auto state = body;
    state["plans"] = Json::array();
    return json_response(request_of(read_state(state, offer_)).profiles.front().document);
  }
  if (path == "/api/compute") {
    return json_response(timed([&] { return computed_rows(read_state(body, offer_)); }));
  }
  if (path == "/api/explore") {
    return json_response(timed([&] { return explored(body, "explore"); }));
  }
  if (path == "/api/csv") {
    const auto rows = explored(body, "explore").at("rows").get<std::vector<Json>>();
    return {200, "text/csv; charset=utf-8", base::csv_of(rows)};
  }
  if (path == "/api/trace") {
    return {200, "application/json", explored(body, "trace").at("trace").get<std::string>()};
  }
  if (path == "/api/tune") {
    return start_tuning(body);
  }
  if (path == "/api/tuning") {
    return look_at_tuning(body);
  }
  if (path == "/api/run") {
    return json_response(run_document(offer_.runs, text_in(body, "run")));
  }
  if (path == "/api/predicted") {
    const auto profile = text_in(body, "profile");
    read_state({{"profile", profile}}, offer_);
    return json_response(
        perform_({{"work", "run"}, {"run", text_in(body, "run")}, {"profile", profile}}, {}, nullptr));
  }
  return refusal(404, "there is nothing here");
}

Response Site::start_tuning(const Json& body) {
  Json work = {{"work", "tune"}, {"state", body.value("state", Json())}};
  read_state(work["state"], offer_);
  if (const auto found = body.find("budget"); found != body.end()) {
    work["budget"] = *found;
  }
  const auto number = tunings_.start(std::move(work));
  return number ? json_response({{"number", *number}}) : refusal(429, "two searches run already; cancel one");
}

Response Site::look_at_tuning(const Json& body) {
  std::int64_t number = 0;
  base::read_value(body.value("number", Json()), number, "number", {});
  if (const auto cancel = body.find("cancel"); cancel != body.end() && *cancel == true) {
    tunings_.cancel(number);
  }
  const auto status = tunings_.look(number);
  return status.is_null() ? refusal(404, "there is no such search") : json_response(status);
}

}  // namespace gnomon::serve
