// SPDX-License-Identifier: Apache-2.0
//
// The same through the C++ headers.
#include <array>
#include <coua/classifier.hpp>
#include <coua/fib.hpp>
#include <coua/flow_table.hpp>
#include <coua/setsep.hpp>
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

static int use_classifier() {
  coua::api::classifier<std::uint64_t> rules;
  std::string why;
  if (rules.create(COUA_CLASSIFIER_PARAMS_INIT, rules, &why) != 0) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  coua::api::classifier_reader<std::uint64_t> reader;
  if (rules.open(reader) != 0 || rules.add(0x50, 0xf0, 1, 42) != COUA_CLASSIFIER_ADDED) return 1;
  const auto answer = reader.lookup(0x1057);
  return answer && answer->value == 42 && !reader.lookup(0x1067) ? 0 : 1;
}

static int use_setsep() {
  coua::api::setsep_builder<std::uint32_t> from;
  const std::array<std::uint32_t, 2> keys{1, 2};
  const std::array<std::uint16_t, 2> values{1, 0};
  std::string why;
  if (from.create(COUA_SETSEP_PARAMS_INIT, keys, values, from, &why) != 0) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  coua::api::setsep_reader<std::uint32_t> reader;
  if (from.open(reader) != 0 || from.put(3, 1) != COUA_SETSEP_ADDED) return 1;
  return reader.lookup(1) == 1 && reader.lookup(2) == 0 && reader.lookup(3) == 1 ? 0 : 1;
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
  if (reader.lookup(record.key).value() != 42) return 1;
  return use_flow_table() == 0 && use_classifier() == 0 && use_setsep() == 0 ? 0 : 1;
}
