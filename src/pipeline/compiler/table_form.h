// SPDX-License-Identifier: Apache-2.0
//
// A table of the model as one of the datapath's templates: what is there for workers (stage()), and
// how rules come and go in it while they look.
//
// add, replace and remove are for the version that is being made: until it is published no batch
// sees their effect. What remove() leaves behind says that the rule is gone; bury() takes it out,
// once no batch is at a version that has the rule.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pipeline/compiler/compile_context.h"
#include "pipeline/compiler/rule_step.h"
#include "pipeline/datapath/plan.h"
#include "pipeline/model/operation.h"

namespace coua::pipeline {

class table_form : public std::enable_shared_from_this<table_form> {
 public:
  virtual ~table_form() = default;
  table_form(const table_form&) = delete;
  table_form& operator=(const table_form&) = delete;

  const table_stage& stage() const { return stage_; }
  table_template kind() const { return stage_.kind; }
  /// Whether the rule's match can be had without building anew.
  virtual bool takes(const match& what) const = 0;
  /// Whether those of all rules that come can be, together.
  virtual bool takes_all(const std::vector<rule_step>& changes) const {
    return std::all_of(changes.begin(), changes.end(), [this](const rule_step& one) {
      return one.after == nullptr || one.before != nullptr || takes((*one.after)->match);
    });
  }

  /// Whether one that comes is taken without anything being built anew, when `n_changes` come one
  /// by one.
  virtual bool takes_quickly(const rule_mod& added, std::size_t /*n_changes*/) const {
    return takes(added.match);
  }

  // Rules are numbered. Errors: no_room, no_memory; what was done stays half done: the table must
  // be built anew.
  virtual result<void> add(const rule_ptr& one) = 0;
  virtual result<void> replace(const rule_ptr& one) = 0;
  virtual result<void> remove(const rule_ptr& one) = 0;
  /// After the changes of a version, before it is published.
  virtual result<void> finish() { return {}; }
  /// So many rules lead to records that they share, and to so many of these.
  struct sharing {
    std::uint64_t rules = 0, records = 0;
  };
  virtual sharing shared() const { return {}; }
  /// After a grace period, rules that do the same share a record, where it pays.
  virtual void share_later() {}
  /// Those of versions up to `until`, from before which no batch is.
  virtual void share_records(version_no /*until*/) {}
  /// Takes out what remove() left, if it is still there.
  virtual void bury(record_id gone) = 0;
  /// Another form serves the table, or none: all records go.
  virtual void retire() = 0;

  virtual std::uint64_t bytes() const = 0;
  /// A rule with this match would be apart from most (choose_template.h).
  virtual bool is_apart(const match& /*what*/) const { return false; }
  /// It is made for rules like this one, but for those of them that are apart.
  virtual bool is_for(const match& /*most*/) const { return true; }
  /// Of rules apart, also of those that were until a grace period ago.
  virtual unsigned n_rows_apart() const { return 0; }
  bool has_rules_apart() const { return n_rows_apart() != 0; }
  /// How it was split, for `coua explain`; empty: it was not.
  virtual std::string by() const { return {}; }

 protected:
  table_form(compile_context& in, table_template kind, table_id table) : in_(in) {
    stage_.kind = kind;
    stage_.table = table;
  }

  compile_context& in_;
  table_stage stage_;
};

/// The form as what it is. Null: it is another one, or none.
template <class Form>
Form* as(table_form* one) {
  return one != nullptr && one->kind() == Form::own_kind ? static_cast<Form*>(one) : nullptr;
}
template <class Form>
const Form* as(const table_form* one) {
  return as<Form>(const_cast<table_form*>(one));
}

/// Records that say that a rule is gone, and where; each is buried after a grace period.
template <class Where>
class burials {
 public:
  void add(compile_context& in, table_form& of, record_id gone, Where where) {
    waiting_.emplace(gone, std::move(where));
    in.garbage.emplace_back([form = of.weak_from_this(), gone] {
      if (const auto there = form.lock()) there->bury(gone);
    });
  }
  /// None: it was taken out before.
  std::optional<Where> take(record_id gone) {
    const auto at = waiting_.find(gone);
    if (at == waiting_.end()) return std::nullopt;
    Where where = std::move(at->second);
    waiting_.erase(at);
    return where;
  }
  /// Forgets all; returns them.
  std::vector<record_id> clear() {
    std::vector<record_id> all;
    for (const auto& [gone, where] : waiting_) all.push_back(gone);
    waiting_.clear();
    return all;
  }

 private:
  std::unordered_map<record_id, Where> waiting_;
};

}  // namespace coua::pipeline
