// SPDX-License-Identifier: Apache-2.0
//
// What DPDK's text for a device says: its name, then `,key=value` as often as one likes.
#pragma once

#include <cstdlib>
#include <string>

namespace coua::dp {

/// The value of `key=`; empty where there is none.
inline std::string text_in(const std::string& devargs, const std::string& key) {
  const std::size_t at = devargs.find("," + key + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return devargs.substr(begin, devargs.find(',', begin) - begin);
}

/// The same as a number; `otherwise` where there is none.
inline unsigned number_in(const std::string& devargs, const std::string& key, unsigned otherwise) {
  const std::string text = text_in(devargs, key);
  return text.empty() ? otherwise : static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 0));
}

}  // namespace coua::dp
