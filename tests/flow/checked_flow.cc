// SPDX-License-Identifier: Apache-2.0
#include "checked_flow.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

namespace coua::test {
namespace {

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint8_t untouched = 0xa5;

}  // namespace

std::ostream& operator<<(std::ostream& out, const flow_op& op) {
  static const char* const names[] = {"insert",        "insert_batch",   "add",
                                      "add_batch",     "find_or_add",    "find_or_add_batch",
                                      "erase",         "erase_batch",    "refresh",
                                      "invalid",       "lookup",         "lookup_batch",
                                      "lookup_hashed", "lookup_ahead",   "lookup_refresh",
                                      "pipeline",      "pipeline_drain", "tick",
                                      "jump",          "sweep",          "drain",
                                      "cursor_open",   "cursor_next",    "cursor_close"};
  return out << names[static_cast<int>(op.kind)] << "(" << op.key << ", " << op.count << ", "
             << op.arg << ")";
}

checked_flow::checked_flow(const flow_shape& shape, std::uint64_t seed, std::size_t n_keys)
    : shape_(shape), seed_(seed), n_keys_(n_keys), now_ms_(shape.start_ms) {
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.buckets = shape.buckets;
  params.key_bytes = shape.key_bytes;
  params.value_bytes = shape.value_bytes;
  // Odd distances: nothing is aligned.
  params.key_stride = shape.key_bytes + (seed & 1) * 3;
  params.value_stride = shape.value_bytes + (seed & 2) / 2 * 5;
  params.variant = shape.variant;
  params.sync = shape.sync;
  params.timers = shape.timed ? COUA_FLOW_TIMERS_ON : COUA_FLOW_TIMERS_OFF;
  params.unit_ms = unit_ms;
  params.now_ms = now_ms_;
  params.bucket_slots = shape.bucket_slots;
  params.filter_rounds = 1 + (seed >> 2) % 20;
  params.pages = COUA_FLOW_PAGES_4K;
  params.populate_threads = 1;
  std::uint8_t hash_key[32] = {};
  std::memcpy(hash_key, &seed, sizeof seed);
  params.hash_key = hash_key;
  if (shape.timed && shape.ring == 0) params.expired = expired;
  params.expired_context = this;
  params.expired_ring = shape.ring;
  key_stride_ = params.key_stride;
  value_stride_ = params.value_stride;
  char message[200] = "";
  if (coua_flow_create(&params, &table_, message, sizeof message) != 0) {
    fail(std::string("create: ") + message);
    return;
  }
  coua_flow_reader_create(table_, &reader_);
  for (std::size_t i = 0; i < n_keys_; ++i) numbers_[key_of(i)] = i;
}

checked_flow::~checked_flow() { coua_flow_destroy(table_); }

bool checked_flow::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
  return false;
}

coua_flow_stats checked_flow::stats() const {
  coua_flow_stats stats{};
  stats.size = sizeof stats;
  coua_flow_get_stats(table_, &stats);
  return stats;
}

std::string checked_flow::key_of(std::size_t i) const {
  std::string key(shape_.key_bytes, '\0');
  for (std::size_t at = 0; at < key.size(); at += 8) {
    const std::uint64_t word = at == 0 ? i * 0x9e3779b1u + 1 : mixed(seed_ + i / 7 + at);
    std::memcpy(key.data() + at, &word, std::min<std::size_t>(8, key.size() - at));
  }
  return key;
}

std::string checked_flow::value_of(std::size_t i, std::uint32_t arg) const {
  std::string value(shape_.value_bytes, '\0');
  for (std::size_t at = 0; at < value.size(); ++at) {
    value[at] = static_cast<char>(mixed(i * 977 + arg) >> (8 * (at % 8)) ^ at);
  }
  return value;
}

std::uint32_t checked_flow::units_of(std::uint32_t arg) const {
  if (!shape_.timed) return 0;
  static const std::uint32_t some[] = {1, 2, 3, 10, 60, 300, 1023, 1024};
  return some[arg % 8];
}

std::vector<std::uint8_t> checked_flow::keys_from(std::size_t first, std::size_t n) const {
  std::vector<std::uint8_t> keys(n * key_stride_ + 1, untouched);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string key = key_of(wrapped(first + i));
    std::memcpy(keys.data() + i * key_stride_, key.data(), key.size());
  }
  return keys;
}

checked_flow::entry* checked_flow::visible(std::size_t key) {
  const auto found = model_.find(key);
  if (found == model_.end()) return nullptr;
  if (shape_.timed && found->second.expires <= now_units()) return nullptr;
  return &found->second;
}

void checked_flow::expired(void* context, const void* key, const void* value) {
  static_cast<checked_flow*>(context)->told(key, value);
}

void checked_flow::told(const void* key, const void* value) {
  ++n_expired_;
  const auto number = numbers_.find(std::string(static_cast<const char*>(key), shape_.key_bytes));
  if (number == numbers_.end()) {
    fail("expired: a key that was never inserted");
    return;
  }
  const std::string name = "expired: key " + std::to_string(number->second);
  const value_bytes got(static_cast<const char*>(value), shape_.value_bytes);
  const auto old = waiting_.lower_bound(number->second);
  if (old != waiting_.end() && old->first == number->second) {
    if (old->second != got) fail(name + ", which came again, with another value");
    waiting_.erase(old);
    return;
  }
  const auto found = model_.find(number->second);
  if (found == model_.end()) {
    fail(name + ", which is not there");
  } else if (found->second.expires > now_units()) {
    fail(name + " too early");
  } else if (found->second.value != got) {
    fail(name + " with another value");
  } else {
    model_.erase(found);
  }
}

long checked_flow::drain(std::size_t max) {
  std::vector<std::uint8_t> keys(max * key_stride_ + 1), values(max * value_stride_ + 1);
  const long n = coua_flow_drain(table_, keys.data(), values.data(), max);
  for (std::size_t i = 0; static_cast<long>(i) < n; ++i) {
    told(keys.data() + i * key_stride_, values.data() + i * value_stride_);
  }
  return n;
}

/// What a put did, against the map.
bool checked_flow::done(std::size_t key, int result, flow_op_kind kind, std::uint32_t arg,
                        const std::string& value_out) {
  entry* there = visible(key);
  const std::string name = "key " + std::to_string(key) + ": ";
  const std::string value = value_of(key, arg);
  const std::uint64_t expires = now_units() + units_of(arg);
  if (result == COUA_FLOW_FULL) {
    ++refused_;
    const bool may =
        there == nullptr || (kind == flow_op_kind::insert && shape_.sync == COUA_FLOW_ONE_WRITER &&
                             shape_.value_bytes > 8);
    return may || fail(name + "an update was refused");
  }
  if (there == nullptr) {
    if (result != COUA_FLOW_ADDED) return fail(name + "not added: " + std::to_string(result));
    // An entry that expired must have been told, or be in the ring, before its key comes again.
    if (const auto old = model_.find(key); old != model_.end()) {
      if (shape_.ring == 0) return fail(name + "added before its expiry was told");
      waiting_.emplace(key, old->second.value);
    }
    model_[key] = {value, expires};
    return true;
  }
  if (kind == flow_op_kind::insert) {
    if (result != COUA_FLOW_UPDATED) return fail(name + "not updated: " + std::to_string(result));
    *there = {value, expires};
    return true;
  }
  if (result != COUA_FLOW_PRESENT) return fail(name + "not present: " + std::to_string(result));
  if (kind == flow_op_kind::find_or_add) {
    if (value_out != there->value) return fail(name + "found with another value");
    there->expires = expires;
  }
  return true;
}

bool checked_flow::batch_op(const flow_op& op) {
  const std::size_t first = wrapped(op.key), n = std::min<std::size_t>(op.count, n_keys_);
  const std::uint32_t units = units_of(op.arg);
  const auto keys = keys_from(first, n);
  std::vector<std::uint8_t> values(n * value_stride_ + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string one = value_of(wrapped(first + i), op.arg);
    std::memcpy(values.data() + i * value_stride_, one.data(), one.size());
  }
  std::vector<std::uint64_t> hashes(n);
  coua_flow_hash_batch(table_, keys.data(), n, hashes.data());
  const std::uint64_t* ready = op.arg % 2 == 0 ? hashes.data() : nullptr;
  std::vector<std::int8_t> results(n);
  long n_there = 0;
  flow_op_kind each = flow_op_kind::insert;
  if (op.kind == flow_op_kind::insert_batch) {
    n_there =
        coua_flow_insert_batch(table_, keys.data(), ready, values.data(), n, units, results.data());
  } else if (op.kind == flow_op_kind::add_batch) {
    each = flow_op_kind::add;
    n_there =
        coua_flow_add_batch(table_, keys.data(), ready, values.data(), n, units, results.data());
  } else {
    each = flow_op_kind::find_or_add;
    n_there = coua_flow_find_or_add_batch(table_, keys.data(), ready, values.data(), n, units,
                                          results.data());
  }
  std::size_t n_full = 0;
  for (std::size_t i = 0; i < n; ++i) {
    n_full += results[i] == COUA_FLOW_FULL;
    const std::string out(reinterpret_cast<char*>(values.data() + i * value_stride_),
                          shape_.value_bytes);
    if (!done(wrapped(first + i), results[i], each, op.arg, out)) return false;
  }
  return n_there == static_cast<long>(n - n_full) || fail("batch: wrong count");
}

bool checked_flow::writer_op(const flow_op& op) {
  const std::size_t key = wrapped(op.key);
  const std::string bytes = key_of(key);
  std::string value = value_of(key, op.arg);
  const std::uint32_t units = units_of(op.arg);
  switch (op.kind) {
    case flow_op_kind::insert:
      return done(key, coua_flow_insert(table_, bytes.data(), value.data(), units), op.kind, op.arg,
                  value);
    case flow_op_kind::add:
      return done(key, coua_flow_add(table_, bytes.data(), value.data(), units), op.kind, op.arg,
                  value);
    case flow_op_kind::find_or_add: {
      const int result = coua_flow_find_or_add(table_, bytes.data(), value.data(), units);
      return done(key, result, op.kind, op.arg, value);
    }
    case flow_op_kind::insert_batch:
    case flow_op_kind::add_batch:
    case flow_op_kind::find_or_add_batch: return batch_op(op);
    case flow_op_kind::erase: {
      entry* there = visible(key);
      std::string out(shape_.value_bytes, '\0');
      const int result = coua_flow_erase(table_, bytes.data(), out.data());
      if (result != (there != nullptr ? 0 : -ENOENT)) return fail("erase: wrong answer");
      if (there == nullptr) return true;
      if (out != there->value) return fail("erase: wrong value");
      model_.erase(key);
      return true;
    }
    case flow_op_kind::erase_batch: {
      const std::size_t n = std::min<std::size_t>(op.count, n_keys_);
      const auto keys = keys_from(key, n);
      std::size_t n_there = 0;
      for (std::size_t i = 0; i < n; ++i) n_there += visible(wrapped(key + i)) != nullptr;
      std::vector<std::uint64_t> hashes(n);
      coua_flow_hash_batch(table_, keys.data(), n, hashes.data());
      const std::uint64_t* ready = op.arg % 2 == 0 ? hashes.data() : nullptr;
      if (coua_flow_erase_batch(table_, keys.data(), ready, n) != n_there) {
        return fail("erase_batch: wrong count");
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (visible(wrapped(key + i)) != nullptr) model_.erase(wrapped(key + i));
      }
      return true;
    }
    case flow_op_kind::refresh: {
      entry* there = visible(key);
      const int result = coua_flow_refresh(table_, bytes.data(), units);
      if (result != (there != nullptr ? 0 : -ENOENT)) return fail("refresh: wrong answer");
      if (there != nullptr) there->expires = now_units() + units;
      return true;
    }
    default: {
      const std::uint32_t wrong = shape_.timed ? (op.arg % 2 == 0 ? 0 : 1025) : 1;
      std::int8_t result = 0;
      const bool refused = coua_flow_insert(table_, bytes.data(), value.data(), wrong) == -EINVAL &&
                           coua_flow_add(table_, bytes.data(), value.data(), wrong) == -EINVAL &&
                           coua_flow_refresh(table_, bytes.data(), wrong) == -EINVAL &&
                           coua_flow_insert_batch(table_, bytes.data(), nullptr, value.data(), 1,
                                                  wrong, &result) == -EINVAL &&
                           result == -EINVAL &&
                           (now_ms_ == 0 || coua_flow_set_time(table_, now_ms_ - 1) == -EINVAL);
      return refused || fail("a wrong parameter was taken");
    }
  }
}

bool checked_flow::check_found(std::size_t first, std::size_t n, std::size_t n_hits,
                               const std::vector<std::uint8_t>& values,
                               const std::vector<std::uint64_t>& hits) {
  std::size_t n_expected = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t key = wrapped(first + i);
    const bool hit = (hits[i / 64] >> i % 64 & 1) != 0;
    const entry* there = visible(key);
    if (hit != (there != nullptr)) {
      return fail("key " + std::to_string(key) + (hit ? " found, but not there" : " missed"));
    }
    n_expected += hit;
    for (std::size_t b = 0; b < shape_.value_bytes; ++b) {
      const std::uint8_t got = values[i * value_stride_ + b];
      const std::uint8_t want = hit ? static_cast<std::uint8_t>(there->value[b]) : untouched;
      if (got != want) return fail("key " + std::to_string(key) + " with a wrong value");
    }
  }
  for (std::size_t i = n; i < hits.size() * 64; ++i) {
    if ((hits[i / 64] >> i % 64 & 1) != 0) return fail("a hit beyond the batch");
  }
  return n_hits == n_expected || fail("wrong number of hits");
}

bool checked_flow::collect(std::size_t n, const std::vector<std::uint8_t>& values,
                           const std::vector<std::uint64_t>& hits) {
  if (n > flight_.size()) return fail("pipeline: more answers than keys");
  for (std::size_t i = 0; i < n; ++i) {
    const in_flight& asked = flight_.front();
    std::optional<value_bytes> got;
    if ((hits[i / 64] >> i % 64 & 1) != 0) {
      got.emplace(reinterpret_cast<const char*>(values.data() + i * value_stride_),
                  shape_.value_bytes);
    }
    if (std::find(asked.states.begin(), asked.states.end(), got) == asked.states.end()) {
      return fail("pipeline: key " + std::to_string(asked.key) +
                  (got ? " found with a value that it never had" : " missed"));
    }
    flight_.pop_front();
  }
  return true;
}

void checked_flow::note_states() {
  for (in_flight& asked : flight_) {
    const entry* there = visible(asked.key);
    std::optional<value_bytes> state;
    if (there != nullptr) state = there->value;
    if (asked.states.empty() || asked.states.back() != state) asked.states.push_back(state);
  }
}

bool checked_flow::reader_op(const flow_op& op) {
  const std::size_t first = wrapped(op.key);
  const std::size_t n = op.kind == flow_op_kind::lookup ? 1 : op.count;
  const auto keys = keys_from(first, n);
  const std::size_t n_room = std::max(n, coua_flow_pipeline_depth(reader_));
  std::vector<std::uint8_t> values(n_room * value_stride_ + 1, untouched);
  std::vector<std::uint64_t> hits(COUA_FLOW_WORDS(n));
  std::size_t n_hits = 0;
  switch (op.kind) {
    case flow_op_kind::lookup:
      n_hits = static_cast<std::size_t>(coua_flow_lookup(reader_, keys.data(), values.data()));
      hits[0] = n_hits;
      break;
    case flow_op_kind::lookup_batch:
      n_hits = coua_flow_lookup_batch(reader_, keys.data(), n, values.data(), hits.data());
      break;
    case flow_op_kind::lookup_hashed: {
      std::vector<std::uint64_t> hashes(n);
      coua_flow_hash_batch(table_, keys.data(), n, hashes.data());
      n_hits = coua_flow_lookup_hashed(reader_, keys.data(), hashes.data(), n, values.data(),
                                       hits.data());
      break;
    }
    case flow_op_kind::lookup_ahead: {
      const auto next = keys_from(first + n, op.arg % 70);
      n_hits = coua_flow_lookup_ahead(reader_, keys.data(), n, values.data(), hits.data(),
                                      next.data(), op.arg % 70);
      break;
    }
    case flow_op_kind::lookup_refresh: {
      const std::uint32_t units = shape_.timed ? units_of(op.arg) : 7;
      const long n_found =
          coua_flow_lookup_refresh(reader_, keys.data(), n, values.data(), hits.data(), units);
      if (!shape_.timed) return n_found == -EINVAL || fail("refresh in a table without timers");
      n_hits = static_cast<std::size_t>(n_found);
      if (!check_found(first, n, n_hits, values, hits)) return false;
      for (std::size_t i = 0; i < n; ++i) {
        entry* there = visible(wrapped(first + i));
        if (there == nullptr) continue;
        const auto left = static_cast<std::uint32_t>(there->expires - now_units());
        const std::uint32_t change = left > units ? left - units : units - left;
        if (change >= std::max(1u, units / 16)) there->expires = now_units() + units;
      }
      return true;
    }
    case flow_op_kind::pipeline: {
      for (std::size_t i = 0; i < n; ++i) flight_.push_back({wrapped(first + i), {}});
      note_states();
      n_hits = coua_flow_pipeline(reader_, keys.data(), n, values.data(), hits.data());
      if (!collect(n_hits, values, hits)) return false;
      return flight_.size() <= coua_flow_pipeline_depth(reader_) || fail("pipeline: too deep");
    }
    default: {
      hits.assign(COUA_FLOW_WORDS(n_room), ~std::uint64_t{0});
      n_hits = coua_flow_pipeline_drain(reader_, values.data(), hits.data());
      if (n_hits != flight_.size()) return fail("drain: wrong count");
      return collect(n_hits, values, hits);
    }
  }
  return check_found(first, n, n_hits, values, hits);
}

bool checked_flow::time_op(const flow_op& op) {
  if (op.kind == flow_op_kind::sweep) {
    coua_flow_sweep(table_, op.count);
    return true;
  }
  if (op.kind == flow_op_kind::drain) {
    const auto n_waiting =
        static_cast<long>(std::min<std::uint64_t>(stats().expired_waiting, op.count));
    return drain(op.count) == (shape_.ring == 0 ? -EINVAL : n_waiting) ||
           fail("drain: wrong count");
  }
  static const std::uint64_t jumps[] = {100,    1023,   1024,   1025,       31'999,
                                        32'001, 64'000, 64'512, 65'535,     65'536,
                                        65'537, 66'560, 98'304, 10'000'000, 131'072};
  const std::uint64_t units =
      op.kind == flow_op_kind::tick ? op.arg % 5 : jumps[op.arg % std::size(jumps)];
  const std::uint64_t before = std::exchange(now_ms_, now_ms_ + units * unit_ms + op.arg % 3);
  int result;
  // Some of what will have expired is in the ring already, so the time goes on before anything
  // else.
  while ((result = coua_flow_set_time(table_, now_ms_)) == -EAGAIN) {
    if (stats().now_ms != before) return fail("set_time was refused, and the time went on");
    if (drain(64) <= 0) return fail("set_time was refused, though nothing waits");
  }
  return result == 0 || fail("set_time was refused");
}

bool checked_flow::check_cursor_end() {
  for (const auto& [key, stays] : due_) {
    if (returned_.count(key) == 0) return fail("cursor: key " + std::to_string(key) + " left out");
  }
  return true;
}

bool checked_flow::cursor_op(const flow_op& op) {
  if (op.kind == flow_op_kind::cursor_open || cursor_ == nullptr) {
    coua_flow_cursor_close(cursor_);
    if (coua_flow_cursor_open(table_, &cursor_) != 0) return fail("cursor: not opened");
    due_.clear();
    returned_.clear();
    for (const auto& [key, there] : model_) due_[key] = true;
    return true;
  }
  if (op.kind == flow_op_kind::cursor_close) {
    coua_flow_cursor_close(cursor_);
    cursor_ = nullptr;
    return true;
  }
  const std::size_t max = 8 + op.arg % 40;
  std::vector<std::uint8_t> keys(max * key_stride_), values(max * value_stride_ + 1);
  std::vector<std::uint32_t> units(max);
  const long n = coua_flow_cursor_next(cursor_, keys.data(), values.data(), units.data(), max,
                                       1 + op.count % 20);
  if (n == -ENODATA) {
    coua_flow_cursor_close(cursor_);
    cursor_ = nullptr;
    return check_cursor_end();
  }
  for (long i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string bytes(reinterpret_cast<char*>(&keys[at * key_stride_]), shape_.key_bytes);
    const auto number = numbers_.find(bytes);
    if (number == numbers_.end()) return fail("cursor: a key that was never inserted");
    const std::size_t key = number->second;
    const entry* there = visible(key);
    const std::string name = "cursor: key " + std::to_string(key);
    if (there == nullptr) return fail(name + " is not there");
    if (std::memcmp(there->value.data(), values.data() + at * value_stride_, shape_.value_bytes) !=
        0) {
      return fail(name + " with a wrong value");
    }
    if (units[at] != (shape_.timed ? there->expires - now_units() : 0)) {
      return fail(name + " with a wrong time");
    }
    if (++returned_[key] > 1 && due_.count(key) != 0) return fail(name + " twice");
  }
  return true;
}

/// Whatever came is in the table or in the ring.
bool checked_flow::check_counts() {
  const coua_flow_stats got = stats();
  if (got.expired_waiting < waiting_.size()) return fail("a key came again before it was told");
  return got.entries + got.expired_waiting == model_.size() + waiting_.size() ||
         fail("an entry was lost");
}

bool checked_flow::apply(const flow_op& op) {
  if (!failure_.empty()) return false;
  bool same;
  if (op.kind <= flow_op_kind::invalid) {
    same = writer_op(op);
  } else if (op.kind <= flow_op_kind::pipeline_drain) {
    same = reader_op(op);
  } else if (op.kind <= flow_op_kind::drain) {
    same = time_op(op);
  } else {
    same = cursor_op(op);
  }
  same = same && check_counts();
  note_states();
  // Keys that left are not due any more.
  std::erase_if(due_, [&](const auto& due) { return visible(due.first) == nullptr; });
  return same && failure_.empty();
}

bool checked_flow::finish() {
  if (!failure_.empty()) return false;
  if (!apply({flow_op_kind::pipeline_drain, 0, 0, 0})) return false;
  if (!apply({flow_op_kind::lookup_batch, 0, static_cast<std::uint16_t>(n_keys_), 0})) return false;
  do {
    while (coua_flow_sweep(table_, 7) == 0) continue;
    coua_flow_sweep(table_, shape_.buckets);
  } while (drain(64) > 0);
  if (!failure_.empty()) return false;
  std::size_t n_visible = 0;
  for (const auto& [key, there] : model_) n_visible += visible(key) != nullptr;
  const coua_flow_stats got = stats();
  if (n_visible != model_.size()) return fail("an expiry was not told");
  if (got.entries != model_.size()) return fail("stats: wrong number of entries");
  if (got.expired != n_expired_) return fail("stats: wrong number of expiries");
  if (got.added != got.entries + got.erased + got.expired) return fail("stats: do not add up");
  return apply({flow_op_kind::lookup_batch, 0, static_cast<std::uint16_t>(n_keys_), 0});
}

}  // namespace coua::test
