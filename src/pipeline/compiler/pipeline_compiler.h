// SPDX-License-Identifier: Apache-2.0
//
// The flow compiler (ESWITCH, SIGCOMM 2016): keeps a plan of specialised tables that does what a
// bridge of the model says, through all of its changes.
//
//   change_list --> groups and meters --> tables --> plan, if one changed its shape --> version
//                   group_compiler        table_form      datapath/plan.h               published
//
// A table's rules decide its template (choose_template.h). A change that the template takes is made
// in place; one that it does not has the table built anew beside the old one, by the template that
// serves it now. Either way packets see all of a change list, or nothing of it: everything that is
// new counts from the version that is being made, which is published last (datapath/versions.h).
//
// What fails (memory, room) fails before the version is published. What is half made then is made
// anew by recover(), when the model has been put back.
//
// Thread rules: one thread, that of the model. Workers read the plan and write their counts.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/reclaimer.h"
#include "pipeline/compiler/choose_template.h"
#include "pipeline/compiler/exact_form.h"
#include "pipeline/compiler/group_compiler.h"
#include "pipeline/compiler/join_tables.h"
#include "pipeline/compiler/needed_depth.h"
#include "pipeline/compiler/rule_step.h"
#include "pipeline/compiler/wildcard_form.h"

namespace coua::pipeline {

struct compiler_params {
  unsigned n_workers = 1;
  /// Beside three for each rule: for what was replaced while workers may still use it.
  std::size_t spare_records = std::size_t{1} << 16;
  template_limits limits = {};
  /// Entries of a table (exact ones: of all that are in one store) from which on rules that do the
  /// same share records. With fewer, records stay in a second-level cache as they are.
  std::size_t share_from = 4096;
  /// How long the rules of the first table and of those behind it must stay as they are to be
  /// joined (join_tables.h); table_joiner::never: they are not.
  time_ns join_after = ns_per_s / 10;
};

/// What is in use, things that wait for a grace period included.
struct compiler_usage {
  std::size_t records = 0;       // of rules, also of those that are gone
  std::size_t counters = 0;      // numbers under which workers count
  std::size_t shapes = 0;        // of rules
  std::size_t action_lists = 0;  // shared
  std::size_t stores = 0;        // of exact tables
  std::size_t shared = 0;        // of the records, those that rules share
  bool operator==(const compiler_usage&) const = default;
};

class pipeline_compiler {
 public:
  /// For a bridge that has nothing in it yet, and outlives it. Errors: no_memory.
  static result<std::unique_ptr<pipeline_compiler>> create(const bridge& model,
                                                           const compiler_params& params = {});
  /// No worker is under way.
  ~pipeline_compiler();
  pipeline_compiler(const pipeline_compiler&) = delete;
  pipeline_compiler& operator=(const pipeline_compiler&) = delete;

  published_plan& published() { return published_; }
  const published_plan& published() const { return published_; }
  worker_counts& counts(unsigned worker) { return context_.counts.of(worker); }

  /// After the model did them, before it lets go of what was. Errors: no_room, no_memory; then the
  /// model must be put back, and recover() called.
  result<void> follow(const change_list& changes, time_ns now);
  void recover();

  /// Whether follow() would do these, each by itself, in a moment: none of them looks at all rules
  /// of a large table, or has one built anew. The model has not done them.
  bool is_quick(std::span<const operation> operations);

  /// Of a packet-out, whose actions were checked. For the version that is published now.
  stored_ops compile_packet_out(const action_list& actions) const {
    return context_.actions.compile_list(actions, packet_in_reason::action, no_cookie);
  }

  std::shared_ptr<const learning> find_learning(std::uint64_t id) const {
    return context_.actions.find_learning(id);
  }

  /// Frees what workers have left; never waits. Returns how much is still held.
  std::size_t reclaim();
  /// What is to be done when batches have gone on.
  std::size_t n_deferred() const { return n_deferred_ + context_.garbage.size(); }
  /// Adds what workers counted since the last time to the model.
  void collect(bridge& model, time_ns now);
  /// Between versions, now and then: what waits for a quiet time.
  void tend(time_ns now);
  /// After the changes were done: what workers counted until then of rules that are gone goes to
  /// `done`, as the last that they counted; of those that go on, it counts as it did before.
  /// Bursts that are under way may be missed.
  void collect_changed(bridge& model, change_list& done, time_ns now);

  // How it serves a table now; null: there are no rules.
  const template_choice* choice(table_id table) const;
  /// And why by no cheaper one, of a table that has rules.
  std::vector<refused_template> why_not_cheaper(table_id table) const {
    return tables_[table].keeper.why_not_cheaper(tables_[table].shape);
  }
  const table_form* form(table_id table) const { return tables_[table].form.get(); }
  /// Of what serves the rules and the clauses of a table. Tables that share a store have of it the
  /// part that their rules are, so that the sum over all tables is what there is.
  std::uint64_t bytes(table_id table) const;
  const std::vector<std::shared_ptr<shared_store>>& stores() const { return stores_; }
  const table_joiner& joined() const { return joiner_; }
  compiler_usage usage() const;
  /// Packets do not come to the tables (published_plan::all_normal).
  bool is_l2_switch() const { return number_of_normal() != published_plan::not_normal; }

 private:
  struct table_state {
    table_shape shape;
    template_keeper keeper;
    std::shared_ptr<table_form> form;
    // Of the rules that are clauses of conjunctions, which are in neither of the above.
    std::shared_ptr<wildcard_form> clauses;
  };
  /// Of one table, in one version.
  using rule_changes = std::vector<rule_step>;
  /// How many rules exact tables have whose keys are the same.
  using rules_by_keys = std::vector<std::pair<key_layout, std::uint64_t>>;

  pipeline_compiler(const bridge& model, action_records records, count_book counts,
                    const compiler_params& params);

  /// With so many others.
  bool is_quick(const rule_mod& asked, std::size_t n_changes);
  /// The keeper would leave a large table as it is, with one rule more.
  bool would_stay_with(const rule_mod& added, std::size_t n_changes);
  void note(const change_list& changes, bool forward);
  result<void> carry_out(const change_list& changes, time_ns now);
  /// What follow() did before it failed, as far as it needs no model: recover() does the rest.
  void take_back(const change_list& changes);
  result<void> number_rules(const change_list& changes);
  void forget_rules(const change_list& changes);
  result<void> change_tables(const change_list& changes);
  result<void> change_in_place(table_id table, const rule_changes& changes);
  static result<void> change_form(table_form& form, const rule_changes& changes);
  bool breaks(table_id table, const rule_changes& changes) const;
  /// The rules that are most of the table now are those that are apart.
  bool is_inside_out(table_id table, const rule_changes& changes) const;
  /// It is of prefixes, and to be of those of another field.
  bool has_other_field(table_id table) const;
  static void put_in_order(rule_changes& changes);
  /// Whether a table is built anew: what it has does not take the changes, or something cheaper
  /// would serve it.
  enum class building : std::uint8_t { none, would_be_better, must };
  building how_to_build(table_id table, const rule_changes& changes);
  /// These keep what they have, for something cheaper could not be built.
  void stay(const std::set<table_id>& tables, const error& why);
  /// Which template is to serve the table; wanted() tells.
  void ask_keeper(table_id table, std::size_t n_changes, bool fits);
  table_template wanted(table_id table) const;
  /// Of the rules, for exact of those that are not apart.
  key_layout layout_of(table_id table, table_template kind) const;
  /// Of stores without room for what comes, or with far too much: their tables, but for those that
  /// are built anew, move to another one.
  result<void> resize_stores(const std::set<table_id>& build,
                             const std::map<table_id, rule_changes>& changes);
  result<void> resize(const shared_store& from, const std::set<table_id>& build,
                      const std::map<table_id, rule_changes>& changes);
  void share_in_stores();
  result<void> build(const std::set<table_id>& tables);
  rules_by_keys exact_rules_of(const std::set<table_id>& tables) const;
  /// `exact`: of the tables that are built at once.
  result<std::shared_ptr<table_form>> make_form(table_id table, const rules_by_keys& exact);
  result<std::shared_ptr<table_form>> make_exact(table_id table, const key_layout& layout,
                                                 const rules_by_keys& exact);
  result<std::shared_ptr<table_form>> make_classifier(table_id table, const key_layout& layout);
  result<std::shared_ptr<table_form>> make_prefixes(table_id table);
  void install(table_id table, std::shared_ptr<table_form> made);
  // compile_clauses.cc
  result<void> change_clauses(table_id table, const rule_changes& changes);
  result<void> build_clauses(table_id table);
  void install_clauses(table_id table, std::shared_ptr<wildcard_form> made);
  /// A form that serves no table any more, or never did.
  void discard(std::shared_ptr<table_form> gone);
  /// The tables of the store are to be built anew in another one.
  void leave(const shared_store& which, std::set<table_id>& build);
  void publish();
  /// Of published_plan::all_normal.
  std::uint32_t number_of_normal() const;
  std::uint64_t share_of(const shared_store& store, table_id table) const;
  void defer_garbage();

  const bridge& model_;
  const unsigned n_workers_;
  const template_limits limits_;
  published_plan published_;
  reclaimer reclaimer_;
  compile_context context_;
  group_compiler groups_;  // gives its numbers back to the context
  table_joiner joiner_;
  std::array<table_state, n_tables_max> tables_;
  std::vector<std::shared_ptr<shared_store>> stores_;  // that tables are looked up in
  needed_depth depth_;
  std::unique_ptr<port_list> ports_;
  std::unique_ptr<plan> plan_;
  // In the version that is being made.
  bool plan_changes_ = false;
  std::set<table_id> touched_;                          // tables of which something is done already
  std::set<table_id> touched_clauses_;                  // likewise
  std::map<table_id, template_keeper> keepers_before_;  // of tables that change
  std::set<const shared_store*> leaving_;
  std::size_t n_deferred_ = 0;  // actions that the reclaimer has
};

}  // namespace coua::pipeline
