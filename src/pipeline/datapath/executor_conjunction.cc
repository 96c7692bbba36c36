// SPDX-License-Identifier: Apache-2.0
//
// Conjunctions (model/conjunction.h). The clauses of a table are a classifier of their own, in
// which a packet may meet many rules: they are gone through from the highest priority down, until
// one is not above the rule that counts otherwise. No product of clauses is ever made: memory is
// that of the rules, time that of the clauses that match.
#include <bit>

#include "pipeline/datapath/executor.h"
#include "pipeline/datapath/executor_asked.h"

namespace coua::pipeline {

void executor::look_up_conjunctions(table_id table, const packet_list& list,
                                    met_rules& found) noexcept {
  const wildcard_table* const clauses = plan_->clauses[table];
  const std::size_t stride = clauses->stride();
  const asked which(list, packets_, clauses->layout().needs());
  // Other look-ups come before all is done.
  clauses->layout().take(packets_, which.slots_or_first(), which.n(), clause_keys_, stride);
  record_id heads[burst_max];
  std::uint32_t ranks[burst_max];
  clauses->look_up(worker_, clause_keys_, which.n(), heads, ranks);
  for (unsigned i = 0; i < which.n(); ++i) {
    if (heads[i] == 0) continue;
    const unsigned k = which.which(i);
    const met_rule one = find_conjunction(table, list.at[k], found.records[k],
                                          clause_keys_ + i * stride, heads[i], ranks[i]);
    if (one.record != nullptr) found.put(k, one);
  }
}

met_rule executor::find_conjunction(table_id table, slot at, const action_record* other,
                                    const std::uint64_t* key, record_id head,
                                    std::uint32_t rank) noexcept {
  const wildcard_table& clauses = *plan_->clauses[table];
  std::uint32_t priority = rank >> 16;
  n_conjunctions_ = 0;
  for (; head != 0; head = clauses.look_up_below(worker_, key, rank)) {
    if (other != nullptr && rank >> 16 <= other->traits.priority) break;
    if (rank >> 16 != priority) {
      const met_rule one = settle_conjunctions(table, at);
      if (one.record != nullptr) return one;
      priority = rank >> 16;
      n_conjunctions_ = 0;
    }
    const action_record* clause = follows_.records->at(head, version_);
    if (clause != nullptr) meet(*clause);
  }
  return settle_conjunctions(table, at);
}

void executor::meet(const action_record& clause) noexcept {
  const op* ops = clause.ops();
  for (std::size_t i = 0; i < clause.shape->steps.size(); ++i) {
    const op& one = ops[i];
    std::uint32_t to = 0;
    while (to < n_conjunctions_ &&
           (conjunctions_[to].id != one.number || conjunctions_[to].n_clauses != one.small)) {
      ++to;
    }
    if (to == met_conjunctions_max) continue;
    if (to == n_conjunctions_) conjunctions_[n_conjunctions_++] = {one.number, one.small, 0};
    conjunctions_[to].clauses |= std::uint64_t{1} << one.which;
  }
}

met_rule executor::settle_conjunctions(table_id table, slot at) noexcept {
  const auto end = conjunctions_.data() + n_conjunctions_;
  auto complete = std::partition(conjunctions_.data(), end, [](const met_conjunction& one) {
    return static_cast<unsigned>(std::popcount(one.clauses)) == one.n_clauses;
  });
  // The lowest id that leads to a rule.
  for (auto from = conjunctions_.data(); from != complete; ++from) {
    std::iter_swap(from, std::min_element(from, complete, [](const auto& a, const auto& b) {
                     return a.id < b.id;
                   }));
    const packet_list alone(at);
    met_rules found;
    packets_[at].conj_id = from->id;
    look_up(*plan_->tables[table], alone, found);
    packets_[at].conj_id = 0;
    if (found.records[0] != nullptr) return found.at(0);
  }
  return {};
}

}  // namespace coua::pipeline
