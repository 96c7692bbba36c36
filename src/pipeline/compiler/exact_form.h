// SPDX-License-Identifier: Apache-2.0
//
// The exact template: rules are entries of a store that all tables with the same layout share, a
// rule that matches every packet may stand below them, and a few that take other bits are apart.
#pragma once

#include <set>

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
  /// Its rules share records.
  bool is_large(const compile_context& in) const { return store->size() >= in.share_from; }

  /// What a table left here that no batch is at any more.
  void purge(table_id table) {
    left.erase(table);
    if (!tables.empty()) store->erase_table(table);  // else it goes as a whole
  }

  std::unique_ptr<exact_store> store;
  std::set<table_id> tables;  // that are looked up here
  std::set<table_id> left;    // have gone, but their entries wait for a grace period
  bool was_large = false;     // in the version before
};

/// A table's keys in a store, as places.
struct exact_places {
  struct where {
    exact_store::key key;
    auto operator<=>(const where&) const = default;
  };

  bool has(const match& what) const { return store->has_key_of(what); }
  bool are_for(const match& most) const { return has(most); }
  /// None: it takes other bits.
  std::optional<where> of(const match& what) const {
    const auto key = store->key_of(what, table);
    return key ? std::optional(where{*key}) : std::nullopt;
  }
  rule_head head(const where& at) const { return rule_head::of(store->find(at.key)); }
  result<void> put(const where& at, rule_head head) {
    if (store->put(at.key, head.word())) return {};
    return fail(errc::no_room, "hash table", "no room for an entry");
  }
  void erase(const where& at) { store->erase(at.key); }

  exact_store* store;
  table_id table;
};

class exact_form final : public placed_form<exact_places> {
 public:
  static constexpr table_template own_kind = table_template::exact;

  exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store);
  /// With the rules of one that retires next, whose entries are in the store already.
  exact_form(exact_form& from, std::shared_ptr<shared_store> store);

  /// Entries of rules that are gone may still be there.
  bool takes_quickly(const rule_mod& added, std::size_t n_changes) const override {
    return store_->store->size() + n_changes <= store_->store->room() && takes(added.match);
  }
  const std::shared_ptr<shared_store>& store() const { return store_; }

 private:
  bool has_many() const override { return store_->is_large(in_); }
  /// The store may be other tables', too.
  std::uint64_t bytes_of_places() const override { return 0; }

  std::shared_ptr<shared_store> store_;
};

}  // namespace coua::pipeline
