// SPDX-License-Identifier: Apache-2.0
//
// The VLANs that each port carries, as the switch says: it refuses an entry of the FIB in another
// one. `fib load` asks before it sends anything, so that it can name the lines of a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coua/v1/port.pb.h"

namespace coua::cli {

class port_vlans {
 public:
  explicit port_vlans(const google::protobuf::RepeatedPtrField<v1::Port>& ports);

  struct port {
    std::string name;
    std::vector<std::uint16_t> carried;
  };
  /// Null: there is none of this name.
  const port* find(std::string_view name) const;
  /// The name that may have been meant, or nothing.
  std::string nearest(std::string_view name) const;
  /// Empty when an entry of the port may be in this VLAN, else the reason.
  static std::string check(const port& at, unsigned vlan);

 private:
  std::map<std::string, port, std::less<>> ports_;
};

}  // namespace coua::cli
