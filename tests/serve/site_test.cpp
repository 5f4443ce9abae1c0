#include "serve/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/csv.h"
#include "base/error.h"
#include "profiles/catalog.h"
#include "serve/page_files.h"
#include "tests/serve/small_site.h"

namespace gnomon::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SiteTest : public ::testing::Test, protected SmallSite {
 protected:
  static Request post(const std::string& path, const base::Json& body) {
    return {"POST", path, {{"host", "127.0.0.1:8383"}, {"content-type", "application/json"}}, body.dump()};
  }
  base::Json answer(const std::string& path, const base::Json& body, int status = 200) {
    const auto response = site->answer(post(path, body));
    EXPECT_EQ(response.status, status) << response.body;
    return base::Json::parse(response.body);
  }
};

TEST_F(SiteTest, RowsAreThoseOfExplore) {
  auto asked = state();
  asked["settings"] = {{"machine.cpu.cores", 2}, {"plan.cpu_buffer", 4}};
  tuner::ExplorationRequest request;
  request = request_of(read_state(asked, offer));
  const auto rows = tuner::explore(request, {});
  const auto got = answer("/api/explore", asked);
  EXPECT_EQ(got["rows"], base::Json(tuner::flat_rows(rows)));
  EXPECT_EQ(got["rows"][0]["machine.cpu.cores"], 2);
  ASSERT_EQ(got["timelines"].size(), 1U);
  EXPECT_GT(got["timelines"][0]["spans"].size(), 10U);
  EXPECT_EQ(site->answer(post("/api/csv", asked)).body, base::csv_of(tuner::flat_rows(rows)));
}

TEST_F(SiteTest, ComputedEpochsAreNearTheSimulated) {
  const auto computed = answer("/api/compute", state());
  const auto simulated = answer("/api/explore", state());
  for (std::size_t i = 0; i < 2; ++i) {
    const double epoch_s = simulated["rows"][i]["epoch_s"];
    EXPECT_NEAR(computed["rows"][i]["epoch_s"].get<double>(), epoch_s, 0.002 * epoch_s);
  }
}

TEST_F(SiteTest, AnswersTellHowLongTheyTook) {
  const auto begin = std::chrono::steady_clock::now();
  const double elapsed_s = answer("/api/compute", state())["elapsed_s"];
  const double here_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GT(elapsed_s, 0);
  EXPECT_LE(elapsed_s, here_s);
  EXPECT_GT(answer("/api/explore", state())["elapsed_s"].get<double>(), 0);
}

// A run that began after the page was loaded, and one outside the directory of runs that the user named.
TEST_F(SiteTest, RunsAreThoseThatThereAreNow) {
  const test::TemporaryDirectory elsewhere;
  const auto single = elsewhere.path().string();
  const auto begin_run = [](const std::filesystem::path& run) {
    std::filesystem::create_directories(run);
    std::ofstream(run / "job.json") << base::to_document(plan::Job{}).dump();
    base::write_document(run / "plan.json", plan::find_plan("device"));
  };
  begin_run(elsewhere.path());
  offer.runs.single = {single};
  Site with_run(offer, Guard{}, perform_apart(*processes));
  const auto names = [&] {
    return base::Json::parse(with_run.answer({"GET", "/api/runs", {{"host", "localhost"}}, ""}).body)["runs"];
  };
  EXPECT_EQ(names(), base::Json::array({single}));
  begin_run(place.path() / "later");
  EXPECT_EQ(names(), base::Json::array({single, "later"}));
  for (const auto& name : {single, std::string("later")}) {
    const auto run = base::Json::parse(with_run.answer(post("/api/run", {{"run", name}})).body);
    EXPECT_EQ(run["plan"], "device");
    EXPECT_EQ(run["has_ended"], false);
  }
  EXPECT_EQ(with_run.answer(post("/api/run", {{"run", "../later"}})).status, 422);
}

TEST_F(SiteTest, MachinesMayBeFiles) {
  auto machine = profiles::find_machine("aws-g5.2xlarge");
  machine.machine.cpu.cores = 3;
  const auto file = (place.path() / "m.json").string();
  base::write_document(file, machine);
  auto asked = state();
  asked["machine"] = file;
  answer("/api/compute", asked, 422);  // not on offer
  offer.machines.insert(offer.machines.begin(), file);
  Site with_machine(offer, Guard{}, perform_apart(*processes));
  const auto moved = base::Json::parse(
      with_machine.answer(post("/api/profile", {{"profile", profile}, {"machine", file}})).body);
  EXPECT_EQ(moved["machine"]["cpu"]["cores"], 3);
}

TEST_F(SiteTest, TraceHoldsTheDrawnPlans) {
  const auto trace = answer("/api/trace", state());
  EXPECT_THAT(trace.dump(), HasSubstr("device"));
  EXPECT_THAT(trace.dump(), Not(HasSubstr("salient")));
}

TEST_F(SiteTest, WhatIsNotOnOfferIsRefused) {
  for (const auto& change :
       {base::Json{{"profile", "/etc/passwd"}}, base::Json{{"machine", "/etc/m.json"}},
        base::Json{{"plans", {"../p.json"}}}, base::Json{{"plans", 3}},
        base::Json{{"settings", {{"machine.no", 1}}}}, base::Json{{"settings", {{"", 1}}}},
        base::Json{{"seed", "x"}}, base::Json{{"settings", {{"machine.cpu.cores", -1}}}}}) {
    auto asked = state();
    asked.update(change);
    EXPECT_THAT(answer("/api/explore", asked, 422)["error"].get<std::string>(), Not("")) << change;
  }
}

TEST_F(SiteTest, BodiesThatAreNoDocumentsAreRefused) {
  for (const std::string body : {"", "[]", "{", "\"x\"", "{\"a\": \xff}"}) {
    auto request = post("/api/explore", {});
    request.body = body;
    EXPECT_EQ(site->answer(request).status, 422) << body;
  }
  auto request = post("/api/explore", {});
  request.body = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_EQ(site->answer(request).status, 422);
  request.body = std::string(max_body_bytes + 1, ' ');
  EXPECT_EQ(site->answer(request).status, 413);
}

TEST_F(SiteTest, OtherSitesAreRefused) {
  auto request = post("/api/compute", state());
  request.headers["host"] = "evil.example:8383";
  EXPECT_EQ(site->answer(request).status, 403);
  request = post("/api/compute", state());
  request.headers["origin"] = "http://evil.example";
  EXPECT_EQ(site->answer(request).status, 403);
  request.headers["origin"] = "http://127.0.0.1:8383";
  EXPECT_EQ(site->answer(request).status, 200);
  request.headers["content-type"] = "text/plain";
  EXPECT_EQ(site->answer(request).status, 415);
  request.headers.erase("host");
  EXPECT_EQ(site->answer(request).status, 403);
}

TEST_F(SiteTest, BehindATokenDataNeedsIt) {
  Site closed(offer, Guard{"0.0.0.0", "secret"}, perform_apart(*processes));
  auto request = post("/api/compute", state());
  request.headers["host"] = "server.example:8383";
  EXPECT_EQ(closed.answer(request).status, 401);
  request.headers["authorization"] = "Bearer secreT";
  EXPECT_EQ(closed.answer(request).status, 401);
  request.headers["authorization"] = "Bearer secret";
  EXPECT_EQ(closed.answer(request).status, 200);
}

TEST_F(SiteTest, PageNamesNoForeignAsset) {
  const auto page = site->answer({"GET", "/", {{"host", "localhost"}}, ""});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, Not(HasSubstr("//")));
  EXPECT_EQ(site->answer({"GET", "/app.js", {{"host", "localhost"}}, ""}).status, 200);
  EXPECT_EQ(site->answer({"GET", "/../p.json", {{"host", "localhost"}}, ""}).status, 404);
  EXPECT_EQ(site->answer({"PUT", "/", {{"host", "localhost"}}, ""}).status, 405);
}

TEST_F(SiteTest, SearchesEndWithAPlan) {
  const auto number = answer("/api/tune", {{"state", state()}, {"budget", 5}})["number"];
  base::Json status;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = answer("/api/tuning", {{"number", number}});
  } while (status["status"] == "running");
  ASSERT_EQ(status["status"], "done") << status;
  EXPECT_GT(status["result"]["tuning"]["plans"].size(), 0U);
  answer("/api/tuning", {{"number", 99}}, 404);
}

TEST_F(SiteTest, SearchesCanBeCancelledAndOnlySomeRun) {
  const Perform endless = [](const base::Json&, const base::Progress&,
                             const std::atomic<bool>* stop) -> base::Json {
    while (!*stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw base::Interrupted();
  };
  site = std::make_unique<Site>(offer, Guard{}, endless);
  const auto number = answer("/api/tune", {{"state", state()}})["number"];
  answer("/api/tune", {{"state", state()}});
  answer("/api/tune", {{"state", state()}}, 429);
  answer("/api/tuning", {{"number", number}, {"cancel", true}});
  while (answer("/api/tuning", {{"number", number}})["status"] == "running") {
  }
  EXPECT_EQ(answer("/api/tuning", {{"number", number}})["status"], "cancelled");
  answer("/api/tune", {{"state", state()}});
}

TEST_F(SiteTest, RunsAreReadWhileTheyGoOn) {
  const auto run = place.path() / "g-1";
  std::filesystem::create_directory(run);
  std::ofstream(run / "job.json") << "{}";
  base::write_document(run / "plan.json", plan::find_plan("device"));
  std::ofstream(run / "log.jsonl") << "{\"epoch\": 1, \"loss\": 0.5, \"seconds\": 2.8}\n{\"epoch\": 2, \"lo";
  const auto got = answer("/api/run", {{"run", "g-1"}});
  ASSERT_EQ(got["epochs"].size(), 1U);
  EXPECT_EQ(got["has_ended"], false);
  const auto predicted = answer("/api/predicted", {{"run", "g-1"}, {"profile", profile}});
  EXPECT_NEAR(predicted["epoch_s"].get<double>(), 60 * 0.045, 1e-6);
  EXPECT_EQ(predicted["stages"]["train"]["count"], 60);
  EXPECT_NEAR(predicted["stages"]["train"]["mean_s"].get<double>(), 0.03, 1e-9);
  answer("/api/run", {{"run", ".."}}, 422);
  answer("/api/predicted", {{"run", ".."}, {"profile", profile}}, 422);
  answer("/api/predicted", {{"run", "g-1"}, {"profile", "/etc/passwd"}}, 422);
}

}  // namespace
}  // namespace gnomon::serve
