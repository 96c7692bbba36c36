// SPDX-License-Identifier: Apache-2.0
//
// coua/fib.h for C++20: handles that close themselves, spans instead of pointer and count,
// callables instead of function pointers. Every function is one call of the C API: see there for
// ranges, errors (negative errno) and thread rules. No exceptions. The ABI promise is that of
// the C API; this header promises source compatibility only.
//
//   coua::api::fib fib;
//   coua_fib_params params = COUA_FIB_PARAMS_INIT;
//   params.entries = 1'000'000;
//   std::string why;
//   if (int rc = coua::api::fib::create(params, fib, &why); rc < 0) ...
//   fib.insert({.key = coua::api::fib_key(vlan, mac), .value = port, ...});
//   coua::api::fib_reader reader;
//   fib.open(reader);
//   reader.lookup_batch(keys, entries);
#ifndef COUA_FIB_HPP
#define COUA_FIB_HPP

#include <coua/fib.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace coua::api {

inline std::uint64_t fib_key(std::uint16_t bridge_domain,
                             std::span<const std::uint8_t, 6> mac) noexcept {
  return coua_fib_key(bridge_domain, mac.data());
}

/// The answer of a look-up.
struct fib_entry {
  std::uint32_t word = COUA_FIB_MISS;

  constexpr bool hit() const noexcept { return word != COUA_FIB_MISS; }
  constexpr explicit operator bool() const noexcept { return hit(); }
  constexpr std::uint32_t value() const noexcept { return word >> COUA_FIB_ENTRY_VALUE_SHIFT; }
  constexpr bool is_static() const noexcept { return (word & COUA_FIB_ENTRY_STATIC) != 0; }
  constexpr std::uint32_t stamp() const noexcept { return word & COUA_FIB_ENTRY_AGE_MASK; }
};
static_assert(sizeof(fib_entry) == sizeof(std::uint32_t) &&
              std::is_trivially_copyable_v<fib_entry>);

namespace detail {
struct fib_closer {
  void operator()(coua_fib* fib) const noexcept { coua_fib_destroy(fib); }
  void operator()(coua_fib_reader* reader) const noexcept { coua_fib_reader_destroy(reader); }
  void operator()(coua_fib_cursor* cursor) const noexcept { coua_fib_cursor_close(cursor); }
};
}  // namespace detail

/// A looking-up thread's handle. Closed before its table is. `entries` of every call is at least
/// as long as `keys`.
class fib_reader {
 public:
  fib_entry lookup(std::uint64_t key) noexcept { return {coua_fib_lookup(get(), key)}; }

  std::size_t lookup_batch(std::span<const std::uint64_t> keys,
                           std::span<std::uint32_t> entries) noexcept {
    assert(entries.size() >= keys.size());
    return coua_fib_lookup_batch(get(), keys.data(), keys.size(), entries.data());
  }
  std::size_t lookup_ahead(std::span<const std::uint64_t> keys, std::span<std::uint32_t> entries,
                           std::span<const std::uint64_t> next_keys) noexcept {
    assert(entries.size() >= keys.size());
    return coua_fib_lookup_ahead(get(), keys.data(), keys.size(), entries.data(), next_keys.data(),
                                 next_keys.size());
  }
  std::size_t lookup_refresh(std::span<const std::uint64_t> keys,
                             std::span<std::uint32_t> entries) noexcept {
    assert(entries.size() >= keys.size());
    return coua_fib_lookup_refresh(get(), keys.data(), keys.size(), entries.data());
  }

  /// The part of `entries` that was written: answers to earlier keys, in order.
  std::span<std::uint32_t> pipeline(std::span<const std::uint64_t> keys,
                                    std::span<std::uint32_t> entries) noexcept {
    assert(entries.size() >= keys.size());
    return entries.first(coua_fib_pipeline(get(), keys.data(), keys.size(), entries.data()));
  }
  std::size_t pipeline_depth() const noexcept { return coua_fib_pipeline_depth(get()); }
  /// `entries` has room for pipeline_depth() answers.
  std::span<std::uint32_t> pipeline_drain(std::span<std::uint32_t> entries) noexcept {
    assert(entries.size() >= pipeline_depth());
    return entries.first(coua_fib_pipeline_drain(get(), entries.data()));
  }

  coua_fib_reader* get() const noexcept { return reader_.get(); }
  explicit operator bool() const noexcept { return reader_ != nullptr; }
  void close() noexcept { reader_.reset(); }

 private:
  friend class fib;
  std::unique_ptr<coua_fib_reader, detail::fib_closer> reader_;
};

/// An iteration in progress. Closed before its table is.
class fib_cursor {
 public:
  /// The records written; none at the end, or when the cursor is lost (step() then answers
  /// -EOVERFLOW). `records` has room for at least 8.
  std::span<coua_fib_record> next(std::span<coua_fib_record> records) noexcept {
    assert(records.size() >= 8);
    long n = coua_fib_cursor_next(get(), records.data(), records.size());
    return records.first(n > 0 ? static_cast<std::size_t>(n) : 0);
  }

  /// As coua_fib_cursor_step: the number of records, or a negative errno.
  long step(std::span<coua_fib_record> records, std::uint64_t max_buckets) noexcept {
    return coua_fib_cursor_step(get(), records.data(), records.size(), max_buckets);
  }

  coua_fib_cursor* get() const noexcept { return cursor_.get(); }
  explicit operator bool() const noexcept { return cursor_ != nullptr; }
  void close() noexcept { cursor_.reset(); }

 private:
  friend class fib;
  std::unique_ptr<coua_fib_cursor, detail::fib_closer> cursor_;
};

/// The table and its writer.
class fib {
 public:
  /// 0, and `out` is the table; or an error of coua_fib_create (-EINVAL, -ENOMEM, -ENOENT, -EPERM,
  /// -ENOTSUP, -EIO), and `message`, when not null, says why.
  static int create(const coua_fib_params& params, fib& out, std::string* message = nullptr) {
    char text[256] = "";
    coua_fib* made = nullptr;
    int rc = coua_fib_create(&params, &made, text, sizeof text);
    if (rc == 0) out.fib_.reset(made);
    if (rc != 0 && message != nullptr) *message = text;
    return rc;
  }

  int open(fib_reader& out) noexcept {
    coua_fib_reader* reader = nullptr;
    int rc = coua_fib_reader_create(get(), &reader);
    if (rc == 0) out.reader_.reset(reader);
    return rc;
  }
  int open(fib_cursor& out) noexcept {
    coua_fib_cursor* cursor = nullptr;
    int rc = coua_fib_cursor_open(get(), &cursor);
    if (rc == 0) out.cursor_.reset(cursor);
    return rc;
  }

  coua_fib_stats stats() const noexcept {
    coua_fib_stats stats{};
    stats.size = sizeof stats;
    coua_fib_get_stats(get(), &stats);
    return stats;
  }
  const char* simd() const noexcept { return coua_fib_simd(get()); }

  int insert(const coua_fib_record& record) noexcept { return coua_fib_insert(get(), &record); }
  /// `results` is empty or as long as `records`.
  std::size_t insert_batch(std::span<const coua_fib_record> records,
                           std::span<std::int8_t> results = {}) noexcept {
    assert(results.empty() || results.size() >= records.size());
    return coua_fib_insert_batch(get(), records.data(), records.size(),
                                 results.empty() ? nullptr : results.data());
  }
  int erase(std::uint64_t key) noexcept { return coua_fib_erase(get(), key); }
  std::size_t erase_batch(std::span<const std::uint64_t> to_erase) noexcept {
    return coua_fib_erase_batch(get(), to_erase.data(), to_erase.size());
  }
  int refresh(std::uint64_t key) noexcept { return coua_fib_refresh(get(), key); }

  enum class keys { any, distinct };
  /// `next(unsigned thread, std::span<coua_fib_record> room)` returns how many it filled. It runs
  /// on several threads at once and must not throw.
  template <typename Next>
  int bulk_load(Next&& next, unsigned threads = 0, keys which = keys::any) {
    using source = std::remove_reference_t<Next>;
    auto call = [](void* context, unsigned thread, coua_fib_record* records,
                   std::size_t max) noexcept -> std::size_t {
      return (*static_cast<source*>(context))(thread, std::span(records, max));
    };
    return coua_fib_bulk_load(get(), call, context_of(next), threads, which == keys::distinct);
  }

  int sweep(std::uint64_t n_buckets) noexcept {
    return coua_fib_sweep(get(), n_buckets, nullptr, nullptr);
  }
  /// `expired(const coua_fib_record&)` must not call the writer's functions, nor throw.
  template <typename Expired>
  int sweep(std::uint64_t n_buckets, Expired&& expired) {
    using sink = std::remove_reference_t<Expired>;
    auto call = [](void* context, const coua_fib_record* record) noexcept {
      (*static_cast<sink*>(context))(*record);
    };
    return coua_fib_sweep(get(), n_buckets, call, context_of(expired));
  }
  int tidy(std::uint64_t n_buckets) noexcept { return coua_fib_tidy(get(), n_buckets); }
  int next_epoch() noexcept { return coua_fib_next_epoch(get()); }

  coua_fib* get() const noexcept { return fib_.get(); }
  explicit operator bool() const noexcept { return fib_ != nullptr; }

 private:
  template <typename T>
  static void* context_of(T& callable) noexcept {
    return const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
  }
  std::unique_ptr<coua_fib, detail::fib_closer> fib_;
};

}  // namespace coua::api
#endif
