// SPDX-License-Identifier: Apache-2.0
//
// The exact template: rules are entries of a store that all tables with the same layout share, and
// a rule that matches every packet may stand below them.
#pragma once

#include <set>

#include "pipeline/compiler/rule_places.h"
#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

/// A store, and the tables that have, or had, entries in it.
struct shared_store {
  explicit shared_store(std::unique_ptr<exact_store> made) : store(std::move(made)) {}
  std::unique_ptr<exact_store> store;
  std::set<table_id> tables;
  std::set<table_id> left;  // have gone, but not all of their entries
};

class exact_form final : public table_form {
 public:
  exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store);

  /// Whether the match is an entry of the layout, with all of its bits.
  static bool fits(const key_layout& layout, const match& what);
  bool takes(const match& what) const override;
  result<void> add(const rule_ptr& one) override;
  result<void> replace(const rule_ptr& one) override;
  result<void> remove(const rule_ptr& one) override;
  void bury(record_id gone) override;
  void retire() override;
  std::uint64_t bytes() const override { return 0; }  // the store's

  const std::shared_ptr<shared_store>& store() const { return store_; }

 private:
  /// A key as a place.
  struct where {
    exact_store::key key;
    auto operator<=>(const where&) const = default;
  };
  struct entries {
    exact_store& of;
    record_id head(const where& at) const { return of.find(at.key); }
    result<void> put(const where& at, record_id head) {
      if (of.put(at.key, head)) return {};
      return fail(errc::no_room, "hash table", "no room for an entry");
    }
    void erase(const where& at) { of.erase(at.key); }
  };

  where place_of(const match& what) const { return {store_->store->key_of(what, stage_.table)}; }
  entries store_of_entries() { return {*store_->store}; }

  std::shared_ptr<shared_store> store_;
  rule_places<where> places_;
  rule_places<catch_all_place> catch_all_;
};

}  // namespace coua::pipeline
