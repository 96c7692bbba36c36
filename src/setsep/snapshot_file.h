// SPDX-License-Identifier: Apache-2.0
//
// A snapshot that lies in a file, and a table whose blocks are the mapped pages of that file: they
// come from the page cache, where all replicas of a machine share them. The mapping is private: a
// page that a delta changes is copied first, so the file stays as it is, and each replica has its
// own changes.
//
//   file     | header | blocks                | fallback |
//   memory            | blocks                | room for growth, and slack |
//                      pages of the file       memory of nobody else; the first pages of it may be
//                                              those of the fallback, which is read once and copied
//
// The header is read and not mapped, so what was checked is what is used. Blocks are checked in the
// mapping. A file that is written over afterwards may change what a look-up gives, as any block
// may, and no more than that; one that is cut off ends the process with SIGBUS, as with every
// mapping, and so does a disk that cannot read it again once the page cache has dropped it. So a
// snapshot's file is never written to: write_snapshot_file() puts another one in its place, and who
// has the old one mapped keeps it.
#pragma once

#include <string>

#include "base/arena.h"
#include "setsep/snapshot.h"
#include "setsep/table.h"

namespace coua::setsep {

/// A snapshot's file that is mapped and was checked, all of it.
class mapped_snapshot {
 public:
  /// With room for so many blocks, at least those that it has. Errors: invalid (no snapshot, a
  /// damaged one, no file), not_found, denied, io (it cannot be read), no_memory.
  static result<mapped_snapshot> open(const std::string& path, std::uint32_t n_blocks_room);

  const snapshot_facts& facts() const { return facts_; }
  /// Its table; `params` gives instruction set and reclaimer.
  result<std::unique_ptr<table>> make_table(table_params params) &&;

 private:
  mapped_snapshot(const snapshot_facts& facts, std::uint32_t n_blocks_room, arena memory)
      : facts_(facts), n_blocks_room_(n_blocks_room), memory_(std::move(memory)) {}
  std::span<const std::uint8_t> content() const;

  snapshot_facts facts_;
  std::uint32_t n_blocks_room_;
  arena memory_;  // the content first
};

/// Puts a snapshot in the place of the file at `path`, or makes it, for its owner alone (whatever
/// mode the old file has) since it holds the hash key. The file there is whole at any moment.
/// Errors: as replace_file().
result<void> write_snapshot_file(const std::string& path, std::span<const std::uint8_t> snapshot);

}  // namespace coua::setsep
