// SPDX-License-Identifier: Apache-2.0
//
// The one writer of the FIB: applies what workers report and what the operator asks for, ages and
// flushes. Used by one thread (`tables`); knows no DPDK.
//
// Reports come from several rings. Within one drain they are applied in the order of their time
// stamps, so the later report of an address wins whichever ring it came by. Across drains the FIB
// has no room for a time stamp; a direct-mapped memory of the latest changes (16,384 of them)
// stands in: a report older than what is remembered of its address is stale. An address that was
// pushed out of this memory between two drains is the only case in which an older report could win;
// the next frame of the host corrects it.
//
// An address that moves twice within a second counts as flapping.
//
// Ageing: an epoch is a sixth of the ageing time. A sweep follows the clock through the table, so
// the work is spread evenly. An entry leaves when its stamp is six epochs old: between 5/6 and 7/6
// of the ageing time after the address was last seen. Where nothing ages, guests are still sent
// home (coua_fib_tidy) after entries were erased.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "coua/fib.h"
#include "dp/learn/report.h"
#include "dp/plan.h"

namespace coua::dp {

struct fib_owner_params {
  std::uint64_t entries = 1'000'000;
  double max_load = 0.95;
  unsigned value_bits = 10;
  unsigned ageing_s = 300;
  int numa_node = -1;
  bool huge_pages = true;                       // false: never reserved ones
  std::uint64_t flap_cycles = 0;                // of the report clock: moves closer than this flap
  std::atomic<std::uint32_t>* epoch = nullptr;  // told each new epoch, when not null
  // Told which ports are closed to addresses that are not learned on them, when not null: released
  // after the address that closed the port is in the FIB.
  std::atomic<port_set>* closed = nullptr;
};

/// What the owner needs to know of a port before it believes a report from it.
struct port_rule {
  bool learns = false;
  std::uint64_t mac_limit = 0;  // 0: none
  // Reports of frames seen before this moment (of the report clock) are stale: the number was
  // another port's, or the port's link was down meanwhile.
  std::uint64_t since = 0;
  bool closes = false;  // at the limit, to addresses that are not learned (what `closed` tells)
};

struct learn_counts {
  std::uint64_t reports = 0;  // drained
  std::uint64_t stale = 0;    // older than the entry, or from a port that left the domain meanwhile
  std::uint64_t added = 0;
  std::uint64_t moved = 0;
  std::uint64_t refreshed = 0;
  std::uint64_t flapping = 0;
  std::uint64_t limited = 0;      // refused by a port's limit
  std::uint64_t full = 0;         // refused by the FIB
  std::uint64_t static_kept = 0;  // for an address with a static entry elsewhere
};

/// Which entries a flush removes.
struct flush_filter {
  port_set ports = ~port_set{0};
  std::bitset<n_domains> domains = std::bitset<n_domains>().set();
  bool statics = false;
  bool dynamics = true;
};

class fib_owner {
 public:
  static result<std::unique_ptr<fib_owner>> create(const fib_owner_params& params);
  ~fib_owner();
  fib_owner(const fib_owner&) = delete;
  fib_owner& operator=(const fib_owner&) = delete;

  coua_fib* fib() const { return fib_; }

  void set_rule(unsigned port, const port_rule& rule) {
    rules_[port] = rule;
    close_or_open(port);
  }
  /// Ports that an address above their limit was reported on since the last call. Not while a flush
  /// runs, after which there may be room.
  port_set take_violations() { return std::exchange(violated_, 0); }
  bool is_closed(unsigned port) const { return (closed_ & port_bit(port)) != 0; }
  /// The ports of a domain; a report from another port is stale.
  void set_members(std::uint16_t domain, port_set ports) { domains_[domain].members = ports; }
  /// A domain without entries is given to another VLAN. Reports of frames seen before this moment
  /// (of the report clock) are stale.
  void begin_domain(std::uint16_t domain, std::uint64_t now) { domains_[domain].since = now; }

  /// Applies reports in the order of their time stamps, whatever order they come in. A refusal by a
  /// full FIB takes up to some 100 us: who must not wait longer sorts a drain and applies parts.
  void apply(std::span<learn_report> reports);
  static void sort(std::span<learn_report> reports);

  /// Adds or replaces entries. Returns how many were stored; less than all: the next one was
  /// refused (no room within the search budget).
  std::size_t store(std::span<const coua_fib_record> records);
  bool erase(std::uint64_t key);
  std::uint32_t find(std::uint64_t key) { return coua_fib_lookup(reader_, key); }

  /// A flush goes over the whole table in slices. The job says when it is done and how many entries
  /// it removed. Null: no memory for a cursor.
  class flush_job;
  std::shared_ptr<flush_job> start_flush(const flush_filter& filter);
  /// The same for whoever does not wait for it: one of the same ports that is queued and has not
  /// begun does this one, too, so that there are at most two of them however often it is asked for.
  /// False: no memory.
  bool request_flush(const flush_filter& filter);
  /// Works on the running flushes, one after the other: looks at up to `records` entries, or at
  /// twice as many buckets where they are empty. False: none is left, or there is no memory to go
  /// on now.
  bool flush_slice(std::size_t records);

  /// Ageing: called often; `now_ns` never goes back. Returns true while a sweep is behind time.
  /// Each call takes well below a millisecond.
  bool age(std::uint64_t now_ns);
  void set_ageing(unsigned seconds, std::uint64_t now_ns);
  unsigned ageing_s() const { return ageing_s_; }
  /// Upper bound of the time since an entry with this age (epochs) was seen; 0 where nothing ages,
  /// and nobody knows.
  unsigned age_seconds(unsigned epochs, std::uint64_t now_ns) const;
  std::uint32_t epoch() const { return epoch_; }

  std::uint64_t learned_on_port(unsigned port) const { return on_port_[port]; }
  std::uint64_t learned_in_domain(std::uint16_t domain) const { return domains_[domain].learned; }
  std::uint64_t entries_in_domain(std::uint16_t domain) const {
    return domains_[domain].learned + domains_[domain].statics;
  }
  const learn_counts& counts() const { return counts_; }

 private:
  struct change {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint64_t time = 0;
    std::uint64_t moved_at = 0;
  };
  struct domain {
    port_set members = 0;
    std::uint64_t since = 0;
    std::uint64_t learned = 0, statics = 0;  // entries
  };
  explicit fib_owner(const fib_owner_params& params) : params_(params) {}
  void apply_one(const learn_report& report);
  void move(const learn_report& report, std::uint32_t entry, change& memory);
  bool below_limit(unsigned port);
  void close_or_open(unsigned port);
  int insert_dynamic(std::uint64_t key, unsigned port);
  void count(std::uint64_t key, unsigned port, int difference);
  void count_static(std::uint64_t key, int difference);
  void count(const coua_fib_record& record, int difference);
  void forget(std::uint64_t key, std::uint32_t entry);
  void begin_epoch(std::uint64_t now_ns);
  void tidy(std::uint64_t now_ns);

  static constexpr unsigned memory_bits = 14;
  change& remembered(std::uint64_t key) {
    return memory_[(key * 0x9E3779B97F4A7C15u) >> (64 - memory_bits)];
  }

  const fib_owner_params params_;
  coua_fib* fib_ = nullptr;
  coua_fib_reader* reader_ = nullptr;
  std::array<port_rule, max_ports> rules_{};
  std::vector<domain> domains_ = std::vector<domain>(n_domains);
  std::vector<change> memory_ = std::vector<change>(std::size_t{1} << memory_bits);
  std::array<std::uint64_t, max_ports> on_port_{};
  port_set closed_ = 0;
  port_set violated_ = 0;
  std::vector<std::shared_ptr<flush_job>> flushes_;
  learn_counts counts_;
  unsigned ageing_s_ = 0;
  std::uint32_t epoch_ = 0;
  std::uint64_t buckets_ = 0;
  std::uint64_t epoch_start_ns_ = 0;
  std::uint64_t swept_ = 0;  // buckets in this epoch
  bool sweep_done_ = false;
  bool tidying_ = false;
  std::uint64_t next_tidy_ns_ = 0;
  std::uint64_t erased_at_tidy_ = 0;  // entries erased before the last round of tidying began
};

/// A running flush. Shared by the owner and whoever waits for its end; the owner's thread only.
class fib_owner::flush_job {
 public:
  explicit flush_job(const flush_filter& filter) : filter_(filter) {}
  ~flush_job() { coua_fib_cursor_close(cursor_); }
  flush_job(const flush_job&) = delete;
  flush_job& operator=(const flush_job&) = delete;

  bool done() const { return done_; }
  std::uint64_t removed() const { return removed_; }

 private:
  friend class fib_owner;
  flush_filter filter_;
  coua_fib_cursor* cursor_ = nullptr;
  bool is_awaited_ = true;
  bool has_begun_ = false;
  std::uint64_t removed_ = 0;
  bool done_ = false;
};

}  // namespace coua::dp
