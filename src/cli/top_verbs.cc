// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "cli/interruption.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "cli/top_view.h"

namespace coua::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A daemon that hangs must not hold up the keys for longer.
constexpr double answer_timeout_s = 2;
constexpr int turn_ms = 100;  // a new size of the terminal shows within it
constexpr milliseconds shortest{100};
constexpr milliseconds longest{3'600'000};

const std::vector<std::string> help_lines{
    "  q  end",
    "  s  sort the ports by the next column: name, rx, tx, drops",
    "  p  hold the view, go on",
    "  +  twice the interval",
    "  -  half the interval",
    "  h  show or hide this",
    "",
    "  BUSY        share of a worker's cycles in rounds that found packets",
    "  CYCLES/PKT  cycles of those rounds, for each packet",
    "  BURST       packets of a poll that found some; then the shares of such polls by size",
    "  LEARNING    ring_full: a worker had no room to report an address",
};

/// Asks a daemon again and again; one that went away and came back is another connection.
class top_source {
 public:
  explicit top_source(std::string socket) : socket_(std::move(socket)) {}

  result<top_reading> read() {
    if (!daemon_) {
      auto fresh = std::make_unique<client>(socket_, answer_timeout_s);
      if (auto there = fresh->probe(); !there) return tl::unexpected(there.error());
      daemon_ = std::move(fresh);
    }
    auto got = read_all(*daemon_);
    if (!got) daemon_.reset();
    return got;
  }

 private:
  static result<top_reading> read_all(client& daemon) {
    top_reading out;
    const auto take = [](auto&& got, auto& to) -> result<void> {
      if (!got) return tl::unexpected(got.error());
      to = std::move(*got);
      return {};
    };
    result<void> done =
        take(daemon.call(daemon.system(), &v1::SystemService::Stub::GetVersion, {}), out.daemon);
    if (done)
      done = take(daemon.call(daemon.system(), &v1::SystemService::Stub::GetStats, {}), out.stats);
    if (done)
      done = take(daemon.call(daemon.system(), &v1::SystemService::Stub::ListWorkers, {}),
                  out.workers);
    if (done)
      done = take(daemon.call(daemon.ports(), &v1::PortService::Stub::ListPorts, {}), out.ports);
    if (done)
      done = take(daemon.call(daemon.fib(), &v1::FibService::Stub::GetFibStats, {}), out.fib);
    if (done)
      done = take(daemon.call(daemon.bridges(), &v1::BridgeService::Stub::ListBridges, {}),
                  out.bridges);
    if (!done) return tl::unexpected(done.error());
    return out;
  }

  const std::string socket_;
  std::unique_ptr<client> daemon_;
};

top_order order_of(const std::string& name) {
  for (const top_order each : {top_order::rx, top_order::tx, top_order::drops})
    if (name == to_string(each)) return each;
  return top_order::name;
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

class top_screen {
 public:
  top_screen(const session& s, interruption& stop, terminal& page)
      : source_(s.daemon.socket()),
        stop_(stop),
        page_(page),
        interval_(static_cast<milliseconds::rep>(1000 * s.call.real("interval", 1))),
        views_left_(s.call.number("count")),
        order_(order_of(s.call.text("sort", "name"))) {
    interval_ = std::clamp(interval_, shortest, longest);
  }

  result<void> run() {
    while (!stop_.is_stopped() && !ended_) {
      if (!held_ && steady_clock::now() >= next_) refresh();
      if (ended_) break;
      if (auto drawn = redraw(); !drawn) return drawn;
      press(terminal::key(stop_, turn_ms));
    }
    return {};
  }

 private:
  void refresh() {
    auto got = source_.read();
    next_ = steady_clock::now() + interval_;
    changed_ = true;
    time_ = clock_text();
    if (!got) {
      trouble_ = got.error().message();
      return;
    }
    trouble_.clear();
    // There is nothing to compare the first reading with, nor the first of a daemon that is
    // another.
    const bool is_first = !has_reading_ || got->daemon.pid() != reading_.daemon.pid();
    if (is_first) next_ = steady_clock::now() + std::min(interval_, shortest * 3);
    view_ = make_top_view(is_first ? *got : reading_, *got);
    reading_ = std::move(*got);
    has_reading_ = true;
    if (!is_first && views_left_ > 0) ended_ = --views_left_ == 0;
  }

  result<void> redraw() {
    const terminal_size size = terminal::size();
    if (!changed_ && size == drawn_) return {};
    changed_ = false;
    drawn_ = size;
    char every[32];
    std::snprintf(every, sizeof every, "%g s", static_cast<double>(interval_.count()) / 1000);
    std::vector<std::string> lines{"coua top " + time_ + "  " + view_.daemon + "  every " + every +
                                   "  by " + to_string(order_) + (held_ ? "  HELD" : "") +
                                   "  (h: help)"};
    if (!trouble_.empty()) {
      lines.push_back("no answer, trying again: " + trouble_);
    } else if (is_help_) {
      lines.insert(lines.end(), help_lines.begin(), help_lines.end());
    }
    lines.emplace_back();
    if (has_reading_) {
      sort_ports(view_, order_);
      const std::size_t room = size.lines > lines.size() ? size.lines - lines.size() : 1;
      const auto body = top_lines(view_, size.columns, room);
      lines.insert(lines.end(), body.begin(), body.end());
    }
    return page_.draw(stop_, lines, trouble_.empty() ? 1 : 2);
  }

  void press(int key) {
    if (key == 0) return;
    changed_ = true;
    switch (key) {
      case '\x03':  // Ctrl-C
      case '\x1c':  // Ctrl-backslash
      case 'q': ended_ = true; break;
      case 's': order_ = static_cast<top_order>((static_cast<int>(order_) + 1) % 4); break;
      case 'p':
      case ' ': held_ = !held_; break;
      case 'h':
      case '?': is_help_ = !is_help_; break;
      case '+': interval_ = std::min(longest, 2 * interval_); break;
      case '-': interval_ = std::max(shortest, interval_ / 2); break;
      default: return;
    }
    next_ = std::min(next_, steady_clock::now() + interval_);
  }

  top_source source_;
  interruption& stop_;
  terminal& page_;
  milliseconds interval_;
  std::uint64_t views_left_;  // 0: no limit
  top_order order_;
  top_view view_;
  top_reading reading_;
  steady_clock::time_point next_;
  terminal_size drawn_;
  std::string time_, trouble_;
  bool has_reading_ = false, held_ = false, is_help_ = false, ended_ = false, changed_ = true;
};

// Views one below the other. What the daemon does not answer ends it.
result<void> print_views(const session& s, interruption& stop) {
  top_source source(s.daemon.socket());
  const auto interval = std::chrono::duration<double>(s.call.real("interval", 1));
  const std::uint64_t count = s.call.number("count");
  const auto print = [&](const std::string& text) {
    return stop.write(STDOUT_FILENO, "standard output", text);
  };
  constexpr std::size_t any_width = 1000;
  auto before = source.read();
  if (!before) return tl::unexpected(before.error());
  result<bool> written = true;
  if (s.as_json) {
    written = print("{\n  \"views\": [");
    s.answered = true;
  }
  const error* failure = nullptr;
  result<top_reading> now = *before;
  for (std::uint64_t n = 0; written && *written && (count == 0 || n < count); ++n) {
    if (stop.wait(std::chrono::duration_cast<milliseconds>(interval))) break;
    now = source.read();
    if (!now) {
      failure = &now.error();
      break;
    }
    top_view view = make_top_view(*before, *now);
    before = now;
    sort_ports(view, order_of(s.call.text("sort", "name")));
    std::string text;
    if (s.as_json) {
      text = (n > 0 ? ",\n    " : "\n    ") + view.to_json().dump();
    } else {
      text = (n > 0 ? "\n" : "") + clock_text() + "  " + view.daemon + "\n\n";
      for (const std::string& line : top_lines(view, any_width, 0))
        (text += line.substr(0, line.find_last_not_of(' ') + 1)) += '\n';
    }
    written = print(text);
  }
  if (s.as_json && written && *written) {
    const std::string error =
        failure == nullptr ? "" : ",\n  \"error\": " + error_json(*failure).dump();
    written = print("\n  ]" + error + "\n}\n");
  }
  if (!written) return tl::unexpected(written.error());
  if (failure != nullptr) return tl::unexpected(*failure);
  return {};
}

}  // namespace

result<void> run_top(const session& s) {
  interruption stop([] {});
  stop.watch(STDOUT_FILENO);
  if (s.as_json || s.call.has("batch") || isatty(STDOUT_FILENO) != 1) return print_views(s, stop);
  auto page = terminal::create();
  if (!page) return tl::unexpected(page.error());
  return top_screen(s, stop, *page).run();
}

}  // namespace coua::cli
