#include "apps/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>

#include "apps/text/format.h"
#include "base/watched_program.h"

namespace gnomon::apps {
namespace {

constexpr double show_after_s = 0.5;
constexpr double announce_after_s = 2;
constexpr double redraw_every_s = 0.1;
constexpr int bar_width = 30;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string bar_of(double share) {
  const int full = static_cast<int>(share * bar_width);
  return "[" + std::string(static_cast<std::size_t>(full), '=') +
         std::string(static_cast<std::size_t>(bar_width - full), ' ') + "]";
}

/// The file to which a watched program reports; -1 if it is not watched.
int report_file() {
  const char* given = std::getenv(base::report_file_variable);
  int file = -1;
  if (given != nullptr) {
    std::from_chars(given, given + std::string_view(given).size(), file);
  }
  return file;
}

}  // namespace

bool stderr_is_terminal() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

ProgressBar::ProgressBar()
    : ProgressBar(std::cerr, stderr_is_terminal(), [] { return std::chrono::steady_clock::now(); }) {
  report_file_ = report_file();
}

ProgressBar::ProgressBar(std::ostream& out, bool terminal, Clock now)
    : out_(out), terminal_(terminal), now_(std::move(now)), stage_began_(now_()), last_drawn_(stage_began_) {}

ProgressBar::~ProgressBar() { wipe(); }

base::Progress ProgressBar::progress() {
  return [this](std::string_view what, std::int64_t done, std::int64_t total) { update(what, done, total); };
}

void ProgressBar::note(std::string_view line) {
  wipe();
  out_ << line << std::endl;
}

void ProgressBar::update(std::string_view what, std::int64_t done, std::int64_t total) {
  const auto now = now_();
  if (what != stage_) {
    stage_ = what;
    stage_began_ = now;
    done_before_ = done;
    announced_ = false;
  }
  const double elapsed_s = seconds_between(stage_began_, now);
  if (report_file_ >= 0) {
    if (stage_began_ == now || done == total || seconds_between(last_drawn_, now) >= redraw_every_s) {
      last_drawn_ = now;
      report(done, total);
    }
    return;
  }
  if (!terminal_) {
    if (!announced_ && elapsed_s >= announce_after_s) {
      announced_ = true;
      out_ << stage_ << " ..." << std::endl;
    }
    return;
  }
  const bool due = !on_screen_ || seconds_between(last_drawn_, now) >= redraw_every_s;
  if (due && (on_screen_ || elapsed_s >= show_after_s)) {
    last_drawn_ = now;
    draw(elapsed_s, done, total);
  }
}

void ProgressBar::report(std::int64_t done, std::int64_t total) {
  const auto line = fmt::format("{} {} {}\n", done, total, stage_);
  // If the watcher has exited, SIGPIPE ends this program.
  [[maybe_unused]] const auto written = ::write(report_file_, line.data(), line.size());
}

void ProgressBar::draw(double elapsed_s, std::int64_t done, std::int64_t total) {
  wipe();
  if (total > 0) {
    const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    out_ << fmt::format("{} {} {:3.0f} %", stage_, bar_of(share), 100 * share);
    // Work done earlier, by an interrupted run or from a journal, does not count for this process's speed.
    if (const auto here = done - done_before_; here > 0) {
      const double item_s = elapsed_s / static_cast<double>(here);
      out_ << ", " << format_seconds(item_s * static_cast<double>(std::max<std::int64_t>(0, total - done)))
           << " left";
    }
  } else {
    out_ << stage_ << " " << format_count(done) << ", " << format_seconds(elapsed_s);
  }
  out_ << std::flush;
  on_screen_ = true;
}

void ProgressBar::wipe() {
  if (on_screen_) {
    out_ << "\r\x1b[K" << std::flush;
    on_screen_ = false;
  }
}

}  // namespace gnomon::apps
