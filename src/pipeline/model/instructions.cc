// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/instructions.h"

#include <cstdio>

namespace coua::pipeline {
namespace {

std::string metadata_text(const metadata_write& write) {
  char text[64];
  std::snprintf(text, sizeof text, "write_metadata:0x%llx",
                static_cast<unsigned long long>(write.value));
  if (write.mask == ~std::uint64_t{0}) return text;
  std::snprintf(text, sizeof text, "write_metadata:0x%llx/0x%llx",
                static_cast<unsigned long long>(write.value),
                static_cast<unsigned long long>(write.mask));
  return text;
}

}  // namespace

std::string to_string(const instructions& what) {
  std::string text;
  const auto add = [&text](const std::string& word) { text += (text.empty() ? "" : ",") + word; };
  if (what.meter) add("meter:" + std::to_string(*what.meter));
  if (what.apply && !what.apply->empty()) add(to_string(*what.apply));
  if (what.clear_actions) add("clear_actions");
  if (what.write) {
    add("write_actions(" + (what.write->empty() ? "" : to_string(*what.write)) + ")");
  }
  if (what.metadata) add(metadata_text(*what.metadata));
  if (what.goto_table) add("goto_table:" + std::to_string(*what.goto_table));
  return text.empty() ? "drop" : text;
}

}  // namespace coua::pipeline
