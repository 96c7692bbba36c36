// SPDX-License-Identifier: Apache-2.0
#include "checked_classifier.h"

#include <cerrno>
#include <set>
#include <sstream>

namespace coua::test {
namespace {

std::size_t byte_of(std::size_t place, std::uint32_t key_bytes) {
  return place * (key_bytes - 1) / (n_places - 1);
}

constexpr coua_classifier_answer untouched{77, 78};

int add_to(coua_classifier* table, const rule& one) {
  return coua_classifier_add(table, one.key.data(), one.mask.data(), one.priority, one.value);
}
int remove_from(coua_classifier* table, const rule& one) {
  return coua_classifier_remove(table, one.key.data(), one.mask.data(), one.priority);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const classifier_op& op) {
  static const char* const names[] = {"add",     "remove",      "get",     "invalid",
                                      "look_up", "look_up_one", "reclaim", "new_reader"};
  out << names[static_cast<int>(op.kind)] << "(" << op.n << ", priority " << op.subject.priority
      << ", value " << op.subject.value << ", ";
  for (std::size_t i = 0; i < op.subject.key.size(); ++i) {
    if (op.subject.mask[i] == 0) continue;
    out << "[" << i << "]" << +op.subject.key[i] << "/" << +op.subject.mask[i];
  }
  return out << ")";
}

byte_string spread(const few_bytes& few, std::uint32_t key_bytes) {
  byte_string all(key_bytes, 0);
  for (std::size_t place = 0; place < n_places; ++place) {
    all[byte_of(place, key_bytes)] |= few[place];
  }
  return all;
}

checked_classifier::checked_classifier(const classifier_shape& shape) : shape_(shape) {
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  params.key_bytes = shape.key_bytes;
  params.distributor = shape.distributor;
  params.proof_budget = shape.proof_budget;
  params.unpruned = !shape.pruned;
  params.rules_max = shape.rules_max;
  params.masks_max = shape.masks_max;
  params.flows = 64;
  // A failure is the same the next time.
  const std::uint8_t hash_key[32] = {1, 2, 3};
  params.hash_key = hash_key;
  char message[200] = "";
  if (coua_classifier_create(&params, &table_, message, sizeof message) != 0) {
    fail(std::string("create: ") + message);
    return;
  }
  open_reader();
}

checked_classifier::~checked_classifier() { coua_classifier_destroy(table_); }

bool checked_classifier::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
  return false;
}

bool checked_classifier::open_reader() {
  if (reader_ != nullptr) coua_classifier_reader_destroy(reader_);
  reader_ = nullptr;
  lookups_ = hits_ = 0;
  const int rc = coua_classifier_reader_create(table_, &reader_);
  return rc == 0 || fail("reader_create gave " + std::to_string(rc));
}

bool checked_classifier::apply(const classifier_op& op) {
  if (!failure_.empty()) return false;
  bool good = true;
  switch (op.kind) {
    case classifier_op_kind::add: good = add(op.subject); break;
    case classifier_op_kind::remove: good = remove(some(op)); break;
    case classifier_op_kind::get: good = get(some(op)); break;
    case classifier_op_kind::invalid: good = refuses(op.subject); break;
    case classifier_op_kind::look_up: good = look_up(op.n); break;
    case classifier_op_kind::look_up_one: good = look_up_one(op.n); break;
    case classifier_op_kind::reclaim: coua_classifier_reclaim(table_); break;
    case classifier_op_kind::new_reader: good = open_reader(); break;
  }
  if (good && check_counts()) return true;
  std::ostringstream text;
  text << "after " << op << ": " << failure_;
  failure_ = text.str();
  return false;
}

bool checked_classifier::finish() {
  return failure_.empty() && look_up(150) && check_reader() && check_counts() && check_rules();
}

// Rules.

rule checked_classifier::some(const classifier_op& op) const {
  const auto& all = list_.all();
  return all.empty() || op.n % 8 == 0 ? op.subject : all[op.n % all.size()];
}

/// What adding a new rule must answer.
int checked_classifier::room_for(const rule& added) const {
  if (shape_.rules_max != 0 && list_.all().size() == shape_.rules_max) return -ENOSPC;
  if (shape_.masks_max == 0) return COUA_CLASSIFIER_ADDED;
  std::set<byte_string> masks;
  for (const rule& one : list_.all()) masks.insert(one.mask);
  const bool refused = masks.size() == shape_.masks_max && !masks.contains(added.mask);
  return refused ? -E2BIG : COUA_CLASSIFIER_ADDED;
}

bool checked_classifier::add(const rule& added) {
  const bool is_new = list_.find(added) == nullptr;
  const int expected = is_new ? room_for(added) : COUA_CLASSIFIER_UPDATED;
  const int rc = add_to(table_, added);
  if (rc != expected) {
    return fail("add gave " + std::to_string(rc) + ", not " + std::to_string(expected));
  }
  if (expected < 0) {
    ++refused_;
    return true;
  }
  list_.add(added);
  ++(is_new ? added_ : updated_);
  return true;
}

bool checked_classifier::remove(const rule& removed) {
  const int expected = list_.remove(removed) ? 0 : -ENOENT;
  const int rc = remove_from(table_, removed);
  removed_ += expected == 0;
  return rc == expected ||
         fail("remove gave " + std::to_string(rc) + ", not " + std::to_string(expected));
}

bool checked_classifier::get(const rule& wanted) {
  const rule* found = list_.find(wanted);
  std::uint32_t value = untouched.value;
  const int rc =
      coua_classifier_get(table_, wanted.key.data(), wanted.mask.data(), wanted.priority, &value);
  if (rc != (found == nullptr ? -ENOENT : 0)) return fail("get gave " + std::to_string(rc));
  return found == nullptr || value == found->value ||
         fail("get gave the value " + std::to_string(value));
}

/// With a bit in its key that its mask leaves out.
bool checked_classifier::refuses(rule bad) {
  for (std::size_t i = 0; i < bad.mask.size(); ++i) {
    const auto outside = static_cast<std::uint8_t>(~bad.mask[i]);
    if (outside == 0) continue;
    bad.key[i] |= outside & (0u - outside);
    return (add_to(table_, bad) == -EINVAL && remove_from(table_, bad) == -EINVAL) ||
           fail("a key with bits outside its mask was taken");
  }
  return true;
}

// Look-ups.

std::vector<std::uint8_t> checked_classifier::packets(std::size_t n) const {
  std::vector<std::uint8_t> all(n * shape_.key_bytes, 0);
  std::uint32_t x = 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint8_t* packet = all.data() + i * shape_.key_bytes;
    for (std::size_t place = 0; place < n_places; ++place) {
      x = x * 1664525 + 1013904223;
      packet[byte_of(place, shape_.key_bytes)] |= static_cast<std::uint8_t>(x >> 24 & 0x83);
    }
    if (i % 2 == 0 || list_.all().empty()) continue;
    const rule& one = list_.all()[i / 2 % list_.all().size()];
    for (std::size_t b = 0; b < shape_.key_bytes; ++b) {
      packet[b] = static_cast<std::uint8_t>((packet[b] & ~one.mask[b]) | one.key[b]);
    }
  }
  return all;
}

bool checked_classifier::check_answer(const std::uint8_t* packet, bool hit,
                                      const coua_classifier_answer& answer) {
  const auto best = list_.best_priority(packet);
  if (hit != best.has_value()) return fail(hit ? "a rule from nowhere" : "a rule was missed");
  if (!hit) {
    return (answer.value == untouched.value && answer.priority == untouched.priority) ||
           fail("the answer of a key without a rule was written");
  }
  if (answer.priority != *best) {
    return fail("priority " + std::to_string(answer.priority) + ", not " + std::to_string(*best));
  }
  return list_.has(packet, answer) || fail("value " + std::to_string(answer.value));
}

bool checked_classifier::look_up(std::size_t n) {
  const std::vector<std::uint8_t> keys = packets(n);
  std::vector<coua_classifier_answer> answers(n, untouched);
  std::vector<std::uint64_t> hits(COUA_CLASSIFIER_WORDS(n), ~std::uint64_t{0});
  const std::size_t n_found =
      coua_classifier_lookup_batch(reader_, keys.data(), n, answers.data(), hits.data());
  std::size_t n_hits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool hit = (hits[i / 64] >> i % 64 & 1) != 0;
    n_hits += hit;
    if (!check_answer(keys.data() + i * shape_.key_bytes, hit, answers[i])) {
      failure_ += " for packet " + std::to_string(i) + " of " + std::to_string(n);
      return false;
    }
  }
  lookups_ += n;
  hits_ += n_hits;
  if (n_found != n_hits) return fail("a batch counted " + std::to_string(n_found) + " matches");
  return n % 64 == 0 || hits.back() >> n % 64 == 0 || fail("bits behind the last key are set");
}

/// The last of `n` packets.
bool checked_classifier::look_up_one(std::size_t n) {
  const std::vector<std::uint8_t> keys = packets(n + 1);
  const std::uint8_t* packet = keys.data() + n * shape_.key_bytes;
  coua_classifier_answer answer = untouched;
  const int hit = coua_classifier_lookup(reader_, packet, &answer);
  ++lookups_;
  hits_ += hit != 0;
  return check_answer(packet, hit != 0, answer);
}

// Counts.

bool checked_classifier::check_reader() {
  coua_classifier_reader_stats stats{};
  stats.size = sizeof stats;
  if (coua_classifier_get_reader_stats(reader_, &stats) != 0) return fail("no stats of the reader");
  if (stats.lookups != lookups_ || stats.hits != hits_) {
    return fail("the reader counted " + std::to_string(stats.lookups) + " look-ups, " +
                std::to_string(stats.hits) + " matches");
  }
  return stats.hit_probes <= stats.probes &&
                 stats.final_hints + stats.checked_hints + stats.false_hints == stats.hinted
             ? true
             : fail("the reader's counts of hints do not add up");
}

bool checked_classifier::check_counts() {
  coua_classifier_stats stats{};
  stats.size = sizeof stats;
  if (coua_classifier_get_stats(table_, &stats) != 0) return fail("no stats");
  if (stats.rules != list_.all().size() || stats.added != added_ || stats.updated != updated_ ||
      stats.removed != removed_ || stats.refused != refused_) {
    return fail("counts: " + std::to_string(stats.rules) + " rules, " +
                std::to_string(stats.added) + " added, " + std::to_string(stats.updated) +
                " updated, " + std::to_string(stats.removed) + " removed, " +
                std::to_string(stats.refused) + " refused");
  }
  std::uint64_t n_rules = 0, n_masks = 0;
  coua_classifier_mask mask{};
  mask.size = sizeof mask;
  std::uint32_t before = ~0u;
  for (; coua_classifier_get_mask(table_, n_masks, &mask) == 0; ++n_masks) {
    n_rules += mask.rules;
    if (mask.rules == 0 || mask.highest > before || mask.lowest > mask.highest) {
      return fail("mask number " + std::to_string(n_masks) + " is wrong");
    }
    before = mask.highest;
  }
  return (n_rules == stats.rules && n_masks == stats.masks) || fail("rules or masks do not add up");
}

bool checked_classifier::check_rules() {
  struct telling {
    std::size_t key_bytes;
    linear_rules left;
  } all{shape_.key_bytes, list_};
  const auto told = [](void* context, const void* key, const void* mask, std::uint32_t priority,
                       std::uint32_t value) {
    auto& those = *static_cast<telling*>(context);
    const auto* key_bytes = static_cast<const std::uint8_t*>(key);
    const auto* mask_bytes = static_cast<const std::uint8_t*>(mask);
    const rule one{{key_bytes, key_bytes + those.key_bytes},
                   {mask_bytes, mask_bytes + those.key_bytes},
                   priority,
                   value};
    const rule* expected = those.left.find(one);
    return expected != nullptr && expected->value == value && those.left.remove(one) ? 0 : 1;
  };
  return (coua_classifier_each(table_, told, &all) == 0 && all.left.all().empty()) ||
         fail("each() does not tell the rules there are");
}

}  // namespace coua::test
