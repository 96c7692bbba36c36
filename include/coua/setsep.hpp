// SPDX-License-Identifier: Apache-2.0
//
// coua/setsep.h for C++20: handles that close themselves, keys of a type, spans instead of pointer
// and count. Every function is one call of the C API: see there for ranges, errors (negative errno)
// and thread rules. No exceptions but bad_alloc, from what returns a vector. The ABI promise is
// that of the C API; this header promises source compatibility only.
//
//   coua::api::setsep_builder<std::uint64_t> from;
//   coua_setsep_params params = COUA_SETSEP_PARAMS_INIT;
//   params.value_bits = 2;
//   std::string why;
//   if (int rc = from.create(params, keys, nodes, from, &why); rc < 0) ...
//   coua::api::setsep_replica<std::uint64_t> to;
//   to.create(COUA_SETSEP_REPLICA_PARAMS_INIT, to);
//   to.load(from.snapshot());
//   from.put(key, 3);
//   to.apply(from.take_delta());
//   coua::api::setsep_reader<std::uint64_t> reader;
//   to.open(reader);
//   reader.lookup_batch(keys, values);
#ifndef COUA_SETSEP_HPP
#define COUA_SETSEP_HPP

#include <coua/setsep.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace coua::api {

namespace detail {
struct setsep_closer {
  void operator()(coua_setsep_builder* one) const noexcept { coua_setsep_builder_destroy(one); }
  void operator()(coua_setsep_replica* one) const noexcept { coua_setsep_replica_destroy(one); }
  void operator()(coua_setsep_reader* one) const noexcept { coua_setsep_reader_destroy(one); }
};
}  // namespace detail

/// Keys are compared and hashed by their bytes.
template <typename Key>
concept setsep_key =
    std::has_unique_object_representations_v<Key> && sizeof(Key) <= COUA_SETSEP_KEY_BYTES_MAX;

/// A looking-up thread's handle. Closed before its builder or replica is. `values` of every call is
/// at least as long as `keys`.
template <setsep_key Key>
class setsep_reader {
 public:
  std::uint16_t lookup(const Key& key) noexcept {
    std::uint16_t value = 0;
    coua_setsep_lookup_batch(get(), &key, 1, &value);
    return value;
  }
  void lookup_batch(std::span<const Key> keys, std::span<std::uint16_t> values) noexcept {
    assert(values.size() >= keys.size());
    coua_setsep_lookup_batch(get(), keys.data(), keys.size(), values.data());
  }
  int hash_batch(std::span<const Key> keys, std::span<coua_setsep_hash> hashes) const noexcept {
    assert(hashes.size() >= keys.size());
    return coua_setsep_hash_batch(get(), keys.data(), keys.size(), hashes.data());
  }
  void lookup_hashed(std::span<const coua_setsep_hash> hashes,
                     std::span<std::uint16_t> values) noexcept {
    assert(values.size() >= hashes.size());
    coua_setsep_lookup_hashed(get(), hashes.data(), hashes.size(), values.data());
  }
  /// The part of `values` that was written: those of earlier keys, in order.
  std::span<std::uint16_t> pipeline(std::span<const coua_setsep_hash> hashes,
                                    std::span<std::uint16_t> values) noexcept {
    assert(values.size() >= hashes.size());
    return values.first(coua_setsep_pipeline(get(), hashes.data(), hashes.size(), values.data()));
  }
  std::size_t pipeline_depth() const noexcept { return coua_setsep_pipeline_depth(get()); }
  /// `values` has room for pipeline_depth() of them.
  std::span<std::uint16_t> pipeline_drain(std::span<std::uint16_t> values) noexcept {
    assert(values.size() >= pipeline_depth());
    return values.first(coua_setsep_pipeline_drain(get(), values.data()));
  }
  void pause() noexcept { coua_setsep_reader_pause(get()); }

  coua_setsep_reader* get() const noexcept { return reader_.get(); }
  explicit operator bool() const noexcept { return reader_ != nullptr; }
  void close() noexcept { reader_.reset(); }

 private:
  template <setsep_key>
  friend class setsep_builder;
  template <setsep_key>
  friend class setsep_replica;
  std::unique_ptr<coua_setsep_reader, detail::setsep_closer> reader_;
};

/// The side that knows the keys, and its writer.
template <setsep_key Key>
class setsep_builder {
 public:
  /// 0, and `out` is the builder; or an error, and `message`, when not null, says why. The length
  /// of a key is that of `Key`; `values` is as long as `keys`.
  static int create(coua_setsep_params params, std::span<const Key> keys,
                    std::span<const std::uint16_t> values, setsep_builder& out,
                    std::string* message = nullptr) {
    assert(values.size() >= keys.size());
    char text[256] = "";
    coua_setsep_builder* made = nullptr;
    params.key_bytes = sizeof(Key);
    const int rc = coua_setsep_builder_create(&params, keys.data(), values.data(), keys.size(),
                                              &made, text, sizeof text);
    if (rc == 0) out.builder_.reset(made);
    if (rc != 0 && message != nullptr) *message = text;
    return rc;
  }
  int open(setsep_reader<Key>& out) noexcept {
    coua_setsep_reader* reader = nullptr;
    const int rc = coua_setsep_builder_reader(get(), &reader);
    if (rc == 0) out.reader_.reset(reader);
    return rc;
  }

  int put(const Key& key, std::uint16_t value) noexcept {
    return coua_setsep_put(get(), &key, value);
  }
  int remove(const Key& key) noexcept { return coua_setsep_remove(get(), &key); }
  int value_of(const Key& key) const noexcept { return coua_setsep_get(get(), &key); }
  int grow() noexcept { return coua_setsep_grow(get()); }

  /// Empty: nothing changed.
  std::vector<std::uint8_t> take_delta() {
    std::vector<std::uint8_t> delta(coua_setsep_delta_bytes(get()));
    if (!delta.empty()) coua_setsep_take_delta(get(), delta.data(), delta.size());
    return delta;
  }
  /// Empty: something changed since the last delta.
  std::vector<std::uint8_t> snapshot() const {
    std::vector<std::uint8_t> made(coua_setsep_snapshot_bytes(get()));
    if (coua_setsep_snapshot(get(), made.data(), made.size()) != 0) made.clear();
    return made;
  }
  int write_snapshot(const char* path, std::string* message = nullptr) const {
    char text[256] = "";
    const int rc = coua_setsep_write_snapshot(get(), path, text, sizeof text);
    if (rc != 0 && message != nullptr) *message = text;
    return rc;
  }
  coua_setsep_stats stats() const noexcept {
    coua_setsep_stats stats{};
    stats.size = sizeof stats;
    coua_setsep_get_stats(get(), &stats);
    return stats;
  }

  coua_setsep_builder* get() const noexcept { return builder_.get(); }
  explicit operator bool() const noexcept { return builder_ != nullptr; }

 private:
  std::unique_ptr<coua_setsep_builder, detail::setsep_closer> builder_;
};

/// The side that does not know the keys, and its writer.
template <setsep_key Key>
class setsep_replica {
 public:
  static int create(const coua_setsep_replica_params& params, setsep_replica& out) noexcept {
    coua_setsep_replica* made = nullptr;
    const int rc = coua_setsep_replica_create(&params, &made);
    if (rc == 0) out.replica_.reset(made);
    return rc;
  }
  int open(setsep_reader<Key>& out) noexcept {
    coua_setsep_reader* reader = nullptr;
    const int rc = coua_setsep_replica_reader(get(), &reader);
    if (rc == 0) out.reader_.reset(reader);
    return rc;
  }
  int load(std::span<const std::uint8_t> snapshot, std::string* message = nullptr) {
    char text[256] = "";
    const int rc =
        coua_setsep_replica_load(get(), snapshot.data(), snapshot.size(), text, sizeof text);
    if (rc != 0 && message != nullptr) *message = text;
    return rc;
  }
  int map(const char* path, std::string* message = nullptr) {
    char text[256] = "";
    const int rc = coua_setsep_replica_map(get(), path, text, sizeof text);
    if (rc != 0 && message != nullptr) *message = text;
    return rc;
  }
  /// COUA_SETSEP_OLD for an empty one: take_delta() gives it when nothing changed.
  int apply(std::span<const std::uint8_t> delta) noexcept {
    return coua_setsep_replica_apply(get(), delta.data(), delta.size());
  }
  coua_setsep_stats stats() const noexcept {
    coua_setsep_stats stats{};
    stats.size = sizeof stats;
    coua_setsep_replica_get_stats(get(), &stats);
    return stats;
  }

  coua_setsep_replica* get() const noexcept { return replica_.get(); }
  explicit operator bool() const noexcept { return replica_ != nullptr; }

 private:
  std::unique_ptr<coua_setsep_replica, detail::setsep_closer> replica_;
};

}  // namespace coua::api
#endif
