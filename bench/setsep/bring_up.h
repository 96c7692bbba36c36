// SPDX-License-Identifier: Apache-2.0
//
// How long it takes until a snapshot's file is a replica: read into memory and loaded, or mapped.
// The file is in the page cache.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/harness/scratch_folder.h"
#include "setsep/replica.h"

namespace coua::bench {

class bring_up {
 public:
  /// Writes the snapshot. Errors: io, no_room (of the disk), denied.
  static result<bring_up> create(const setsep::table& of, std::uint64_t n_keys);

  /// Milliseconds. Errors: as those of the replica.
  result<double> load();
  result<double> map();
  /// The table of the last map().
  const setsep::table& mapped() const { return *mapped_->table(); }

 private:
  bring_up() = default;

  std::unique_ptr<scratch_folder> folder_;
  std::string path_;
  std::unique_ptr<setsep::replica> mapped_;
};

}  // namespace coua::bench
