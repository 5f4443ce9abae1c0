#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>

#include "apps/commands/commands.h"
#include "apps/flags/number_checks.h"
#include "apps/interrupt.h"
#include "apps/text/page.h"
#include "base/document.h"
#include "base/error.h"
#include "base/fork_server.h"
#include "profiles/catalog.h"
#include "reproduce/paper_profiles.h"
#include "serve/http/server.h"
#include "serve/site.h"

namespace gnomon::apps {
namespace {

struct ServeFlags {
  std::vector<std::string> named;  ///< profiles, machines' documents and runs
  std::vector<std::string> machines;
  std::string host = "127.0.0.1";
  int port = 8383;
  std::string token;
  std::string runs = "runs";
  double seconds = 0;
};

/// Whether a file is the document of a machine, by its schema.
bool is_machine(const std::string& name) {
  if (!name.ends_with(".json") || !std::filesystem::exists(name)) {
    return false;
  }
  const auto json = base::Json::parse(base::read_file(name), nullptr, false);
  const auto schema = json.is_object() ? json.value("schema", base::Json()) : base::Json();
  return schema.is_string() && schema.get<std::string>() == profiles::CatalogMachine::schema;
}

/// Adds what an argument names: a run's directory, a machine's document or a profile. Throws InputError that
/// says what is wrong with it.
void add_named(serve::Offer& offer, const std::string& name) {
  namespace fs = std::filesystem;
  if (fs::is_directory(name)) {
    if (!serve::is_run(name)) {
      throw base::InputError(name,
                             "is not the directory of a run (job.json and plan.json); a directory of "
                             "runs is named by --runs");
    }
    offer.runs.single.push_back(name);
    if (const auto own = fs::path(name) / "profile.json"; fs::exists(own)) {
      reproduce::find_profile(own.string());
      offer.profiles.push_back(own.string());
    }
  } else if (is_machine(name)) {
    profiles::find_machine(name, name);
    offer.machines.push_back(name);
  } else {
    reproduce::find_profile(name);
    offer.profiles.push_back(name);
  }
}

serve::Offer offer_of(const ServeFlags& options) {
  serve::Offer offer{{}, {}, {.directory = options.runs}};
  for (const auto& name : options.named) {
    add_named(offer, name);
  }
  for (const auto& name : options.machines) {
    profiles::find_machine(name);
    offer.machines.push_back(name);
  }
  const auto papers = reproduce::profile_names();
  offer.profiles.insert(offer.profiles.end(), papers.begin(), papers.end());
  for (const auto& machine : profiles::catalog()) {
    if (std::ranges::find(offer.machines, machine.name) == offer.machines.end()) {
      offer.machines.push_back(machine.name);
    }
  }
  return offer;
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) {
    throw base::Failure("--token", "no random numbers for one; give a token");
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte / 16];
    token += "0123456789abcdef"[byte % 16];
  }
  return token;
}

/// With % in front of the bytes that mean something else in a URL.
std::string in_url(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 || std::string_view("-._~").find(letter) != std::string_view::npos) {
      escaped += letter;
    } else {
      escaped += '%';
      escaped += "0123456789ABCDEF"[byte / 16];
      escaped += "0123456789ABCDEF"[byte % 16];
    }
  }
  return escaped;
}

/// Stops the server on Ctrl-C, or when its time is over.
void stop_in_time(serve::HttpServer& server, double seconds, const std::atomic<bool>& interrupted) {
  const auto begin = std::chrono::steady_clock::now();
  while (!interrupted && (seconds <= 0 || std::chrono::steady_clock::now() - begin <
                                              std::chrono::duration<double>(seconds))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  server.stop();
}

void serve_page(ServeFlags options) {
  require_charts();
  if (options.token.empty() && !serve::is_loopback(options.host)) {
    options.token = random_token();
  }
  const auto offer = offer_of(options);
  const base::ForkServer processes(serve::serve_work(offer));  // before there are threads
  serve::Site site(offer, {options.host, options.token}, serve::perform_apart(processes));
  serve::HttpServer server(options.host, options.port,
                           [&](const serve::Request& request) { return site.answer(request); });
  const auto& interrupted = stop_on_interrupt();
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  std::cout << "http://" << (is_ipv6 ? "[" + options.host + "]" : options.host) << ":" << server.port() << "/"
            << (options.token.empty() ? "" : "?token=" + in_url(options.token)) << std::endl;
  std::thread watch([&] { stop_in_time(server, options.seconds, interrupted); });
  server.run();
  watch.join();
}

}  // namespace

Action add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeFlags>();
  app.add_option("PROFILE", options->named,
                 "Profiles written by gnomon profile, offered before the papers' workloads; documents of\n"
                 "machines (gnomon machine), offered before the catalog; and directories of runs to watch");
  app.add_option("--machine", options->machines,
                 "Documents of machines, or names from gnomon catalog, to offer first, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--host", options->host,
                 "Address to listen on; unless it is a loopback address, requests must carry a token");
  app.add_option("--port", options->port, "Port to listen on, 0 for any free port")
      ->check(in_range(0, 65535));
  app.add_option(
      "--token", options->token,
      "Access token that requests must carry (default: none for loopback addresses, otherwise random)");
  app.add_option("--runs", options->runs, "Directory of training runs to watch");
  app.add_option("--seconds", options->seconds, "Stop after this time, 0 for never")->check(non_negative());
  return [options] { serve_page(*options); };
}

}  // namespace gnomon::apps
