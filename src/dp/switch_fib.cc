// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "dp/l2/classify.h"
#include "dp/switch_impl.h"

namespace coua::dp {
namespace {

// Entries per command: a load or dump of millions leaves room for other commands between. A command
// ends sooner when its stretch of time is over.
constexpr std::size_t slice_entries = 4096;
constexpr std::size_t store_entries = 256;    // between two looks at the clock
constexpr std::uint64_t dump_buckets = 4096;  // likewise

std::string text_of(std::uint16_t vlan, std::uint64_t mac) {
  char text[40];
  std::snprintf(text, sizeof text, "VLAN %u %02x:%02x:%02x:%02x:%02x:%02x", vlan,
                static_cast<unsigned>(mac >> 40 & 0xFF), static_cast<unsigned>(mac >> 32 & 0xFF),
                static_cast<unsigned>(mac >> 24 & 0xFF), static_cast<unsigned>(mac >> 16 & 0xFF),
                static_cast<unsigned>(mac >> 8 & 0xFF), static_cast<unsigned>(mac & 0xFF));
  return text;
}

std::uint64_t key_of(std::uint16_t domain, std::uint64_t mac) {
  return std::uint64_t{domain} << domain_shift | mac;
}

coua_fib_record record_from(std::uint64_t key, std::uint32_t entry, std::uint32_t epoch) {
  coua_fib_record record{};
  record.key = key;
  record.value = entry >> COUA_FIB_ENTRY_VALUE_SHIFT;
  record.is_static = (entry & COUA_FIB_ENTRY_STATIC) != 0;
  record.age = static_cast<std::uint8_t>((epoch - entry) & COUA_FIB_ENTRY_AGE_MASK);
  return record;
}

}  // namespace

/// Whether the port of this number is the one of this serial, or any if that is 0.
bool switch_impl::is_port(unsigned number, unsigned serial) const {
  return number < max_ports && slots_[number].device &&
         (serial == 0 || slots_[number].serial == serial);
}

/// That the filter lets pass by bridge and VLAN.
std::bitset<n_domains> switch_impl::domains_of(const fib_filter& filter) const {
  std::bitset<n_domains> some;
  if (filter.bridge.empty() && !filter.vlan) return some.set();
  const switch_bridge* bridge = filter.bridge.empty() ? nullptr : find_bridge(filter.bridge);
  if (!filter.bridge.empty() && bridge == nullptr) return some;
  for (std::uint16_t domain = 0; domain < n_domains; ++domain)
    some[domain] = (!filter.vlan || *filter.vlan == domains_.vlan_of(domain)) &&
                   (bridge == nullptr || domains_.is_of(domain, bridge->number()));
  return some;
}

/// But for bridge and VLAN.
bool switch_impl::matches(const fib_filter& filter, const coua_fib_record& record) const {
  return (!filter.port ||
          (*filter.port == record.value &&
           (filter.port_serial == 0 || is_port(*filter.port, filter.port_serial)))) &&
         (!filter.mac || *filter.mac == (record.key & mac_mask)) &&
         (!filter.is_static || *filter.is_static == (record.is_static != 0));
}

fib_entry switch_impl::entry_of(const coua_fib_record& record) const {
  const bool fixed = record.is_static != 0;
  return {domains_.vlan_of(static_cast<std::uint16_t>(record.key >> domain_shift)),
          record.key & mac_mask,
          record.value,
          fixed,
          fixed ? 0 : owner_->age_seconds(record.age, now_ns()),
          record.value < max_ports ? slots_[record.value].serial : 0};
}

result<std::uint64_t> switch_impl::fib_insert(std::span<const fib_entry> entries) {
  std::uint64_t stored = 0;
  while (stored < entries.size()) {
    const auto part = entries.subspan(stored, std::min(slice_entries, entries.size() - stored));
    auto done = tables_->call([&] { return insert_here(part, stored); });
    if (!done) return done;
    stored += *done;
  }
  return stored;
}

result<std::uint64_t> switch_impl::insert_here(std::span<const fib_entry> entries,
                                               std::uint64_t first) {
  std::vector<coua_fib_record> records;
  records.reserve(entries.size());
  std::string reason;
  errc code = errc::invalid;
  std::bitset<n_domains> kept;  // of these entries
  bool some_new = false;
  for (const fib_entry& entry : entries) {
    if (entry.vlan < 1 || entry.vlan > 4094)
      reason = "its VLAN is not in 1 to 4094";
    else if (entry.mac > mac_mask)
      reason = "its address has more than 48 bits";
    else if ((entry.mac & group_bit) != 0)
      reason = "its address is a group address";
    else if (!is_port(entry.port, entry.port_serial)) {
      reason = "its port, number " + std::to_string(entry.port) + ", is not there (any more)";
      code = errc::not_found;
    }
    if (!reason.empty()) break;
    const switch_bridge& bridge = *slots_[entry.port].bridge;
    if (domains_.find(bridge.number(), entry.vlan) == 0) {
      const auto taken = take_domains(bridge, std::span(&entry.vlan, 1), kept);
      if (!taken) {
        reason = taken.error().message();
        code = taken.error().code;
        break;
      }
      some_new = true;
    }
    const std::uint16_t domain = domains_.find(bridge.number(), entry.vlan);
    kept.set(domain);
    coua_fib_record record{};
    record.key = key_of(domain, entry.mac);
    record.value = entry.port;
    record.is_static = entry.is_static;
    records.push_back(record);
  }
  if (some_new) publish();
  const auto [stored, refused] = store_here(records);
  if (refused) {
    coua_fib_stats stats{};
    stats.size = sizeof stats;
    coua_fib_get_stats(owner_->fib(), &stats);
    reason = "the FIB has no room for it (" + std::to_string(stats.entries) + " of its " +
             std::to_string(stats.slots) + " slots are in use); " + std::to_string(first + stored) +
             " were stored";
    code = errc::no_room;
  } else if (reason.empty() || stored < records.size()) {
    return stored;
  }
  const fib_entry& bad = entries[stored];
  return fail(code,
              "entry " + std::to_string(first + stored) + " (" + text_of(bad.vlan, bad.mac) + ")",
              reason);
}

switch_impl::store_result switch_impl::store_here(std::span<const coua_fib_record> records) {
  const std::uint64_t end = now_ns() + stretch_ns;
  std::size_t stored = 0;
  do {
    const auto part = records.subspan(stored, std::min(store_entries, records.size() - stored));
    const std::size_t n = owner_->store(part);
    stored += n;
    if (n < part.size()) return {stored, true};
  } while (stored < records.size() && now_ns() < end);
  return {stored, false};
}

result<void> switch_impl::fib_erase(const std::string& bridge, std::uint16_t vlan,
                                    std::uint64_t mac) {
  return tables_->call([&]() -> result<void> {
    const switch_bridge* found = find_bridge(bridge);
    if (found == nullptr) return no_bridge(bridge);
    const bool valid = vlan < n_vlans && mac <= mac_mask;
    const std::uint16_t domain = valid ? domains_.find(found->number(), vlan) : 0;
    if (domain != 0 && owner_->erase(key_of(domain, mac))) return {};
    return fail(errc::not_found, text_of(vlan, mac), "there is no such entry");
  });
}

std::uint64_t switch_impl::wait_for(const flush_ptr& job) const {
  while (!tables_->call([&] { return job->done(); }))
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  return job->removed();
}

result<std::uint64_t> switch_impl::fib_flush(const fib_filter& filter) {
  const bool statics = filter.is_static.value_or(false);
  const auto no_port = [&] {
    return fail(errc::not_found, "port number " + std::to_string(*filter.port),
                "is not there (any more)");
  };
  if (filter.mac) {
    // One address has at most one entry per domain: no need to go over the table.
    return tables_->call([&]() -> result<std::uint64_t> {
      if (!find_bridge(filter.bridge)) return no_bridge(filter.bridge);
      if (filter.port && !is_port(*filter.port, filter.port_serial)) return no_port();
      const std::bitset<n_domains> domains = domains_of(filter);
      std::uint64_t removed = 0;
      for (std::uint16_t domain = 0; domain < n_domains; ++domain) {
        if (!domains[domain]) continue;
        const std::uint64_t key = key_of(domain, *filter.mac & mac_mask);
        const std::uint32_t entry = owner_->find(key);
        if (entry == COUA_FIB_MISS) continue;
        const coua_fib_record record = record_from(key, entry, owner_->epoch());
        if (matches(filter, record) && (record.is_static != 0) == statics)
          removed += owner_->erase(key) ? 1 : 0;
      }
      return removed;
    });
  }
  flush_filter wanted;
  wanted.statics = statics;
  wanted.dynamics = !statics;
  if (filter.port) wanted.ports = *filter.port < max_ports ? port_bit(*filter.port) : 0;
  const auto job = tables_->call([&]() -> result<flush_ptr> {
    if (!find_bridge(filter.bridge)) return no_bridge(filter.bridge);
    wanted.domains = domains_of(filter);
    if (filter.port && !is_port(*filter.port, filter.port_serial)) return no_port();
    flush_ptr started = owner_->start_flush(wanted);
    if (!started) return fail(errc::no_memory, "FIB flush", "no memory for a cursor");
    return started;
  });
  if (!job) return tl::unexpected(job.error());
  return wait_for(*job);
}

std::size_t switch_impl::fib_store(std::span<const coua_fib_record> records) {
  std::size_t stored = 0;
  while (stored < records.size()) {
    const auto part = records.subspan(stored, std::min(slice_entries, records.size() - stored));
    const auto done = tables_->call([&] { return store_here(part); });
    stored += done.stored;
    if (done.refused) break;
  }
  return stored;
}

std::size_t switch_impl::fib_remove(std::span<const std::uint64_t> keys) {
  std::size_t removed = 0;
  for (std::size_t at = 0; at < keys.size(); at += slice_entries) {
    const auto part = keys.subspan(at, std::min(slice_entries, keys.size() - at));
    removed += tables_->call([&] {
      std::size_t n = 0;
      for (const std::uint64_t key : part) n += owner_->erase(key) ? 1 : 0;
      return n;
    });
  }
  return removed;
}

result<fib_entry> switch_impl::fib_find(const std::string& bridge, std::uint16_t vlan,
                                        std::uint64_t mac) const {
  if (vlan >= n_vlans || mac > mac_mask)
    return fail(errc::invalid, text_of(vlan, mac), "no such key is possible");
  return tables_->call([&]() -> result<fib_entry> {
    const switch_bridge* found = find_bridge(bridge);
    if (found == nullptr) return no_bridge(bridge);
    const std::uint16_t domain = domains_.find(found->number(), vlan);
    const std::uint64_t key = key_of(domain, mac);
    const std::uint32_t entry = domain != 0 ? owner_->find(key) : COUA_FIB_MISS;
    if (entry == COUA_FIB_MISS)
      return fail(errc::not_found, text_of(vlan, mac), "there is no such entry");
    return entry_of(record_from(key, entry, owner_->epoch()));
  });
}

result<void> switch_impl::fib_dump(
    const fib_filter& filter, const std::function<bool(std::span<const fib_entry>)>& sink) const {
  coua_fib_cursor* cursor = nullptr;
  if (!tables_->call([&] { return find_bridge(filter.bridge) != nullptr; }))
    return no_bridge(filter.bridge);
  if (tables_->call([&] { return coua_fib_cursor_open(owner_->fib(), &cursor); }) != 0)
    return fail(errc::no_memory, "FIB dump", "no memory for a cursor");
  std::vector<coua_fib_record> records(slice_entries);
  std::vector<fib_entry> found;
  bool more = true, lost = false;
  while (more) {
    found.clear();
    more = tables_->call([&] {
      const std::uint64_t end = now_ns() + stretch_ns;
      const std::bitset<n_domains> domains = domains_of(filter);
      while (found.size() < slice_entries && now_ns() < end) {
        const long n = coua_fib_cursor_step(cursor, records.data(), records.size(), dump_buckets);
        lost = n == -EOVERFLOW;
        if (n < 0) return false;  // or the end: nothing else is possible with these arguments
        for (long i = 0; i < n; ++i) {
          const coua_fib_record& record = records[static_cast<std::size_t>(i)];
          if (domains[record.key >> domain_shift] && matches(filter, record))
            found.push_back(entry_of(record));
        }
      }
      return true;
    });
    if (!found.empty() && !sink(found)) break;
  }
  tables_->call([&] { coua_fib_cursor_close(cursor); });
  if (lost)
    return fail(errc::busy, "FIB dump",
                "more entries moved than it can keep track of while it waited: ask again, and read "
                "faster");
  return {};
}

}  // namespace coua::dp
