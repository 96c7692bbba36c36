// SPDX-License-Identifier: Apache-2.0
#include "dp/learn/fib_owner.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace coua::dp {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr unsigned epochs_per_ageing = 6;  // coua_fib_sweep removes entries six epochs old
// Buckets per call of the sweep: some 100 us on a table in memory.
constexpr std::uint64_t sweep_slice = 8192;
constexpr std::uint64_t tidy_pause_ns = 4'000'000;  // between slices of that many buckets
constexpr std::size_t chunk = 64;
constexpr std::uint64_t transparent_entries = (std::uint64_t{2} << 20) / 8;  // one page full

unsigned port_of(std::uint32_t entry) { return entry >> COUA_FIB_ENTRY_VALUE_SHIFT; }
bool is_static(std::uint32_t entry) { return (entry & COUA_FIB_ENTRY_STATIC) != 0; }

coua_fib_record record_of(std::uint64_t key, unsigned port) {
  coua_fib_record record{};
  record.key = key;
  record.value = port;
  return record;
}

}  // namespace

result<std::unique_ptr<fib_owner>> fib_owner::create(const fib_owner_params& params) {
  std::unique_ptr<fib_owner> owner(new fib_owner(params));
  coua_fib_params table = COUA_FIB_PARAMS_INIT;
  table.entries = params.entries;
  table.max_load = params.max_load;
  table.value_bits = params.value_bits;
  table.numa_node = params.numa_node;
  // 8-byte slots also where the table would choose wide ones: a small table then has more buckets
  // than it needs (272 KiB at ten bits), but a burst is looked up faster (45 against 53 ns per
  // packet at 1K addresses). With wider values the least size would be many megabytes.
  if (params.value_bits <= 10) table.layout = COUA_FIB_LAYOUT_PACKED8;
  char message[256] = "";
  int error = -1;
  if (!params.huge_pages) {
    // Transparent ones are nobody's reserve. Where the kernel has none, small ones do.
    table.pages = COUA_FIB_PAGES_TRANSPARENT;
    if (params.entries >= transparent_entries)
      error = coua_fib_create(&table, &owner->fib_, message, sizeof message);
    table.pages = COUA_FIB_PAGES_4K;
  }
  if (error != 0) error = coua_fib_create(&table, &owner->fib_, message, sizeof message);
  if (error != 0)
    return fail(error == -ENOMEM ? errc::no_memory : errc::invalid, "fib.entries",
                std::to_string(params.entries) +
                    " entries: " + (message[0] != 0 ? message : "the FIB cannot be created"));
  if (coua_fib_reader_create(owner->fib_, &owner->reader_) != 0)
    return fail(errc::no_memory, "fib.entries", "no memory for a reader");
  coua_fib_stats stats{};
  stats.size = sizeof stats;
  coua_fib_get_stats(owner->fib_, &stats);
  owner->buckets_ = stats.buckets;
  owner->epoch_ = stats.epoch;
  owner->ageing_s_ = params.ageing_s;
  if (params.epoch != nullptr) params.epoch->store(stats.epoch, std::memory_order_relaxed);
  return owner;
}

fib_owner::~fib_owner() {
  flushes_.clear();
  coua_fib_reader_destroy(reader_);
  coua_fib_destroy(fib_);
}

void fib_owner::count(std::uint64_t key, unsigned port, int difference) {
  if (port < max_ports) {
    on_port_[port] += static_cast<std::uint64_t>(difference);
    close_or_open(port);
  }
  domains_[key >> domain_shift].learned += static_cast<std::uint64_t>(difference);
}

void fib_owner::count_static(std::uint64_t key, int difference) {
  domains_[key >> domain_shift].statics += static_cast<std::uint64_t>(difference);
}

void fib_owner::count(const coua_fib_record& record, int difference) {
  if (record.is_static != 0)
    count_static(record.key, difference);
  else
    count(record.key, record.value, difference);
}

void fib_owner::close_or_open(unsigned port) {
  const port_rule& rule = rules_[port];
  const bool closed = rule.closes && rule.mac_limit != 0 && on_port_[port] >= rule.mac_limit;
  if (closed == is_closed(port)) return;
  closed_ ^= port_bit(port);
  if (params_.closed != nullptr) params_.closed->store(closed_, std::memory_order_release);
}

/// An entry is about to go or to be replaced.
void fib_owner::forget(std::uint64_t key, std::uint32_t entry) {
  if (entry == COUA_FIB_MISS) return;
  if (is_static(entry))
    count_static(key, -1);
  else
    count(key, port_of(entry), -1);
}

void fib_owner::sort(std::span<learn_report> reports) {
  const auto earlier = [](const learn_report& a, const learn_report& b) { return a.time < b.time; };
  if (!std::is_sorted(reports.begin(), reports.end(), earlier))
    std::stable_sort(reports.begin(), reports.end(), earlier);
}

void fib_owner::apply(std::span<learn_report> reports) {
  counts_.reports += reports.size();
  sort(reports);
  std::array<std::uint64_t, chunk> keys;
  std::array<std::uint32_t, chunk> entries;
  for (std::size_t at = 0; at < reports.size(); at += chunk) {
    const std::size_t n = std::min(chunk, reports.size() - at);
    for (std::size_t i = 0; i < n; ++i) keys[i] = reports[at + i].key;
    // The answers may be outdated by the chunk's own changes; what counts is that the batch brings
    // the buckets into the cache, so that each look-up below is quick.
    coua_fib_lookup_batch(reader_, keys.data(), n, entries.data());
    for (std::size_t i = 0; i < n; ++i) apply_one(reports[at + i]);
  }
}

bool fib_owner::below_limit(unsigned port) {
  const std::uint64_t limit = rules_[port].mac_limit;
  if (limit == 0 || on_port_[port] < limit) return true;
  ++counts_.limited;
  if (flushes_.empty()) violated_ |= port_bit(port);
  return false;
}

int fib_owner::insert_dynamic(std::uint64_t key, unsigned port) {
  const coua_fib_record record = record_of(key, port);
  const int done = coua_fib_insert(fib_, &record);
  if (done == COUA_FIB_ADDED || done == COUA_FIB_UPDATED)
    count(key, port, 1);
  else
    ++counts_.full;
  return done;
}

void fib_owner::apply_one(const learn_report& report) {
  const domain& where = domains_[report.key >> domain_shift];
  const bool believed = report.port < max_ports && rules_[report.port].learns &&
                        report.time >= rules_[report.port].since && report.time >= where.since &&
                        (where.members & port_bit(report.port)) != 0;
  change& memory = remembered(report.key);
  if (!believed || (memory.key == report.key && report.time < memory.time)) {
    ++counts_.stale;
    return;
  }
  const std::uint32_t entry = coua_fib_lookup(reader_, report.key);
  if (entry != COUA_FIB_MISS && is_static(entry)) {
    ++counts_.static_kept;
    return;
  }
  if (entry == COUA_FIB_MISS) {
    if (!below_limit(report.port)) return;
    if (insert_dynamic(report.key, report.port) == COUA_FIB_ADDED) ++counts_.added;
  } else if (port_of(entry) != report.port) {
    move(report, entry, memory);
  } else {
    coua_fib_refresh(fib_, report.key);
    ++counts_.refreshed;
  }
  if (memory.key != report.key) memory = {report.key, report.time, 0};
  memory.time = report.time;
}

void fib_owner::move(const learn_report& report, std::uint32_t entry, change& memory) {
  if (!below_limit(report.port)) return;
  forget(report.key, entry);
  if (insert_dynamic(report.key, report.port) != COUA_FIB_UPDATED) {
    count(report.key, port_of(entry), 1);  // the old entry is still there
    return;
  }
  ++counts_.moved;
  if (memory.key == report.key && memory.moved_at != 0 &&
      report.time - memory.moved_at < params_.flap_cycles)
    ++counts_.flapping;
  memory = {report.key, report.time, report.time};
}

std::size_t fib_owner::store(std::span<const coua_fib_record> records) {
  std::array<std::uint64_t, chunk> keys;
  std::array<std::uint32_t, chunk> before;
  std::size_t stored = 0;
  while (stored < records.size()) {
    const std::size_t n = std::min(chunk, records.size() - stored);
    const coua_fib_record* part = records.data() + stored;
    for (std::size_t i = 0; i < n; ++i) keys[i] = part[i].key;
    coua_fib_lookup_batch(reader_, keys.data(), n, before.data());
    for (std::size_t i = 0; i < n; ++i, ++stored) {
      // The same key may come twice in one chunk: then the look-up above is out of date.
      const int done = coua_fib_insert(fib_, &part[i]);
      if (done == COUA_FIB_ADDED) {
        count(part[i], 1);
      } else if (done == COUA_FIB_UPDATED) {
        std::uint32_t old = before[i];
        for (std::size_t j = 0; j < i; ++j)
          if (keys[j] == keys[i])
            old = part[j].value << COUA_FIB_ENTRY_VALUE_SHIFT |
                  (part[j].is_static != 0 ? COUA_FIB_ENTRY_STATIC : 0);
        forget(part[i].key, old);
        count(part[i], 1);
      } else {
        return stored;
      }
    }
  }
  return stored;
}

bool fib_owner::erase(std::uint64_t key) {
  const std::uint32_t entry = find(key);
  if (coua_fib_erase(fib_, key) != 0) return false;
  forget(key, entry);
  return true;
}

std::shared_ptr<fib_owner::flush_job> fib_owner::start_flush(const flush_filter& filter) {
  auto job = std::make_shared<flush_job>(filter);
  if (coua_fib_cursor_open(fib_, &job->cursor_) != 0) return nullptr;
  flushes_.push_back(job);
  return job;
}

bool fib_owner::request_flush(const flush_filter& filter) {
  const auto takes_it = [&filter](const std::shared_ptr<flush_job>& job) {
    return !job->is_awaited_ && !job->has_begun_ && job->filter_.ports == filter.ports &&
           job->filter_.statics == filter.statics && job->filter_.dynamics == filter.dynamics;
  };
  const auto queued = std::ranges::find_if(flushes_, takes_it);
  if (queued != flushes_.end()) {
    (*queued)->filter_.domains |= filter.domains;
    return true;
  }
  const auto job = start_flush(filter);
  if (job) job->is_awaited_ = false;
  return job != nullptr;
}

bool fib_owner::flush_slice(std::size_t budget) {
  constexpr std::size_t step = 256;
  std::array<coua_fib_record, step> records;
  std::array<std::uint64_t, step> keys;
  while (!flushes_.empty() && budget > 0) {
    flush_job& job = *flushes_.front();
    const flush_filter& filter = job.filter_;
    job.has_begun_ = true;
    const long n = coua_fib_cursor_step(job.cursor_, records.data(), step, 2 * step);
    if (n == -EOVERFLOW) {  // lost: what was removed so far is gone, so it may begin again
      coua_fib_cursor* again = nullptr;
      if (coua_fib_cursor_open(fib_, &again) != 0) return false;  // later, with more memory
      coua_fib_cursor_close(std::exchange(job.cursor_, again));
      continue;
    }
    if (n < 0) {  // the end: no other error is possible with these arguments
      job.done_ = true;
      flushes_.erase(flushes_.begin());
      continue;
    }
    std::size_t matches = 0;
    for (long i = 0; i < n; ++i) {
      const coua_fib_record& record = records[static_cast<std::size_t>(i)];
      const bool kind = record.is_static != 0 ? filter.statics : filter.dynamics;
      const bool port = record.value < max_ports && (filter.ports & port_bit(record.value)) != 0;
      if (!kind || !port || !filter.domains[record.key >> domain_shift]) continue;
      keys[matches++] = record.key;
      count(record, -1);
    }
    job.removed_ += coua_fib_erase_batch(fib_, keys.data(), matches);
    budget -= std::min(budget, step);
  }
  return !flushes_.empty();
}

void fib_owner::begin_epoch(std::uint64_t now_ns) {
  epoch_start_ns_ = now_ns;
  swept_ = 0;
  sweep_done_ = false;
}

bool fib_owner::age(std::uint64_t now_ns) {
  if (ageing_s_ == 0) {
    tidy(now_ns);
    return false;
  }
  if (epoch_start_ns_ == 0) begin_epoch(now_ns);
  const std::uint64_t length = ageing_s_ * ns_per_s / epochs_per_ageing;
  const std::uint64_t passed = now_ns - epoch_start_ns_;
  if (!sweep_done_) {
    const double share = static_cast<double>(passed) / static_cast<double>(length);
    const std::uint64_t due =
        share >= 1 ? buckets_ : static_cast<std::uint64_t>(share * static_cast<double>(buckets_));
    if (swept_ >= due && passed < length) return false;
    // Late, the table may have begun its sweep anew (too many entries went behind its back), so
    // what was swept says nothing about what is left.
    const bool late = passed >= length;
    const std::uint64_t n =
        late ? sweep_slice : std::clamp(due - std::min(due, swept_), std::uint64_t{1}, sweep_slice);
    sweep_done_ = coua_fib_sweep(
                      fib_, n,
                      [](void* self, const coua_fib_record* record) {
                        static_cast<fib_owner*>(self)->count(record->key, record->value, -1);
                      },
                      this) == 1;
    swept_ += n;
    return !sweep_done_ && (late || swept_ < due);
  }
  if (passed < length || coua_fib_next_epoch(fib_) != 0) return false;
  epoch_ = (epoch_ + 1) & COUA_FIB_ENTRY_AGE_MASK;
  if (params_.epoch != nullptr) params_.epoch->store(epoch_, std::memory_order_relaxed);
  begin_epoch(now_ns);
  return false;
}

/// Slowly (2 M buckets a second at most), and only after entries were erased: nothing else makes
/// room in primary buckets.
void fib_owner::tidy(std::uint64_t now_ns) {
  if (now_ns < next_tidy_ns_) return;
  if (!tidying_) {
    coua_fib_stats stats{};
    stats.size = sizeof stats;
    coua_fib_get_stats(fib_, &stats);
    const std::uint64_t erased = stats.erased + stats.aged_out;
    next_tidy_ns_ = now_ns + ns_per_s;
    if (erased == erased_at_tidy_) return;
    erased_at_tidy_ = erased;
    tidying_ = true;
  }
  next_tidy_ns_ = now_ns + tidy_pause_ns;
  tidying_ = coua_fib_tidy(fib_, sweep_slice) == 0;
}

void fib_owner::set_ageing(unsigned seconds, std::uint64_t now_ns) {
  ageing_s_ = seconds;
  // The sweep's position is the table's own; only the clock starts anew.
  epoch_start_ns_ = now_ns;
}

unsigned fib_owner::age_seconds(unsigned epochs, std::uint64_t now_ns) const {
  if (ageing_s_ == 0) return 0;
  const std::uint64_t length = ageing_s_ * ns_per_s / epochs_per_ageing;
  const std::uint64_t in_epoch = epoch_start_ns_ == 0 ? 0 : now_ns - epoch_start_ns_;
  return static_cast<unsigned>((epochs * length + in_epoch + ns_per_s - 1) / ns_per_s);
}

}  // namespace coua::dp
