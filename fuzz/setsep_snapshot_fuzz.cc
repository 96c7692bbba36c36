// SPDX-License-Identifier: Apache-2.0
//
// A snapshot of any bytes is loaded, or refused and the table is still the one before. As a file
// that is mapped, it is the same table, or refused for the same reason.
//
//   byte 0  0: the rest is a snapshot. Else a good one is changed: bit 0: and its checksums are
//   made
//           right; bit 1: by two bytes, bytes at its end are cut off; then two bytes where and one
//           byte what, again and again; bit 2: from the end
#include "setsep/test_file.h"
#include "setsep_tables.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua;
  if (size == 0) return 0;
  fuzz::bytes good = fuzz::good_snapshot();
  fuzz::seal_snapshot(good);
  setsep::replica replica({});
  COUA_CHECK(replica.load(good).has_value());
  fuzz::bytes given(data + 1, data + size);
  if (data[0] != 0) {
    fuzz::input in(data + 1, size - 1);
    given = fuzz::good_snapshot();
    if ((data[0] & 2) != 0) given.resize(given.size() - in.take<std::uint16_t>() % given.size());
    while (!in.empty() && !given.empty()) {
      const std::size_t at = in.take<std::uint16_t>() % given.size();
      given[(data[0] & 4) != 0 ? given.size() - 1 - at : at] ^= in.take<std::uint8_t>();
    }
    if ((data[0] & 1) != 0) fuzz::seal_snapshot(given);
  }
  const fuzz::state before(replica);
  const auto loaded = replica.load(given);
  if (!loaded) COUA_CHECK(fuzz::state(replica) == before);
  setsep::replica mapped({});
  COUA_CHECK(mapped.load(good).has_value());
  const setsep::memory_file file(given);
  const auto also = mapped.map(file.path());
  COUA_CHECK(also.has_value() == loaded.has_value());
  if (!also) COUA_CHECK(also.error().message() == loaded.error().message());
  COUA_CHECK(fuzz::state(mapped) == fuzz::state(replica));
  fuzz::look_up_some(*replica.table());
  return 0;
}
