// SPDX-License-Identifier: Apache-2.0
//
// The same through <coua/fib.hpp>.
#include <array>
#include <coua/fib.hpp>
#include <cstdio>

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
  return reader.lookup(record.key).value() == 42 ? 0 : 1;
}
