// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>

#include "base/cpu.h"
#include "base/error_place.h"
#include "base/log.h"
#include "base/start_thread.h"
#include "ctl/openflow/event_hub.h"

namespace coua::openflow {
namespace {

// Messages that the library may hold for a socket: what is above stays in the session, which knows
// its bounds.
constexpr unsigned unsent_max = 64;
// With answers to echo requests, which do not wait in the session; then nothing more is read.
constexpr unsigned unsent_with_echoes = 128;
// Of one connection, before the next one has its turn.
constexpr unsigned received_at_once = 64;
// Nothing depends on it but timers of the library, which it tells the loop itself.
constexpr unsigned rest_ms = 1000;

using clock = std::chrono::steady_clock;
// To ask whether somebody new has come costs as much as a flow_mod: while controllers speak, it is
// done so often.
constexpr std::chrono::milliseconds accept_each{1};
/// Of the log's lines about those that cannot be taken.
constexpr std::chrono::seconds trouble_each{10};
// Who looks at the connections holds up others who want to look at the switch.
constexpr std::chrono::seconds answer_most{2};

/// A socket and, while it is connected, the session on it.
struct connection {
  std::unique_ptr<ofp::link> link;
  std::unique_ptr<session> current;
  unsigned number = 0;  // of the connection that `current` is for
  ctl::controller_origin origin = ctl::controller_origin::configured;
  clock::time_point since = clock::now();  // it is, or is not, connected
  std::uint64_t times = 0, received = 0, sent = 0;
  std::string trouble = {};  // that the library does not know, or has forgotten

  bool accepted() const { return origin != ctl::controller_origin::configured; }
  audience who() const {
    return origin == ctl::controller_origin::management ? audience::visitor : audience::controller;
  }
};

const char* to_string(ofp::controller_role role) {
  switch (role) {
    case ofp::controller_role::master: return "master";
    case ofp::controller_role::slave: return "slave";
    default: return "equal";
  }
}

ctl::controller_state state_of(const connection& of) {
  ctl::controller_state made;
  made.target = of.link->name();
  made.origin = of.origin;
  made.connected = of.current != nullptr;
  made.for_s = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(clock::now() - of.since).count());
  if (of.current) made.role = to_string(of.current->about().role());
  made.connections = of.times;
  made.received = of.received;
  made.sent = of.sent;
  made.trouble = of.link->trouble();
  if (made.trouble.empty()) made.trouble = of.trouble;
  return made;
}

class running_server final : public server {
 public:
  running_server(ctl::pipeline_control& control, role_book& roles, server_settings settings)
      : settings_(std::move(settings)),
        bridge_(control, roles, settings_.identity),
        seen_(settings_.controller_seen) {}

  ~running_server() override { running_server::stop(); }

  void stop() override {
    stop_ = true;
    if (poller_) poller_->wake();
    if (thread_.joinable()) thread_.join();
    // Not when nobody has this any more: by then it is the next one that listens to the bridge.
    hub_.reset();
  }

  std::optional<clock::time_point> controller_seen() const override { return seen_; }

  result<ctl::controllers_state> controllers() override {
    std::promise<ctl::controllers_state> asked;
    auto answer = asked.get_future();
    {
      const std::lock_guard hold(asked_mutex_);
      if (ended_) return ctl::controllers_state{};
      asked_.push_back(std::move(asked));
    }
    poller_->wake();
    if (answer.wait_for(answer_most) != std::future_status::ready)
      return fail(errc::busy, "controllers", "their thread has other things to do; try again");
    return answer.get();
  }

  result<void> start() {
    auto made = ofp::poller::create();
    if (!made) return tl::unexpected(at_place("controllers", made.error()));
    poller_ = std::move(*made);
    std::promise<result<void>> opened;
    auto answer = opened.get_future();
    try {
      hub_ = std::make_unique<event_hub>(bridge_.control, [this] { poller_->wake(); });
      thread_ = std::thread([this, &opened] { run(opened); });
    } catch (const std::system_error& why) {
      return tl::unexpected(no_thread("controllers", why));
    }
    return answer.get();
  }

 private:
  void run(std::promise<result<void>>& opened) {
    name_this_thread("coua-openflow");
    // A client on the same CPU says what it has to say first: else each of its messages stops it.
    wake_this_thread_late();
    auto done = open();
    const bool good = done.has_value();
    opened.set_value(std::move(done));
    while (good && !stop_) {
      accept();
      for (connection& each : connections_) {
        if (!stop_) serve(each);
      }
      std::erase_if(connections_, [](const connection& each) {
        return each.accepted() && !each.current && !each.link->is_alive();
      });
      std::erase_if(ending_, [](const auto& each) { return each->is_over(); });
      for (auto& each : listeners_) each->wait();
      tell_drops();
      watch_controllers();
      tell_states(false);
      poller_->block(rest_ms);
    }
    tell_states(true);
    // All at once: to destroy one waits for what is under way there.
    for (const auto& each : ending_) each->abandon();
    for (connection& each : connections_) {
      if (!each.current) continue;
      hub_->remove(*each.current);
      each.current->abandon();
    }
    // Links and listeners belong to this thread.
    connections_.clear();
    listeners_.clear();
    ending_.clear();
  }

  /// Once a second at most.
  void tell_drops() {
    if (!hub_->has_dropped()) return;
    const auto now = clock::now();
    if (now < next_tell_) return;
    const std::uint64_t n = hub_->take_dropped();
    next_tell_ = now + std::chrono::seconds(1);
    log_warning("openflow: bridge %s: %llu packets were not told: controllers do not read them",
                name(), static_cast<unsigned long long>(n));
  }

  /// Fail-standalone: the switch forwards by itself while no controller is connected, and until the
  /// first one is. Told at first, too: what ran before may have left it so.
  void watch_controllers() {
    const bool alone = is_alone();
    if (alone == alone_) return;
    if (alone || alone_)
      log_warning("openflow: bridge %s: %s", name(),
                  alone ? "no controller: forwarding as an L2 switch (fail-standalone)"
                        : "a controller is connected: forwarding by its rules");
    alone_ = alone;
    bridge_.control.set_standalone(alone);
  }

  bool is_alone() {
    if (!settings_.standalone || settings_.controllers.empty()) return false;
    const auto now = clock::now();
    const bool connected = std::ranges::any_of(connections_, [](const connection& each) {
      return !each.accepted() && each.current != nullptr;
    });
    if (connected) seen_ = now;
    return !connected &&
           (!seen_ || now - *seen_ >= std::chrono::seconds(3 * settings_.links.probe_s));
  }

  /// To those who have asked; after the last time, nobody waits for an answer.
  void tell_states(bool last) {
    const std::lock_guard hold(asked_mutex_);
    ended_ = last;
    if (asked_.empty()) return;
    ctl::controllers_state now{{}, alone_.value_or(false)};
    for (const connection& each : connections_) now.all.push_back(state_of(each));
    for (auto& each : asked_) each.set_value(now);
    asked_.clear();
  }

  result<void> open() {
    for (std::size_t i = 0; i < settings_.listen.size(); i++)
      if (auto done = listen("listen[" + std::to_string(i) + "]", settings_.listen[i]); !done)
        return done;
    if (!settings_.management.empty())
      if (auto done = listen("management", management()); !done) return done;
    for (const std::string& target : settings_.controllers) {
      connections_.push_back({ofp::link::to(target, settings_.links), nullptr});
    }
    return {};
  }

  result<void> listen(const std::string& field, const std::string& place) {
    auto made = ofp::listener::on(place);
    if (!made) return tl::unexpected(at_place(field, made.error()));
    listeners_.push_back(std::move(*made));
    return {};
  }

  const char* name() const { return settings_.bridge.c_str(); }
  std::string management() const { return "punix:" + settings_.management; }

  void accept() {
    const auto now = clock::now();
    if (std::exchange(conversed_, false) && now < next_accept_) return;
    next_accept_ = now + accept_each;
    for (auto& from : listeners_) {
      while (auto one = from->accept(settings_.links)) {
        if (connections_.size() >= connections_max) {
          log_warning("openflow: bridge %s: %s: refused: there are %zu connections", name(),
                      one->name().c_str(), connections_max);
          continue;
        }
        connections_.push_back({std::move(one), nullptr, 0,
                                from->target() == management() ? ctl::controller_origin::management
                                                               : ctl::controller_origin::came});
      }
      if (!from->trouble().empty()) tell_trouble(*from, now);
    }
  }
  void tell_trouble(const ofp::listener& of, clock::time_point now) {
    if (now < next_trouble_) return;
    next_trouble_ = now + trouble_each;
    log_warning("openflow: bridge %s: %s: cannot take a connection yet: %s", name(),
                of.target().c_str(), of.trouble().c_str());
  }

  void serve(connection& of) {
    of.link->run();
    follow(of);
    if (of.current && of.current->is_overrun()) {
      log_warning("openflow: bridge %s: %s: disconnected: it does not read what it is told", name(),
                  of.link->name().c_str());
      of.link->disconnect();
      of.trouble = "it did not read what it was told";
      follow(of);
    }
    if (of.current) converse(of);
    of.link->wait(!of.current || takes_more(of));
  }

  static bool takes_more(const connection& of) {
    return of.current->takes_more() && of.link->unsent() < unsent_with_echoes;
  }

  /// A session for each time that the link is connected.
  void follow(connection& of) {
    const bool connected = of.link->is_connected();
    if (of.current && (!connected || of.number != of.link->connection())) {
      note(of, "disconnected");
      of.since = clock::now();
      hub_->remove(*of.current);
      of.current->close();
      ending_.push_back(std::move(of.current));
    }
    if (connected && !of.current) {
      note(of, "connected");
      of.number = of.link->connection();
      try {
        of.current = std::make_unique<session>(
            bridge_, [this] { poller_->wake(); }, of.who());
      } catch (const std::system_error& why) {
        const error none = no_thread(of.link->name(), why);
        log_warning("openflow: bridge %s: %s", name(), none.message().c_str());
        of.link->disconnect();
        of.trouble = none.what;
        return;
      }
      of.since = clock::now();
      ++of.times;
      hub_->add(*of.current);
    }
  }

  /// Those who come to the switch may be many, and short.
  void note(const connection& of, const char* what) const {
    if (of.accepted()) {
      log_debug("openflow: bridge %s: %s: %s", name(), of.link->name().c_str(), what);
    } else {
      log_info("openflow: bridge %s: %s: %s", name(), of.link->name().c_str(), what);
    }
  }

  void converse(connection& of) {
    unsigned n = 0;
    receive(of, n);
    of.current->finish_at_once();
    send(of);
    if (n == received_at_once) poller_->wake();
    conversed_ |= n != 0;
  }

  /// Counts in `n`, up to received_at_once.
  void receive(connection& of, unsigned& n) {
    while (n < received_at_once && takes_more(of)) {
      auto one = of.link->receive();
      if (!one) return;
      ++n;
      using type_of = ofp::wire_type_of;
      const auto type = static_cast<type_of>(ofp::type_of(*one));
      if (type != type_of::echo_request && type != type_of::echo_reply) ++of.received;
      // Answered here: a controller that waits for a long answer must not take the switch for dead.
      if (type == type_of::echo_request) {
        of.link->send(ofp::echo_reply(*one));
      } else if (!of.current->do_at_once(*one)) {
        of.current->put(std::move(*one));
      }
    }
  }

  void send(connection& of) {
    while (of.link->unsent() < unsent_max) {
      const auto one = of.current->next();
      if (!one) return;
      of.link->send(*one);
      ++of.sent;
    }
  }

  const server_settings settings_;
  bridge_view bridge_;
  std::unique_ptr<ofp::poller> poller_;
  std::unique_ptr<event_hub> hub_;
  clock::time_point next_tell_{}, next_accept_{}, next_trouble_{};
  bool conversed_ = false;                 // somebody said something, since accept()
  std::optional<clock::time_point> seen_;  // a controller, the last time
  std::optional<bool> alone_;              // as the switch was told
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<ofp::listener>> listeners_;
  std::vector<connection> connections_;
  std::vector<std::unique_ptr<session>> ending_;  // closed, their threads at work
  std::mutex asked_mutex_;                        // of what follows
  std::vector<std::promise<ctl::controllers_state>> asked_;
  bool ended_ = false;  // the loop
  std::thread thread_;
};

}  // namespace

result<std::unique_ptr<server>> server::create(ctl::pipeline_control& control, role_book& roles,
                                               server_settings settings) {
  auto made = std::make_unique<running_server>(control, roles, std::move(settings));
  if (auto started = made->start(); !started) return tl::unexpected(started.error());
  return made;
}

}  // namespace coua::openflow
