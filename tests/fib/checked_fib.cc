// SPDX-License-Identifier: Apache-2.0
#include "checked_fib.h"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <random>
#include <unordered_set>

namespace coua::test {
namespace {

constexpr unsigned expiry_epochs = 6;
constexpr std::size_t special_sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 1000};

std::string text(auto&&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Corners of the key space, then runs of neighbours in several VLANs, then random keys.
std::uint64_t universe_key(std::size_t i, std::uint64_t seed) {
  constexpr std::uint64_t mac_ones = (std::uint64_t{1} << 48) - 1;
  constexpr std::uint64_t vlan_ones = std::uint64_t{4095} << 48;
  constexpr std::uint64_t corners[] = {0, vlan_ones | mac_ones, mac_ones, vlan_ones,
                                       1, vlan_ones | 1};
  if (i < std::size(corners)) return corners[i];
  if (i % 2) return (std::uint64_t{1 + i % 3} << 48) | (0x020000000000 + i);
  return random_key(seed + i);
}

}  // namespace

const char* to_string(op_kind kind) {
  constexpr const char* names[] = {
      "insert",         "insert_batch", "insert_invalid", "erase",        "erase_batch",
      "refresh",        "lookup",       "lookup_batch",   "lookup_ahead", "lookup_ahead_wrong",
      "lookup_refresh", "pipeline",     "pipeline_drain", "sweep",        "next_epoch",
      "age_all",        "cursor_open",  "cursor_next",    "cursor_close", "bulk_load"};
  static_assert(std::size(names) == static_cast<std::size_t>(op_kind::count_));
  return names[static_cast<std::size_t>(kind)];
}

std::ostream& operator<<(std::ostream& out, const fib_op& op) {
  return out << to_string(op.kind) << "{key " << op.key << ", count " << op.count << ", arg "
             << op.arg << "}";
}

std::size_t batch_size(std::uint16_t count) {
  return count < std::size(special_sizes) ? special_sizes[count] : count % 200u;
}

checked_fib::checked_fib(const table_shape& shape, std::uint64_t seed, std::size_t n_keys)
    : shape_(shape), seed_(seed), fib_(make_fib(shape, seed)), reader_(make_reader(fib_.get())) {
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; seen.size() < n_keys; i++) {
    std::uint64_t key = universe_key(i, seed);
    if (seen.insert(key).second) universe_.push_back(key);
  }
  coua_fib_stats stats = stats_of(fib_.get());
  epoch_ = stats.epoch;
  buckets_ = stats.buckets;
  slots_ = stats.slots;
  value_mask_ = (1u << stats.value_bits) - 1;
  depth_ = coua_fib_pipeline_depth(reader_.get());
  expect(depth_ > 0, "pipeline depth 0");
  expect(stats.value_bits >= shape.value_bits, "value bits below those asked for");
  check_stats();
}

double checked_fib::load() const {
  return static_cast<double>(model_.size()) / static_cast<double>(slots_);
}

void checked_fib::expect(bool ok, const std::string& what) {
  if (!ok && failure_.empty()) failure_ = what;
}

std::vector<std::uint64_t> checked_fib::pick_keys(const fib_op& op) const {
  constexpr std::size_t strides[] = {1, 1, 1, 0, 2, 7, 31, 1001};
  std::size_t stride = strides[(op.arg >> 20) % std::size(strides)];
  std::vector<std::uint64_t> keys(batch_size(op.count));
  for (std::size_t i = 0; i < keys.size(); i++)
    keys[i] = universe_[(op.key + i * stride) % universe_.size()];
  return keys;
}

coua_fib_record checked_fib::pick_record(std::uint64_t key, std::uint32_t arg) const {
  std::uint64_t bits = mix(arg);
  // The corners of the value's range often, the rest by chance; one in four is static.
  std::uint32_t value = arg % 4 == 0 ? value_mask_ : arg % 4 == 1 ? 0 : std::uint32_t(bits);
  return record_of(key, value & value_mask_, (bits >> 40) % 4 == 0);
}

std::uint32_t checked_fib::word(std::uint64_t key) const {
  auto it = model_.find(key);
  if (it == model_.end()) return COUA_FIB_MISS;
  const entry& e = it->second;
  return static_cast<std::uint32_t>(e.stamp % 8) | (e.is_static ? COUA_FIB_ENTRY_STATIC : 0) |
         (e.value << COUA_FIB_ENTRY_VALUE_SHIFT);
}

bool checked_fib::same(std::uint32_t got, std::uint32_t want) {
  // A static entry has no age: its stamp may say anything.
  if (got == COUA_FIB_MISS || want == COUA_FIB_MISS) return got == want;
  std::uint32_t ignored = want & COUA_FIB_ENTRY_STATIC ? COUA_FIB_ENTRY_AGE_MASK : 0;
  return ((got ^ want) & ~ignored) == 0;
}

void checked_fib::check_answer(std::uint64_t key, std::uint32_t got, const char* how) {
  std::uint32_t want = word(key);
  expect(same(got, want), text(how, " of key ", std::hex, key, ": got ", got, ", want ", want));
}

void checked_fib::set(std::uint64_t key, const entry& e) {
  model_[key] = e;
  note_state(key);
}

void checked_fib::forget(std::uint64_t key) {
  model_.erase(key);
  note_state(key);
  for (open_cursor& c : cursors_) c.stayers.erase(key);
}

/// Of so few keys, all may have their buckets among few: then no table would have room.
bool checked_fib::fits_in_another_order(std::uint64_t refused) const {
  std::vector<std::uint64_t> keys{refused};
  for (const auto& [key, there] : model_) keys.push_back(key);
  std::mt19937_64 random(1);
  for (int tries = 0; tries < 100; tries++) {
    std::shuffle(keys.begin(), keys.end(), random);
    const fib_ptr other = make_fib(shape_, seed_);
    const auto takes = [&](std::uint64_t key) {
      const coua_fib_record record = record_of(key, 0);
      return coua_fib_insert(other.get(), &record) == COUA_FIB_ADDED;
    };
    if (std::all_of(keys.begin(), keys.end(), takes)) return true;
  }
  return false;
}

void checked_fib::check_insert(const coua_fib_record& record, int rc) {
  bool present = model_.contains(record.key);
  if (rc == COUA_FIB_FULL) {
    counts_.refused++;
    expect(!present, text("full for key ", std::hex, record.key, ", which is in the table"));
    expect(buckets_ < 8 || load() > 0.4 || !fits_in_another_order(record.key),
           text("full at load ", load()));
    return;
  }
  expect(rc == (present ? COUA_FIB_UPDATED : COUA_FIB_ADDED),
         text("insert of ", present ? "a present" : "an absent", " key answered ", rc));
  (present ? counts_.updated : counts_.added)++;
  set(record.key, {record.value, record.is_static != 0, epoch_});
}

void checked_fib::check_stats() {
  coua_fib_stats s = stats_of(fib_.get());
  auto equal = [&](const char* what, std::uint64_t got, std::uint64_t want) {
    expect(got == want, text("stats.", what, ": got ", got, ", want ", want));
  };
  auto statics = std::count_if(model_.begin(), model_.end(),
                               [](const auto& item) { return item.second.is_static; });
  equal("entries", s.entries, model_.size());
  equal("statics", s.statics, static_cast<std::uint64_t>(statics));
  equal("added", s.added, counts_.added);
  equal("updated", s.updated, counts_.updated);
  equal("erased", s.erased, counts_.erased);
  equal("aged_out", s.aged_out, counts_.aged_out);
  equal("refused", s.refused, counts_.refused);
  equal("added - erased - aged_out", s.added - s.erased - s.aged_out, s.entries);
  equal("epoch", s.epoch, epoch_ % 8);
  equal("buckets", s.buckets, buckets_);
  std::uint64_t paths = 0, moves = 0;
  for (std::uint64_t i = 0; i <= COUA_FIB_PATH_MAX; i++) {
    paths += s.path_length[i];
    moves += s.path_length[i] * i;
  }
  equal("path_length, summed", paths, s.added);
  // Threads of a bulk load may lose a slot that one of them has freed, and start again.
  expect(s.moves == moves || (loaded_in_parallel_ && s.moves > moves),
         text("stats.moves ", s.moves, ", the paths add up to ", moves));
  expect(s.in_secondary <= s.entries, text("stats.in_secondary ", s.in_secondary));
  expect(s.bytes >= s.slots * 8, text("stats.bytes ", s.bytes));
}

bool checked_fib::apply(const fib_op& op) {
  switch (op.kind) {
    case op_kind::insert: do_insert(op); break;
    case op_kind::insert_batch: do_insert_batch(op); break;
    case op_kind::insert_invalid: do_insert_invalid(op); break;
    case op_kind::erase: do_erase(op); break;
    case op_kind::erase_batch: do_erase_batch(op); break;
    case op_kind::refresh: do_refresh(op); break;
    case op_kind::lookup:
    case op_kind::lookup_batch: do_lookup(op); break;
    case op_kind::lookup_ahead: do_lookup_ahead(op, true); break;
    case op_kind::lookup_ahead_wrong: do_lookup_ahead(op, false); break;
    case op_kind::lookup_refresh: do_lookup_refresh(op); break;
    case op_kind::pipeline: do_pipeline(op); break;
    case op_kind::pipeline_drain: do_drain(); break;
    case op_kind::sweep: do_sweep(op.arg % 16 == 0 ? UINT64_MAX : op.count % 64, op.arg % 2); break;
    case op_kind::next_epoch: do_next_epoch(); break;
    case op_kind::age_all: do_age_all(op); break;
    case op_kind::cursor_open: do_cursor_open(); break;
    case op_kind::cursor_next: do_cursor_next(op.arg % 2, op.arg / 2 % 64); break;
    case op_kind::cursor_close:
      if (!cursors_.empty()) cursors_.erase(cursors_.begin() + op.arg % cursors_.size());
      break;
    case op_kind::bulk_load: do_bulk_load(op); break;
    case op_kind::count_: break;
  }
  check_stats();
  return failure_.empty();
}

void checked_fib::do_insert(const fib_op& op) {
  coua_fib_record record = pick_record(universe_[op.key % universe_.size()], op.arg);
  record.age = static_cast<std::uint8_t>(op.count % 7);  // ignored on insert
  check_insert(record, coua_fib_insert(fib_.get(), &record));
  check_answer(record.key, coua_fib_lookup(reader_.get(), record.key), "look-up after insert");
}

void checked_fib::do_insert_batch(const fib_op& op) {
  std::vector<coua_fib_record> records;
  for (std::uint64_t key : pick_keys(op))
    records.push_back(pick_record(key, op.arg + static_cast<std::uint32_t>(records.size())));
  bool spoil = op.arg % 8 == 7 && !records.empty();
  if (spoil) records[op.arg % records.size()].key |= std::uint64_t{1} << 60;
  std::vector<std::int8_t> results(records.size(), 99);
  std::size_t done =
      coua_fib_insert_batch(fib_.get(), records.data(), records.size(), results.data());
  std::size_t want = 0;
  for (std::size_t i = 0; i < records.size(); i++) {
    if (records[i].key > key_mask) {
      expect(results[i] == -EINVAL,
             text("insert_batch took a key out of range: ", int(results[i])));
      continue;
    }
    check_insert(records[i], results[i]);
    want += results[i] == COUA_FIB_ADDED || results[i] == COUA_FIB_UPDATED;
  }
  expect(done == want, text("insert_batch answered ", done, ", its results say ", want));
}

void checked_fib::do_insert_invalid(const fib_op& op) {
  coua_fib_record record = pick_record(universe_[op.key % universe_.size()], op.arg);
  if (op.arg % 2)
    record.key |= std::uint64_t{1} << (COUA_FIB_KEY_BITS + op.arg / 2 % 4);
  else
    record.value = value_mask_ + 1 + op.arg / 2;
  int rc = coua_fib_insert(fib_.get(), &record);
  expect(rc == -EINVAL, text("insert out of range answered ", rc));
}

void checked_fib::do_erase(const fib_op& op) {
  std::uint64_t key = universe_[op.key % universe_.size()];
  int want = model_.contains(key) ? 0 : -ENOENT;
  int rc = coua_fib_erase(fib_.get(), key);
  expect(rc == want, text("erase answered ", rc, ", want ", want));
  counts_.erased += want == 0;
  forget(key);
  check_answer(key, coua_fib_lookup(reader_.get(), key), "look-up after erase");
  expect(coua_fib_erase(fib_.get(), key | std::uint64_t{1} << 63) == -EINVAL, "erase out of range");
}

void checked_fib::do_erase_batch(const fib_op& op) {
  std::vector<std::uint64_t> keys = pick_keys(op);
  std::size_t done = coua_fib_erase_batch(fib_.get(), keys.data(), keys.size());
  std::size_t want = 0;
  for (std::uint64_t key : keys) {
    want += model_.contains(key);
    forget(key);
  }
  counts_.erased += want;
  expect(done == want, text("erase_batch removed ", done, ", want ", want));
}

void checked_fib::do_refresh(const fib_op& op) {
  std::uint64_t key = universe_[op.key % universe_.size()];
  auto it = model_.find(key);
  int want = it == model_.end() ? -ENOENT : 0;
  int rc = coua_fib_refresh(fib_.get(), key);
  expect(rc == want, text("refresh answered ", rc, ", want ", want));
  if (it != model_.end()) set(key, {it->second.value, it->second.is_static, epoch_});
  expect(coua_fib_refresh(fib_.get(), key | std::uint64_t{1} << 61) == -EINVAL,
         "refresh out of range");
}

void checked_fib::do_lookup(const fib_op& op) {
  std::vector<std::uint64_t> keys = pick_keys(op);
  std::vector<std::uint32_t> entries(keys.size() + 1, 0xabcdef);
  std::size_t hits = 0;
  if (op.kind == op_kind::lookup) {
    for (std::size_t i = 0; i < keys.size(); i++) {
      entries[i] = coua_fib_lookup(reader_.get(), keys[i]);
      hits += entries[i] != COUA_FIB_MISS;
    }
  } else {
    hits = coua_fib_lookup_batch(reader_.get(), keys.data(), keys.size(), entries.data());
  }
  std::size_t want = 0;
  for (std::size_t i = 0; i < keys.size(); i++) {
    check_answer(keys[i], entries[i], to_string(op.kind));
    want += word(keys[i]) != COUA_FIB_MISS;
  }
  expect(hits == want, text(to_string(op.kind), ": ", hits, " hits, want ", want));
  expect(entries.back() == 0xabcdef, "look-up wrote past the end of `entries`");
}

void checked_fib::do_lookup_ahead(const fib_op& op, bool right) {
  std::vector<std::uint64_t> keys = pick_keys(op), other = pick_keys({{}, 3, 9, op.arg});
  std::size_t step = 1 + op.arg % 70;
  for (std::size_t at = 0; at < keys.size() || at == 0; at += step) {
    std::size_t n = std::min(step, keys.size() - at);
    std::size_t next = std::min(at + n, keys.size());
    std::size_t n_next = std::min(step, keys.size() - next);
    std::vector<std::uint32_t> entries(n + 1, 0xabcdef);
    std::size_t n_other = op.arg / 70 % 3 * 33;
    std::size_t hits =
        right ? coua_fib_lookup_ahead(reader_.get(), keys.data() + at, n, entries.data(),
                                      keys.data() + next, n_next)
              : coua_fib_lookup_ahead(reader_.get(), keys.data() + at, n, entries.data(),
                                      n_other ? other.data() : nullptr, n_other);
    std::size_t want = 0;
    for (std::size_t i = 0; i < n; i++) {
      check_answer(keys[at + i], entries[i], to_string(op.kind));
      want += word(keys[at + i]) != COUA_FIB_MISS;
    }
    expect(hits == want, text(to_string(op.kind), ": ", hits, " hits, want ", want));
    expect(entries.back() == 0xabcdef, "look-up wrote past the end of `entries`");
  }
}

void checked_fib::do_lookup_refresh(const fib_op& op) {
  std::vector<std::uint64_t> keys = pick_keys(op);
  std::vector<std::uint32_t> entries(keys.size());
  std::size_t hits =
      coua_fib_lookup_refresh(reader_.get(), keys.data(), keys.size(), entries.data());
  std::size_t want_hits = 0;
  // The word before the refresh and the one after are both true answers.
  std::vector<std::uint32_t> before;
  for (std::uint64_t key : keys) before.push_back(word(key));
  for (std::uint64_t key : keys) {
    auto it = model_.find(key);
    if (it == model_.end()) continue;
    set(key, {it->second.value, it->second.is_static, epoch_});
    want_hits++;
  }
  for (std::size_t i = 0; i < keys.size(); i++) {
    if (!same(entries[i], before[i])) check_answer(keys[i], entries[i], "lookup_refresh");
    check_answer(keys[i], coua_fib_lookup(reader_.get(), keys[i]), "look-up after lookup_refresh");
  }
  expect(hits == want_hits, text("lookup_refresh: ", hits, " hits, want ", want_hits));
}

void checked_fib::note_state(std::uint64_t key) {
  for (in_flight& f : flight_)
    if (f.key == key) f.allowed.push_back(word(key));
}

void checked_fib::collect(const std::uint32_t* entries, std::size_t n) {
  expect(n <= flight_.size(), text("pipeline answered ", n, " of ", flight_.size(), " keys"));
  if (!failure_.empty()) return;
  for (std::size_t i = 0; i < n; i++) {
    const in_flight& f = flight_.front();
    bool ok = std::any_of(f.allowed.begin(), f.allowed.end(),
                          [&](std::uint32_t allowed) { return same(entries[i], allowed); });
    expect(ok, text("pipeline: key ", std::hex, f.key, " got ", entries[i], ", want ",
                    f.allowed.back(), " or one of ", f.allowed.size()));
    flight_.pop_front();
  }
}

void checked_fib::do_pipeline(const fib_op& op) {
  std::vector<std::uint64_t> keys = pick_keys(op);
  std::size_t chunk = 1 + op.arg % 90;
  for (std::size_t at = 0; at < keys.size() || at == 0; at += chunk) {
    std::size_t n = std::min(chunk, keys.size() - at);
    std::vector<std::uint32_t> entries(n + 1, 0xabcdef);
    for (std::size_t i = 0; i < n; i++) flight_.push_back({keys[at + i], {word(keys[at + i])}});
    std::size_t got = coua_fib_pipeline(reader_.get(), keys.data() + at, n, entries.data());
    expect(got <= n, text("pipeline wrote ", got, " entries for ", n, " keys"));
    expect(entries.back() == 0xabcdef, "pipeline wrote past the end of `entries`");
    collect(entries.data(), got);
    expect(flight_.size() <= depth_, text(flight_.size(), " keys in flight, depth ", depth_));
    if (!failure_.empty()) return;
  }
}

void checked_fib::do_drain() {
  std::vector<std::uint32_t> entries(depth_ + 1, 0xabcdef);
  std::size_t want = flight_.size();
  std::size_t got = coua_fib_pipeline_drain(reader_.get(), entries.data());
  expect(got == want, text("drain answered ", got, ", in flight ", want));
  expect(entries.back() == 0xabcdef, "drain wrote past the end of `entries`");
  collect(entries.data(), got);
}

void checked_fib::take_expired(const coua_fib_record& record) {
  auto it = model_.find(record.key);
  if (it == model_.end())
    return expect(false, text("expired key is not there: ", std::hex, record.key));
  const entry& e = it->second;
  expect(!e.is_static && !record.is_static, "a static entry expired");
  expect(epoch_ - e.stamp >= expiry_epochs, text("expired at age ", epoch_ - e.stamp));
  expect(record.value == e.value, "expired record has another value");
  expect(record.age == epoch_ - e.stamp, text("expired record says age ", int(record.age)));
  counts_.aged_out++;
  forget(record.key);
}

void checked_fib::do_sweep(std::uint64_t n_buckets, bool told) {
  struct sink {
    checked_fib* self;
    static void take(void* context, const coua_fib_record* record) {
      static_cast<sink*>(context)->self->take_expired(*record);
    }
  } sink{this};
  int rc = coua_fib_sweep(fib_.get(), n_buckets, told ? &sink::take : nullptr, &sink);
  swept_ = n_buckets >= buckets_ - swept_ ? buckets_ : swept_ + n_buckets;
  expect(rc == 0 || rc == 1, text("sweep answered ", rc));
  expect(rc == 0 || swept_ == buckets_, text("sweep complete after ", swept_, " of ", buckets_));
  // Moves may carry entries behind the sweep's back: then, only then, it takes longer.
  bool moved = stats_of(fib_.get()).moves != moves_at_epoch_;
  expect(rc == 1 || swept_ < buckets_ || moved, "sweep not complete after all buckets");
  complete_ = rc == 1;
  std::vector<std::uint64_t> old;
  for (const auto& [key, e] : model_)
    if (!e.is_static && epoch_ - e.stamp >= expiry_epochs) old.push_back(key);
  for (std::uint64_t key : old) {
    bool gone = coua_fib_lookup(reader_.get(), key) == COUA_FIB_MISS;
    expect(!(gone && told), text("key ", std::hex, key, " expired and was not told"));
    expect(gone || !complete_, text("key ", std::hex, key, " outlived a complete sweep at age ",
                                    epoch_ - model_[key].stamp));
    if (!gone) continue;
    counts_.aged_out++;
    forget(key);
  }
}

void checked_fib::do_next_epoch() {
  int want = complete_ ? 0 : -EAGAIN;
  int rc = coua_fib_next_epoch(fib_.get());
  expect(rc == want, text("next_epoch answered ", rc, ", want ", want));
  if (want != 0) return;
  epoch_++;
  swept_ = 0;
  complete_ = false;
  moves_at_epoch_ = stats_of(fib_.get()).moves;
}

void checked_fib::do_age_all(const fib_op& op) {
  for (unsigned i = 0; i < 1u + op.arg % 7; i++) {
    do_sweep(buckets_, op.arg / 7 % 2);
    for (int again = 0; !complete_ && again < 3; again++) do_sweep(buckets_, true);
    expect(complete_, "the sweep does not come to its end");
    do_next_epoch();
  }
}

void checked_fib::do_cursor_open() {
  if (cursors_.size() == 2) cursors_.erase(cursors_.begin());
  open_cursor c{make_cursor(fib_.get()), {}};
  for (const auto& [key, e] : model_) c.stayers.emplace(key, false);
  cursors_.push_back(std::move(c));
}

void checked_fib::do_cursor_next(std::size_t which, std::size_t max) {
  if (cursors_.empty()) return;
  open_cursor& c = cursors_[which % cursors_.size()];
  std::vector<coua_fib_record> records(max + 1);
  long n = coua_fib_cursor_next(c.cursor.get(), records.data(), max);
  if (max < 8) return expect(n == -EINVAL, text("cursor_next of ", max, " answered ", n));
  expect(n >= 0 && n <= static_cast<long>(max), text("cursor_next answered ", n));
  expect(!c.ended || n == 0, "cursor went on after its end");
  for (long i = 0; i < n && failure_.empty(); i++) {
    const coua_fib_record& r = records[static_cast<std::size_t>(i)];
    auto it = model_.find(r.key);
    if (it == model_.end()) return expect(false, text("cursor: no such key ", std::hex, r.key));
    const entry& e = it->second;
    expect(r.value == e.value && (r.is_static != 0) == e.is_static,
           text("cursor: key ", std::hex, r.key, " with another value"));
    expect(e.is_static || r.age == epoch_ - e.stamp, text("cursor: age ", int(r.age)));
    expect(r.age <= expiry_epochs && r.is_static <= 1, text("cursor: age ", int(r.age)));
    auto stayer = c.stayers.find(r.key);
    if (stayer == c.stayers.end()) continue;
    expect(!stayer->second, text("cursor: key ", std::hex, r.key, " came twice"));
    stayer->second = true;
  }
  if (n != 0) return;
  c.ended = true;
  for (const auto& [key, returned] : c.stayers)
    expect(returned, text("cursor: key ", std::hex, key, " stayed and never came"));
}

namespace {
/// Hands `records` out in slices; thread t of n takes every n-th slice.
struct bulk_source {
  const std::vector<coua_fib_record>& records;
  std::vector<std::size_t> at;
  std::size_t n_threads;
  static std::size_t next(void* context, unsigned thread, coua_fib_record* out, std::size_t max) {
    auto* self = static_cast<bulk_source*>(context);
    std::size_t n = 0;
    for (std::size_t& i = self->at[thread]; n < max && i < self->records.size();
         i += self->n_threads)
      out[n++] = self->records[i];
    return n;
  }
};
}  // namespace

void checked_fib::do_bulk_load(const fib_op& op) {
  std::vector<coua_fib_record> records;
  std::unordered_set<std::uint64_t> seen;
  bool all_new = true;
  for (std::uint64_t key : pick_keys(op)) {
    if (!seen.insert(key).second) continue;
    records.push_back(pick_record(key, op.arg + static_cast<std::uint32_t>(records.size())));
    all_new &= !model_.contains(key);
  }
  std::size_t n_threads = 1 + op.arg / 16 % 3;
  bulk_source source{records, {}, n_threads};
  for (std::size_t i = 0; i < n_threads; i++) source.at.push_back(i);
  loaded_in_parallel_ |= n_threads > 1;
  int rc = coua_fib_bulk_load(fib_.get(), &bulk_source::next, &source,
                              static_cast<unsigned>(n_threads), all_new && op.arg % 2);
  // Threads load in any order: what came in is taken over first, then what was refused is judged
  // against the fuller table.
  std::vector<coua_fib_record> refused;
  for (const coua_fib_record& r : records) {
    bool present = model_.contains(r.key);
    if (!present && coua_fib_lookup(reader_.get(), r.key) == COUA_FIB_MISS) {
      refused.push_back(r);
      continue;
    }
    check_insert(r, present ? COUA_FIB_UPDATED : COUA_FIB_ADDED);
    check_answer(r.key, coua_fib_lookup(reader_.get(), r.key), "look-up after bulk_load");
  }
  for (const coua_fib_record& r : refused) check_insert(r, COUA_FIB_FULL);
  expect(rc == (refused.empty() ? 0 : -ENOSPC),
         text("bulk_load answered ", rc, ", refused ", refused.size()));
}

bool checked_fib::finish() {
  do_drain();
  for (std::size_t i = 0; i < cursors_.size(); i++)
    while (!cursors_[i].ended && failure_.empty()) do_cursor_next(i, 17);
  cursors_.clear();
  do_cursor_open();
  while (!cursors_[0].ended && failure_.empty()) do_cursor_next(0, 63);
  std::vector<std::uint64_t> keys = universe_;
  for (std::uint64_t i = 0; i < 1000; i++)  // never inserted
    if (std::uint64_t key = random_key(i << 32); !model_.contains(key)) keys.push_back(key);
  std::vector<std::uint32_t> entries(keys.size());
  coua_fib_lookup_batch(reader_.get(), keys.data(), keys.size(), entries.data());
  for (std::size_t i = 0; i < keys.size(); i++) check_answer(keys[i], entries[i], "final look-up");
  check_stats();
  return failure_.empty();
}

}  // namespace coua::test
