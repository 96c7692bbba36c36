// SPDX-License-Identifier: Apache-2.0
//
// coua/classifier.h for C++20: keys of your own type, handles that close themselves, spans instead
// of pointer and count, callables instead of function pointers. Every function is one call of the C
// API: see there for ranges, errors (negative errno) and thread rules. No exceptions. The ABI
// promise is that of the C API; this header promises source compatibility only.
//
//   struct packet {
//     std::uint32_t from, to;
//     std::uint16_t from_port, to_port;
//     std::uint32_t proto;
//   };
//   coua::api::classifier<packet> rules;
//   coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
//   std::string why;
//   if (int rc = rules.create(params, rules, &why); rc < 0) ...
//   rules.add({.to_port = 443}, {.to_port = 0xffff}, 100, 7);  // key, mask, priority, value
//   coua::api::classifier_reader<packet> reader;
//   rules.open(reader);
//   reader.lookup_batch(keys, answers, hits);
//
// A key is trivially copyable, and equal keys have equal bytes: a struct with padding does not
// compile as one. A mask has the key's type: its bits of one are those that count.
//
// Spans of answers and hits are as long as the keys (hits: a word for each 64), or empty where they
// are not wanted.
#ifndef COUA_CLASSIFIER_HPP
#define COUA_CLASSIFIER_HPP

#include <coua/classifier.h>

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
concept classifier_key =
    std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
    sizeof(T) <= COUA_CLASSIFIER_KEY_BYTES_MAX;

constexpr std::size_t classifier_words(std::size_t n) noexcept { return COUA_CLASSIFIER_WORDS(n); }
/// Whether key `i` of a batch matched a rule.
constexpr bool classifier_hit(std::span<const std::uint64_t> hits, std::size_t i) noexcept {
  return (hits[i / 64] >> i % 64 & 1) != 0;
}

namespace detail {
struct classifier_closer {
  void operator()(coua_classifier* rules) const noexcept { coua_classifier_destroy(rules); }
  void operator()(coua_classifier_reader* reader) const noexcept {
    coua_classifier_reader_destroy(reader);
  }
};
}  // namespace detail

/// A looking-up thread's handle. Closed before its classifier is.
template <classifier_key Key>
class classifier_reader {
 public:
  std::optional<coua_classifier_answer> lookup(const Key& key) noexcept {
    coua_classifier_answer answer{};
    if (coua_classifier_lookup(get(), &key, &answer) == 0) return std::nullopt;
    return answer;
  }
  /// How many matched.
  std::size_t lookup_batch(std::span<const Key> keys, std::span<coua_classifier_answer> answers,
                           std::span<std::uint64_t> hits) noexcept {
    assert(answers.empty() || answers.size() >= keys.size());
    assert(hits.empty() || hits.size() >= classifier_words(keys.size()));
    return coua_classifier_lookup_batch(get(), keys.data(), keys.size(),
                                        answers.empty() ? nullptr : answers.data(),
                                        hits.empty() ? nullptr : hits.data());
  }
  coua_classifier_reader_stats stats() const noexcept {
    coua_classifier_reader_stats stats{};
    stats.size = sizeof stats;
    coua_classifier_get_reader_stats(get(), &stats);
    return stats;
  }

  coua_classifier_reader* get() const noexcept { return reader_.get(); }
  explicit operator bool() const noexcept { return reader_ != nullptr; }
  void close() noexcept { reader_.reset(); }

 private:
  template <classifier_key>
  friend class classifier;
  std::unique_ptr<coua_classifier_reader, detail::classifier_closer> reader_;
};

/// The rules and their writer.
template <classifier_key Key>
class classifier {
 public:
  /// 0, and `out` is the classifier; or -EINVAL, -ENOMEM, and `message`, when not null, says why.
  /// The width is that of the type, whatever `params` says.
  static int create(coua_classifier_params params, classifier& out,
                    std::string* message = nullptr) {
    char text[256] = "";
    coua_classifier* made = nullptr;
    params.key_bytes = sizeof(Key);
    const int rc = coua_classifier_create(&params, &made, text, sizeof text);
    if (rc == 0) out.rules_.reset(made);
    if (rc != 0 && message != nullptr) *message = text;
    return rc;
  }

  int open(classifier_reader<Key>& out) noexcept {
    coua_classifier_reader* reader = nullptr;
    const int rc = coua_classifier_reader_create(get(), &reader);
    if (rc == 0) out.reader_.reset(reader);
    return rc;
  }

  int add(const Key& key, const Key& mask, std::uint32_t priority, std::uint32_t value) noexcept {
    return coua_classifier_add(get(), &key, &mask, priority, value);
  }
  int remove(const Key& key, const Key& mask, std::uint32_t priority) noexcept {
    return coua_classifier_remove(get(), &key, &mask, priority);
  }
  /// The value of this very rule.
  std::optional<std::uint32_t> get(const Key& key, const Key& mask,
                                   std::uint32_t priority) const noexcept {
    std::uint32_t value = 0;
    if (coua_classifier_get(get(), &key, &mask, priority, &value) != 0) return std::nullopt;
    return value;
  }
  /// Calls `rule(key, mask, priority, value)` for each, in no order, until it returns something
  /// other than 0, which is then returned. It changes nothing here, and does not throw.
  template <typename Rule>
    requires std::is_invocable_r_v<int, Rule&, const Key&, const Key&, std::uint32_t, std::uint32_t>
  int each(Rule&& rule) const {
    using callable = std::remove_reference_t<Rule>;
    return coua_classifier_each(
        get(),
        [](void* context, const void* key, const void* mask, std::uint32_t priority,
           std::uint32_t value) noexcept -> int {
          alignas(Key) std::byte key_bytes[sizeof(Key)], mask_bytes[sizeof(Key)];
          std::memcpy(key_bytes, key, sizeof(Key));
          std::memcpy(mask_bytes, mask, sizeof(Key));
          return (*static_cast<callable*>(context))(*reinterpret_cast<const Key*>(key_bytes),
                                                    *reinterpret_cast<const Key*>(mask_bytes),
                                                    priority, value);
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(rule))));
  }

  std::size_t reclaim() noexcept { return coua_classifier_reclaim(get()); }
  coua_classifier_stats stats() const noexcept {
    coua_classifier_stats stats{};
    stats.size = sizeof stats;
    coua_classifier_get_stats(get(), &stats);
    return stats;
  }
  /// Number `index` of the masks, those of the highest priority first; empty behind the last.
  std::optional<coua_classifier_mask> mask(std::size_t index) const noexcept {
    coua_classifier_mask mask{};
    mask.size = sizeof mask;
    if (coua_classifier_get_mask(get(), index, &mask) != 0) return std::nullopt;
    return mask;
  }

  coua_classifier* get() const noexcept { return rules_.get(); }
  explicit operator bool() const noexcept { return rules_ != nullptr; }

 private:
  std::unique_ptr<coua_classifier, detail::classifier_closer> rules_;
};

}  // namespace coua::api
#endif
