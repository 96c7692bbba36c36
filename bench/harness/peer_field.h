// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace coua::bench {

/// The field of a row that holds a ratio to a peer: "ratio_to" and "ovs/emc" make
/// "ratio_to_ovs_emc".
inline std::string peer_field(std::string_view ratio, std::string_view peer) {
  std::string field{ratio};
  field.append("_").append(peer);
  std::replace(field.begin(), field.end(), '/', '_');
  return field;
}

}  // namespace coua::bench
