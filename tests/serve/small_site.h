#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "serve/site.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::serve {

/// A site of one small profile and its runs, which works in processes apart, as the program does.
struct SmallSite {
  SmallSite() {
    profile = (place.path() / "p.json").string();
    std::ofstream(profile) << R"({"schema": "gnomon.profile/1",
      "machine": {"name": "small", "cpu": {"cores": 4, "copy_bandwidth_bytes_per_s": 1e10}, "device": {"kind": "host"}},
      "workload": {"graph": "g", "batches": 60, "cpu_batch": {"mean_s": 0.02}, "transfer": {"mean_s": 0.001},
                   "device_batch": {"mean_s": 0.015}, "train": {"mean_s": 0.03}}})";
    offer = {{profile}, {"aws-g5.2xlarge"}, {.directory = place.path().string()}};
    processes = std::make_unique<base::ForkServer>(serve_work(offer));
    site = std::make_unique<Site>(offer, Guard{}, perform_apart(*processes));
  }

  base::Json state() const {
    return {{"profile", profile}, {"plans", {"device", "salient"}}, {"drawn", {"device"}}};
  }

  test::TemporaryDirectory place;
  std::string profile;
  Offer offer;
  std::unique_ptr<base::ForkServer> processes;  ///< made before there are threads
  std::unique_ptr<Site> site;
};

}  // namespace gnomon::serve
