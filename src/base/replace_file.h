// SPDX-License-Identifier: Apache-2.0
//
// Files that are there as a whole, whatever happens: the old content or the new one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coua {

/// Puts `text` in the place of the file at `path`, or makes it: written beside it, brought to the
/// disk (fsync), then renamed. Mode, owner and group stay those of the old file; a new one gets
/// `new_mode` without the umask. A link is followed. On an error the old file is what it was and
/// nothing is left beside it; after a crash, "PATH.XXXXXX" may be. Access control lists and
/// extended attributes are not kept. Errors, with `path` as the place: io, denied, no_room (of the
/// disk), invalid (not a regular file), not_found (its directory).
result<void> replace_file(const std::string& path, std::string_view text, unsigned new_mode = 0666);

}  // namespace coua
