// SPDX-License-Identifier: Apache-2.0
//
// Random operations, bundles and the passing of time, against a list of rules that is searched from
// front to back and copied before each bundle; a failing list is shrunk. Matches, priorities,
// cookies and actions are few, so that rules meet.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>

#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

/// One rule of the naive list; matches as two small numbers under masks.
struct naive_match {
  unsigned value = 0, mask = 0;  // of eth_dst
  bool operator==(const naive_match&) const = default;
};
struct naive_rule {
  unsigned table, priority;
  naive_match what;
  unsigned cookie, idle_s, hard_s, port;  // port 0: group 1
  std::uint64_t added, used, packets;
};

struct step {
  enum kind {
    add,
    modify,
    modify_strict,
    remove,
    remove_strict,
    add_group,
    remove_group,
    count,
    wait
  } what;
  unsigned table, priority;
  naive_match match;
  unsigned cookie, cookie_mask, idle_s, hard_s, port, out_port;
  bool overlap, reset, joined;  // joined: in one bundle with the next operation
};
std::ostream& operator<<(std::ostream& out, const step& one) {
  return out << "{" << one.what << " table " << one.table << " priority " << one.priority << " "
             << one.match.value << "/" << one.match.mask << " cookie " << one.cookie << "/"
             << one.cookie_mask << " idle " << one.idle_s << " hard " << one.hard_s << " port "
             << one.port << " out " << one.out_port << (one.overlap ? " overlap" : "")
             << (one.reset ? " reset" : "") << (one.joined ? " joined" : "") << "}";
}

constexpr unsigned n_tables = 3;
constexpr std::size_t rules_max = 12;

match real(const naive_match& from) {
  return test::where({{field::eth_dst, from.value, from.mask}});
}
instructions real_actions(unsigned port) {
  return port == 0 ? test::apply({act::group{1}}) : test::apply({test::output(port)});
}

class naive_list {
 public:
  bool has_group = true;
  std::vector<naive_rule> rules;

  /// False: refused, and nothing is changed.
  bool apply(const step& one, std::uint64_t now) {
    const bool all = one.table == n_tables;
    const bool removes = one.what == step::remove || one.what == step::remove_strict;
    if (one.what == step::remove_group) {
      std::erase_if(rules, [](const naive_rule& r) { return r.port == 0; });
      has_group = false;
      return true;
    }
    if (one.what == step::add_group) return std::exchange(has_group, true) == false;
    if (all && !removes) return false;
    if (removes) {
      std::erase_if(rules, [&](const naive_rule& r) {
        return meant(one, r) && (one.out_port == 0 || r.port == one.out_port);
      });
      return true;
    }
    if (one.what == step::add) return add(one, now);
    for (naive_rule& r : rules) {
      if (meant(one, r) && one.port == 0 && !has_group) return false;
    }
    for (naive_rule& r : rules) {
      if (!meant(one, r)) continue;
      r.port = one.port;
      if (one.reset) r.packets = 0;
    }
    return true;
  }

  void expire(std::uint64_t now) {
    std::erase_if(rules, [now](const naive_rule& r) {
      return (r.hard_s != 0 && now >= r.added + r.hard_s * ns_per_s) ||
             (r.idle_s != 0 && now >= r.used + r.idle_s * ns_per_s);
    });
  }

 private:
  static bool meant(const step& one, const naive_rule& r) {
    if (one.table != n_tables && one.table != r.table) return false;
    if (((one.cookie ^ r.cookie) & one.cookie_mask) != 0) return false;
    if (one.what == step::modify_strict || one.what == step::remove_strict) {
      return r.what == one.match && r.priority == one.priority;
    }
    return (one.match.mask & ~r.what.mask) == 0 &&
           ((one.match.value ^ r.what.value) & one.match.mask) == 0;
  }

  bool add(const step& one, std::uint64_t now) {
    if (one.port == 0 && !has_group) return false;
    naive_rule* same = nullptr;
    for (naive_rule& r : rules) {
      if (r.table != one.table || r.priority != one.priority) continue;
      const unsigned common = r.what.mask & one.match.mask;
      if (one.overlap && ((r.what.value ^ one.match.value) & common) == 0) return false;
      if (r.what == one.match) same = &r;
    }
    if (same == nullptr && rules.size() == rules_max) return false;
    const std::uint64_t packets = same != nullptr && !one.reset ? same->packets : 0;
    if (same == nullptr) same = &rules.emplace_back();
    *same = {one.table,  one.priority, one.match, one.cookie, one.idle_s,
             one.hard_s, one.port,     now,       now,        packets};
    return true;
  }
};

operation real_operation(const step& one) {
  if (one.what == step::remove_group) return group_mod{mod_command::remove, {.id = 1}};
  if (one.what == step::add_group) return test::add_group(1, group_type::all, {});
  constexpr rule_command commands[] = {rule_command::add, rule_command::modify,
                                       rule_command::modify_strict, rule_command::remove,
                                       rule_command::remove_strict};
  const bool all = one.table == n_tables;
  rule_mod made = test::change_rules(
      commands[one.what], all ? table_all : static_cast<table_id>(one.table),
      static_cast<std::uint16_t>(one.priority), real(one.match), real_actions(one.port));
  made.cookie = one.cookie;
  made.cookie_mask = one.cookie_mask;
  made.idle_timeout_s = static_cast<std::uint16_t>(one.idle_s);
  made.hard_timeout_s = static_cast<std::uint16_t>(one.hard_s);
  made.out_port = one.out_port == 0 ? port_any : one.out_port;
  made.flags = static_cast<std::uint16_t>((one.overlap ? rule_check_overlap : 0) |
                                          (one.reset ? rule_reset_counts : 0));
  return made;
}

/// The bridge holds exactly what the list does.
void compare(const bridge& b, const naive_list& list) {
  RC_ASSERT(b.n_rules() == list.rules.size());
  RC_ASSERT((b.find_group(1) != nullptr) == list.has_group);
  std::size_t sum = 0, grouped = 0;
  for (const rule_table& table : b.tables()) sum += table.size();
  RC_ASSERT(sum == list.rules.size());
  for (const naive_rule& r : list.rules) {
    const auto* one =
        b.tables()[r.table].find(static_cast<std::uint16_t>(r.priority), real(r.what));
    RC_ASSERT(one != nullptr);
    RC_ASSERT(one->rule->cookie == r.cookie);
    RC_ASSERT(one->rule->instructions == real_actions(r.port));
    RC_ASSERT(one->rule->added == r.added);
    RC_ASSERT(one->state.used == r.used);
    RC_ASSERT(one->state.counted.packets == r.packets);
    RC_ASSERT(b.find_rule(one->rule->id) == one);
    grouped += r.port == 0;
  }
  if (list.has_group) RC_ASSERT(b.find_group(1)->state.n_rules == grouped);
  // The rule that counts has the highest priority of those that match.
  for (unsigned table = 0; table < n_tables; ++table) {
    for (unsigned dst = 0; dst < 8; ++dst) {
      std::optional<unsigned> best;
      for (const naive_rule& r : list.rules) {
        if (r.table != table || (dst & r.what.mask) != r.what.value) continue;
        if (!best || r.priority > *best) best = r.priority;
      }
      field_values packet;
      packet.set(field::eth_dst, dst);
      const auto* found = b.tables()[table].look_up(packet);
      RC_ASSERT((found != nullptr) == best.has_value());
      if (found != nullptr) {
        RC_ASSERT(found->rule->priority == *best);
        RC_ASSERT(found->rule->match.matches(packet));
      }
    }
  }
}

rc::Gen<step> arbitrary_step() {
  const auto what = rc::gen::weightedElement<step::kind>({{10, step::add},
                                                          {2, step::modify},
                                                          {2, step::modify_strict},
                                                          {1, step::remove},
                                                          {3, step::remove_strict},
                                                          {1, step::remove_group},
                                                          {1, step::add_group},
                                                          {3, step::count},
                                                          {2, step::wait}});
  const auto small = [](unsigned end) { return rc::gen::inRange<unsigned>(0, end); };
  const auto zero_mostly = [](unsigned end) {
    return rc::gen::weightedOneOf<unsigned>(
        {{3, rc::gen::just(0U)}, {1, rc::gen::inRange<unsigned>(0, end)}});
  };
  return rc::gen::map(
      rc::gen::tuple(what,
                     rc::gen::weightedElement<unsigned>({{8, 0}, {4, 1}, {4, 2}, {1, n_tables}}),
                     small(3), small(8), rc::gen::element<unsigned>(0, 4, 6, 7), small(4),
                     zero_mostly(4), zero_mostly(5), zero_mostly(5), small(3), zero_mostly(3),
                     zero_mostly(3), zero_mostly(3), zero_mostly(3)),
      [](const auto& parts) {
        const auto& [kind, table, priority, value, mask, cookie, cookie_mask, idle, hard, port, out,
                     overlap, reset, joined] = parts;
        return step{kind, table, priority, {value & mask, mask}, cookie,     cookie_mask, idle,
                    hard, port,  out,      overlap != 0,         reset != 0, joined != 0};
      });
}

/// Applies a bundle to both; both take it or refuse it.
void run_bundle(bridge& b, naive_list& list, const std::vector<step>& bundle, std::uint64_t now) {
  std::vector<operation> operations;
  naive_list tried = list;
  bool good = true;
  for (const step& one : bundle) {
    operations.push_back(real_operation(one));
    good = good && tried.apply(one, now);
  }
  const std::uint64_t version = b.version();
  const of_result<change_list> done =
      operations.size() == 1 ? b.apply(operations[0], now) : b.apply(operations, now);
  RC_ASSERT(done.has_value() == good);
  RC_ASSERT(b.version() == version + (good && !done->empty() ? 1 : 0));
  if (good) list = std::move(tried);
}

/// Packets meet the rules of a table and priority, or time passes.
void pass_time(bridge& b, naive_list& list, const step& one, std::uint64_t& now) {
  if (one.what == step::wait) {
    now += one.idle_s * ns_per_s / 2;
    b.expire(now);
    list.expire(now);
    return;
  }
  for (naive_rule& r : list.rules) {
    if (r.table != one.table || r.priority != one.priority) continue;
    const auto* real_one =
        b.tables()[r.table].find(static_cast<std::uint16_t>(r.priority), real(r.what));
    RC_ASSERT(real_one != nullptr);
    b.count_rule(real_one->rule->id, {2, 100}, now);
    r.packets += 2;
    r.used = now;
  }
}

TEST(bridge_model, agrees_with_a_list) {
  const bool passed = rc::check("random operations", [] {
    // Ranges shrink with the size, so that is set here and not left to grow.
    const auto steps = *rc::gen::scale(
        3.0, rc::gen::container<std::vector<step>>(rc::gen::resize(100, arbitrary_step())));
    bridge b = test::make_bridge({.n_tables = n_tables, .rules_max = rules_max});
    test::must(b, test::add_group(1, group_type::all, {}));
    naive_list list;
    std::uint64_t now = ns_per_s;
    std::vector<step> bundle;
    for (const step& one : steps) {
      if (one.what == step::count || one.what == step::wait) {
        pass_time(b, list, one, now);
        continue;
      }
      bundle.push_back(one);
      if (one.joined) continue;
      run_bundle(b, list, std::exchange(bundle, {}), now);
      compare(b, list);
    }
  });
  EXPECT_TRUE(passed);
}

}  // namespace
}  // namespace coua::pipeline
