// SPDX-License-Identifier: Apache-2.0
//
// Connections that speak OpenFlow 1.3, and the loop that waits for all of them. Of the library's
// rconn and vconn: hello with the bitmap of versions, probes of a peer that says nothing, back-off
// before another attempt, TCP, TLS and Unix sockets.
//
// Thread rules: all of it is one thread's, poller::wake() excepted. What the loop waits for is
// kept per thread (poll_loop.cc), and of the library's signal handlers there is one set: couad
// blocks these signals.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "ctl/ofp/message.h"

struct rconn;
struct pvconn;

namespace coua::ofp {

struct link_settings {
  unsigned probe_s = 5;        // a peer that is silent for that long is asked; 0: never
  unsigned backoff_max_s = 8;  // between two attempts
};

/// "tcp:10.0.0.1:6653", "ssl:...", "unix:/run/x.sock". Empty: good; else what is wrong.
std::string check_active_target(const std::string& target);
/// "ptcp:6653:127.0.0.1", "pssl:...", "punix:/run/x.sock".
std::string check_passive_target(const std::string& target);

class link {
 public:
  /// Connects, and again when the connection is lost.
  static std::unique_ptr<link> to(const std::string& target, const link_settings& settings);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  void run();
  /// What run() or receive() needs wakes the loop. While no messages are waited for the peer is not
  /// asked whether it is alive, since its answer would not be read.
  void wait(bool for_messages);
  bool is_connected() const;
  /// Why the last attempt or connection ended; empty: none has.
  std::string trouble() const;
  /// Another number for each connection.
  unsigned connection() const;
  /// False: one that was accepted has ended.
  bool is_alive() const;
  const std::string& name() const { return name_; }

  std::optional<message> receive();
  void send(message_view one);
  /// Ends the connection; one that was made by to() comes again.
  void disconnect();
  /// Messages that the peer has not taken, when run() or send() last looked.
  unsigned unsent() const { return unsent_; }

 private:
  friend class listener;
  link(::rconn* wrapped, std::string name, unsigned probe_s)
      : rconn_(wrapped), name_(std::move(name)), probe_s_(probe_s) {}
  void probe(bool on);
  bool is_under_way() const;
  void note_tls_trouble();

  ::rconn* rconn_;
  std::string name_;
  const unsigned probe_s_;
  bool probes_ = true;
  unsigned unsent_ = 0;
  bool under_way_ = false;   // at the last look
  std::string tls_trouble_;  // of the last attempt or connection that ended
};

class listener {
 public:
  /// Errors: io.
  static result<std::unique_ptr<listener>> on(const std::string& target);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  const std::string& target() const { return target_; }
  /// Null: nobody is there, or whoever is there cannot be taken yet, and trouble() says why.
  std::unique_ptr<link> accept(const link_settings& settings);
  /// Why the last accept() could not take anybody (mostly there are no descriptors); empty: it
  /// could have.
  const std::string& trouble() const { return trouble_; }
  /// Until somebody is there; in trouble, for a while: whoever waits would end the wait at once.
  void wait();

 private:
  listener(::pvconn* wrapped, std::string target) : pvconn_(wrapped), target_(std::move(target)) {}

  ::pvconn* pvconn_;
  std::string target_;
  std::string trouble_;
};

class poller {
 public:
  /// Errors: io.
  static result<std::unique_ptr<poller>> create();
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  /// Ends the wait that is under way or comes next. Any thread.
  void wake();
  /// Until something happens that was waited for, or for this long. Behind something that came it
  /// may end at once (poll_loop.cc).
  void block(unsigned at_most_ms);

 private:
  explicit poller(int event) : event_(event) {}
  const int event_;
  std::atomic<bool> woken_{false};
};

}  // namespace coua::ofp
