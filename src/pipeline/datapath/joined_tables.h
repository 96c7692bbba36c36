// SPDX-License-Identifier: Apache-2.0
//
// The first table and those behind it as one look-up. What stands first is often small: which port
// and tag a packet came with, and so whose table of addresses it goes to. Each rule of such a table
// and each rule that it leads to are then one entry of an exact store, with a record that does what
// both do (compiler/join_tables.h). A packet that has no entry goes to the first table, as ever.
//
// An entry is never changed: with the first change of one of its tables, a version later, the whole
// thing is not there any more. So there is nothing in it to be asked for by version.
#pragma once

#include <memory>

#include "pipeline/datapath/exact_store.h"

namespace coua::pipeline {

struct joined_tables {
  /// Batches before it have other rules.
  version_no from = 0;
  /// To the head of a record, which counts at every version; keys are of table 0.
  std::unique_ptr<exact_store> entries;
};

}  // namespace coua::pipeline
