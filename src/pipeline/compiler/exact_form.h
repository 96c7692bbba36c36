// SPDX-License-Identifier: Apache-2.0
//
// The exact template: rules are entries of a store that all tables with the same layout share, and
// a rule that matches every packet may stand below them. A few that take other bits are apart, in a
// direct table: they come and go without the others being touched.
#pragma once

#include <set>

#include "pipeline/compiler/direct_form.h"
#include "pipeline/compiler/placed_form.h"
#include "pipeline/datapath/exact_store.h"

namespace coua::pipeline {

/// A store, and the tables that have, or had, entries in it.
struct shared_store {
  explicit shared_store(std::unique_ptr<exact_store> made) : store(std::move(made)) {}

  /// It is so much too large for what is in it that it is to be built anew.
  bool is_too_large() const {
    return store->room() > smallest && store->size() * 16 < store->room();
  }
  static constexpr std::uint64_t smallest = 256;  // entries

  /// What a table left here that no batch is at any more.
  void purge(table_id table) {
    left.erase(table);
    if (!tables.empty()) store->erase_table(table);  // else it goes as a whole
  }

  std::unique_ptr<exact_store> store;
  std::set<table_id> tables;  // that are looked up here
  std::set<table_id> left;    // have gone, but their entries wait for a grace period
};

/// A table's keys in a store, as places.
struct exact_places {
  struct where {
    exact_store::key key;
    auto operator<=>(const where&) const = default;
  };

  /// None: it takes other bits.
  std::optional<where> of(const match& what) const {
    const auto key = store->key_of(what, table);
    return key ? std::optional(where{*key}) : std::nullopt;
  }
  record_id head(const where& at) const { return static_cast<record_id>(store->find(at.key)); }
  result<void> put(const where& at, record_id head) {
    if (store->put(at.key, head)) return {};
    return fail(errc::no_room, "hash table", "no room for an entry");
  }
  void erase(const where& at) { store->erase(at.key); }

  exact_store* store;
  table_id table;
};

class exact_form final : public placed_form<exact_places> {
 public:
  exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store);
  /// With the rules of one that retires next, whose entries are in the store already.
  exact_form(exact_form& from, std::shared_ptr<shared_store> store);

  bool takes(const match& what) const override;
  bool takes_all(const std::vector<rule_step>& changes) const override;
  result<void> finish() override { return apart_->finish(); }
  void retire() override;
  /// Of the rules apart: the store may be other tables', too.
  std::uint64_t bytes() const override { return has_rules_apart() ? apart_->bytes() : 0; }

  const std::shared_ptr<shared_store>& store() const { return store_; }
  /// Of rules apart, also of those that were until a grace period ago.
  unsigned n_rows_apart() const { return apart_->n_rows(); }
  bool has_rules_apart() const { return n_rows_apart() != 0; }
  /// A rule with this match would be.
  bool is_apart(const match& what) const { return !what.is_any() && !places_.of(what); }

 private:
  exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store,
             std::shared_ptr<direct_form> apart);
  table_form* apart() override { return apart_.get(); }

  std::shared_ptr<shared_store> store_;
  std::shared_ptr<direct_form> apart_;
  bool is_taken_over_ = false;  // the rules apart are another's
};

}  // namespace coua::pipeline
