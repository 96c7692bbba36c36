// SPDX-License-Identifier: Apache-2.0
//
// Files that are there as a whole, whatever happens: the old content or the new one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coua {

enum class file_mode {
  kept,         // that of the old file; a new one gets 0666 without the umask
  owner_alone,  // 0600, whatever the old file has: for secrets
};

/// Puts `text` in the place of the file at `path`, or makes it: written beside it, brought to the
/// disk (fsync), then renamed. Owner and group stay those of the old file. A link is followed. On
/// an error the old file is what it was and nothing is left beside it; after a crash, "PATH.XXXXXX"
/// may be. Access control lists and extended attributes are not kept. Errors, with `path` as the
/// place: io, denied, no_room (of the disk), invalid (not a regular file), not_found (its
/// directory).
result<void> replace_file(const std::string& path, std::string_view text,
                          file_mode mode = file_mode::kept);

}  // namespace coua
