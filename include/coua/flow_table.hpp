// SPDX-License-Identifier: Apache-2.0
//
// coua/flow_table.h for C++20: keys and values of your own types, handles that close themselves,
// spans instead of pointer and count. Every function is one call of the C API: see there for
// ranges, units, errors (negative errno) and thread rules. No exceptions. The ABI promise is that
// of the C API; this header promises source compatibility only.
//
//   struct flow { std::uint32_t from, to; std::uint16_t from_port, to_port; std::uint32_t proto; };
//   coua::api::flow_table<flow, std::uint64_t> table;
//   coua_flow_params params = COUA_FLOW_PARAMS_INIT;
//   params.entries = 1'000'000;
//   params.timers = 1;
//   std::string why;
//   if (int rc = table.create(params, table, &why); rc < 0) ...
//   table.insert({...}, 7, 4);  // for 4 units of time
//   coua::api::flow_reader<flow, std::uint64_t> reader;
//   table.open(reader);
//   reader.lookup_batch(keys, values, hits);
//
// A key is trivially copyable, and equal keys have equal bytes: a struct with padding, or with a
// floating-point number, does not compile as a key. A value is trivially copyable; an empty struct
// takes no room: the table is a set.
//
// Spans of values, hits, hashes and results are as long as the keys (hits: a word for each 64), or
// empty where they are not wanted.
#ifndef COUA_FLOW_TABLE_HPP
#define COUA_FLOW_TABLE_HPP

#include <coua/flow_table.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace coua::api {

template <typename T>
concept flow_key = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
                   sizeof(T) >= COUA_FLOW_KEY_BYTES_MIN && sizeof(T) <= COUA_FLOW_KEY_BYTES_MAX;

template <typename T>
concept flow_value = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                     sizeof(T) <= COUA_FLOW_VALUE_BYTES_MAX;

/// The value of a table that only knows which keys it has.
struct no_value {};

constexpr std::size_t flow_words(std::size_t n) noexcept { return COUA_FLOW_WORDS(n); }
/// Whether key `i` of a batch was found.
constexpr bool flow_hit(std::span<const std::uint64_t> hits, std::size_t i) noexcept {
  return (hits[i / 64] >> i % 64 & 1) != 0;
}

namespace detail {
struct flow_closer {
  void operator()(coua_flow_table* table) const noexcept { coua_flow_destroy(table); }
  void operator()(coua_flow_reader* reader) const noexcept { coua_flow_reader_destroy(reader); }
  void operator()(coua_flow_cursor* cursor) const noexcept { coua_flow_cursor_close(cursor); }
  void operator()(coua_flow_slab* slab) const noexcept { coua_flow_slab_destroy(slab); }
};
/// What the C API takes for a span that may be left out.
template <typename T>
T* unless_empty(std::span<T> wanted, [[maybe_unused]] std::size_t n) noexcept {
  assert(wanted.empty() || wanted.size() >= n);
  return wanted.empty() ? nullptr : wanted.data();
}
}  // namespace detail

/// A looking-up thread's handle. Closed before its table is.
template <flow_key Key, flow_value Value>
class flow_reader {
 public:
  using keys_in = std::span<const Key>;
  using values_out = std::span<Value>;
  using hits_out = std::span<std::uint64_t>;

  std::optional<Value> lookup(const Key& key) noexcept {
    Value value{};
    if (coua_flow_lookup(get(), &key, &value) == 0) return std::nullopt;
    return value;
  }
  bool contains(const Key& key) noexcept { return coua_flow_lookup(get(), &key, nullptr) != 0; }

  std::size_t lookup_batch(keys_in keys, values_out values, hits_out hits) noexcept {
    return coua_flow_lookup_batch(get(), keys.data(), keys.size(), room_for_values(values, keys),
                                  room_for_hits(hits, keys));
  }
  std::size_t lookup_hashed(keys_in keys, std::span<const std::uint64_t> hashes, values_out values,
                            hits_out hits) noexcept {
    assert(hashes.size() >= keys.size());
    return coua_flow_lookup_hashed(get(), keys.data(), hashes.data(), keys.size(),
                                   room_for_values(values, keys), room_for_hits(hits, keys));
  }
  std::size_t lookup_ahead(keys_in keys, values_out values, hits_out hits,
                           keys_in next_keys) noexcept {
    return coua_flow_lookup_ahead(get(), keys.data(), keys.size(), room_for_values(values, keys),
                                  room_for_hits(hits, keys), next_keys.data(), next_keys.size());
  }
  /// How many were found, or -EINVAL.
  long lookup_refresh(keys_in keys, values_out values, hits_out hits,
                      std::uint32_t units) noexcept {
    return coua_flow_lookup_refresh(get(), keys.data(), keys.size(), room_for_values(values, keys),
                                    room_for_hits(hits, keys), units);
  }

  /// How many answers to earlier keys were written, in order.
  std::size_t pipeline(keys_in keys, values_out values, hits_out hits) noexcept {
    return coua_flow_pipeline(get(), keys.data(), keys.size(), room_for_values(values, keys),
                              room_for_hits(hits, keys));
  }
  std::size_t pipeline_depth() const noexcept { return coua_flow_pipeline_depth(get()); }
  /// The spans have room for pipeline_depth() answers, or are empty.
  std::size_t pipeline_drain(values_out values, hits_out hits) noexcept {
    return coua_flow_pipeline_drain(get(), detail::unless_empty(values, pipeline_depth()),
                                    detail::unless_empty(hits, flow_words(pipeline_depth())));
  }

  coua_flow_reader* get() const noexcept { return reader_.get(); }
  explicit operator bool() const noexcept { return reader_ != nullptr; }
  void close() noexcept { reader_.reset(); }

 private:
  template <flow_key, flow_value>
  friend class flow_table;
  // Not overloads: a value may be a word, too.
  static Value* room_for_values(values_out values, keys_in keys) noexcept {
    return detail::unless_empty(values, keys.size());
  }
  static std::uint64_t* room_for_hits(hits_out hits, keys_in keys) noexcept {
    return detail::unless_empty(hits, flow_words(keys.size()));
  }
  std::unique_ptr<coua_flow_reader, detail::flow_closer> reader_;
};

/// An iteration in progress. Closed before its table is.
template <flow_key Key, flow_value Value>
class flow_cursor {
 public:
  /// As coua_flow_cursor_next: the number of entries, -ENODATA at the end, -EOVERFLOW. `keys` has
  /// room for at least 8; `values` and `units` are as long, or empty.
  long next(std::span<Key> keys, std::span<Value> values, std::span<std::uint32_t> units,
            std::uint64_t max_buckets) noexcept {
    return coua_flow_cursor_next(get(), keys.data(), detail::unless_empty(values, keys.size()),
                                 detail::unless_empty(units, keys.size()), keys.size(),
                                 max_buckets);
  }

  coua_flow_cursor* get() const noexcept { return cursor_.get(); }
  explicit operator bool() const noexcept { return cursor_ != nullptr; }
  void close() noexcept { cursor_.reset(); }

 private:
  template <flow_key, flow_value>
  friend class flow_table;
  std::unique_ptr<coua_flow_cursor, detail::flow_closer> cursor_;
};

/// The table and its writer.
template <flow_key Key, flow_value Value>
class flow_table {
 public:
  using keys_in = std::span<const Key>;
  using values_in = std::span<const Value>;
  using hashes_in = std::span<const std::uint64_t>;
  using results_out = std::span<std::int8_t>;

  /// 0, and `out` is the table; or an error of coua_flow_create (-EINVAL, -ENOMEM, -ENOENT, -EPERM,
  /// -ENOTSUP, -EIO), and `message`, when not null, says why. Widths and strides are those of the
  /// types, whatever `params` says.
  static int create(coua_flow_params params, flow_table& out, std::string* message = nullptr) {
    char text[256] = "";
    coua_flow_table* made = nullptr;
    params.key_bytes = params.key_stride = sizeof(Key);
    params.value_bytes = std::is_empty_v<Value> ? 0 : sizeof(Value);
    params.value_stride = sizeof(Value);
    const int rc = coua_flow_create(&params, &made, text, sizeof text);
    if (rc == 0) out.table_.reset(made);
    if (rc != 0 && message != nullptr) *message = text;
    return rc;
  }
  /// The same for a table with timers, and `expired(const Key&, const Value&)` is told of every
  /// entry that expired. It lives as long as the table, calls no function of it, and does not
  /// throw.
  template <typename Expired>
    requires std::is_invocable_v<Expired&, const Key&, const Value&>
  static int create(coua_flow_params params, flow_table& out, Expired& expired,
                    std::string* message = nullptr) {
    params.expired = [](void* context, const void* key, const void* value) noexcept {
      alignas(Key) std::byte key_bytes[sizeof(Key)];
      std::memcpy(key_bytes, key, sizeof(Key));
      Value copy{};
      if constexpr (!std::is_empty_v<Value>) std::memcpy(&copy, value, sizeof copy);
      (*static_cast<Expired*>(context))(*reinterpret_cast<const Key*>(key_bytes), copy);
    };
    params.expired_context = const_cast<void*>(static_cast<const void*>(std::addressof(expired)));
    return create(params, out, message);
  }

  int open(flow_reader<Key, Value>& out) noexcept {
    coua_flow_reader* reader = nullptr;
    const int rc = coua_flow_reader_create(get(), &reader);
    if (rc == 0) out.reader_.reset(reader);
    return rc;
  }
  int open(flow_cursor<Key, Value>& out) noexcept {
    coua_flow_cursor* cursor = nullptr;
    const int rc = coua_flow_cursor_open(get(), &cursor);
    if (rc == 0) out.cursor_.reset(cursor);
    return rc;
  }

  coua_flow_stats stats() const noexcept {
    coua_flow_stats stats{};
    stats.size = sizeof stats;
    coua_flow_get_stats(get(), &stats);
    return stats;
  }
  const char* simd() const noexcept { return coua_flow_simd(get()); }
  std::uint64_t hash(const Key& key) const noexcept { return coua_flow_hash(get(), &key); }
  void hash_batch(keys_in keys, std::span<std::uint64_t> hashes) const noexcept {
    assert(hashes.size() >= keys.size());
    coua_flow_hash_batch(get(), keys.data(), keys.size(), hashes.data());
  }

  // `units`: the life of the entry in a table with timers, 0 in one without. The batches return how
  // many are in the table now, or -EINVAL.

  int insert(const Key& key, const Value& value, std::uint32_t units = 0) noexcept {
    return coua_flow_insert(get(), &key, &value, units);
  }
  int add(const Key& key, const Value& value, std::uint32_t units = 0) noexcept {
    return coua_flow_add(get(), &key, &value, units);
  }
  int find_or_add(const Key& key, Value& value, std::uint32_t units = 0) noexcept {
    return coua_flow_find_or_add(get(), &key, &value, units);
  }
  int erase(const Key& key, Value* value = nullptr) noexcept {
    return coua_flow_erase(get(), &key, value);
  }
  int refresh(const Key& key, std::uint32_t units) noexcept {
    return coua_flow_refresh(get(), &key, units);
  }

  long insert_batch(keys_in keys, values_in values, std::uint32_t units = 0,
                    results_out results = {}, hashes_in hashes = {}) noexcept {
    assert(values.size() >= keys.size());
    return coua_flow_insert_batch(get(), keys.data(), of(hashes, keys), values.data(), keys.size(),
                                  units, of(results, keys));
  }
  long add_batch(keys_in keys, values_in values, std::uint32_t units = 0, results_out results = {},
                 hashes_in hashes = {}) noexcept {
    assert(values.size() >= keys.size());
    return coua_flow_add_batch(get(), keys.data(), of(hashes, keys), values.data(), keys.size(),
                               units, of(results, keys));
  }
  long find_or_add_batch(keys_in keys, std::span<Value> values, std::uint32_t units = 0,
                         results_out results = {}, hashes_in hashes = {}) noexcept {
    assert(values.size() >= keys.size());
    return coua_flow_find_or_add_batch(get(), keys.data(), of(hashes, keys), values.data(),
                                       keys.size(), units, of(results, keys));
  }
  std::size_t erase_batch(keys_in keys, hashes_in hashes = {}) noexcept {
    return coua_flow_erase_batch(get(), keys.data(), of(hashes, keys), keys.size());
  }

  int set_time(std::uint64_t now_ms) noexcept { return coua_flow_set_time(get(), now_ms); }
  int sweep(std::uint64_t n_buckets) noexcept { return coua_flow_sweep(get(), n_buckets); }

  /// As coua_flow_drain: the number of entries, or -EINVAL. `values` is as long as `keys`, or
  /// empty.
  long drain(std::span<Key> keys, std::span<Value> values) noexcept {
    return coua_flow_drain(get(), keys.data(), of(values, keys), keys.size());
  }

  coua_flow_table* get() const noexcept { return table_.get(); }
  explicit operator bool() const noexcept { return table_ != nullptr; }

 private:
  template <typename T>
  static T* of(std::span<T> wanted, keys_in keys) noexcept {
    return detail::unless_empty(wanted, keys.size());
  }
  std::unique_ptr<coua_flow_table, detail::flow_closer> table_;
};

/// Cells at addresses that stay, for state that changes with each packet. Cells are zero at first,
/// and then as they were left: `Cell` is a type for which bytes of zero are a value.
template <typename Cell>
  requires(std::is_trivially_copyable_v<Cell> && alignof(Cell) <= 64)
class flow_slab {
 public:
  static int create(std::uint64_t n, flow_slab& out) noexcept {
    coua_flow_slab* made = nullptr;
    const int rc = coua_flow_slab_create(n, sizeof(Cell), &made);
    if (rc == 0) out.slab_.reset(made);
    return rc;
  }
  int take(std::uint32_t& index) noexcept { return coua_flow_slab_take(get(), &index); }
  int give(std::uint32_t index) noexcept { return coua_flow_slab_give(get(), index); }
  Cell& operator[](std::uint32_t index) const noexcept {
    return *static_cast<Cell*>(coua_flow_slab_cell(get(), index));
  }
  std::uint64_t taken() const noexcept { return coua_flow_slab_taken(get()); }

  coua_flow_slab* get() const noexcept { return slab_.get(); }
  explicit operator bool() const noexcept { return slab_ != nullptr; }

 private:
  std::unique_ptr<coua_flow_slab, detail::flow_closer> slab_;
};

}  // namespace coua::api
#endif
