// SPDX-License-Identifier: Apache-2.0
//
// The same through the C++ headers.
#include <array>
#include <coua/fib.hpp>
#include <coua/flow_table.hpp>
#include <cstdio>

static int use_flow_table() {
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.entries = 10'000;
  params.timers = 1;
  coua::api::flow_table<std::uint64_t, std::uint32_t> table;
  std::string why;
  if (table.create(params, table, &why) != 0) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  coua::api::flow_reader<std::uint64_t, std::uint32_t> reader;
  if (table.open(reader) != 0 || table.insert(1, 42, 4) != COUA_FLOW_ADDED) return 1;
  if (reader.lookup(1) != 42u) return 1;
  return table.set_time(4 * 30'000) == 0 && !reader.contains(1) ? 0 : 1;
}

int main() {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = 10'000;
  coua::api::fib fib;
  std::string why;
  if (coua::api::fib::create(params, fib, &why) != 0) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  const std::array<std::uint8_t, 6> mac{2, 0, 0, 0, 0, 1};
  coua_fib_record record{};
  record.key = coua::api::fib_key(7, mac);
  record.value = 42;
  if (fib.insert(record) != COUA_FIB_ADDED) return 1;
  coua::api::fib_reader reader;
  if (fib.open(reader) != 0) return 1;
  return reader.lookup(record.key).value() == 42 ? use_flow_table() : 1;
}
