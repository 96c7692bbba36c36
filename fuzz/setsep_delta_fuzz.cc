// SPDX-License-Identifier: Apache-2.0
//
// A delta of any bytes is applied, or refused and nothing has changed.
//
//   byte 0  even: the rest is a delta; odd: the rest is the body of one that is the next one, with
//           a header and a checksum that are right
#include "setsep_tables.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua;
  if (size == 0) return 0;
  setsep::replica replica({.keys_room = 3'000});
  fuzz::bytes snapshot = fuzz::good_snapshot();
  fuzz::seal_snapshot(snapshot);
  COUA_CHECK(replica.load(snapshot).has_value());
  fuzz::bytes delta(data + 1, data + size);
  if (data[0] % 2 != 0) {
    // An empty delta's header, of the right number, and this body.
    const struct {
      char magic[4];
      std::uint16_t version, zero;
      std::uint64_t table, sequence;
      std::uint32_t bytes;
    } front{{'C', 'S', 'S', 'D'}, 1, 0, 1, 1, static_cast<std::uint32_t>(delta.size())};
    fuzz::bytes whole(setsep::delta_header_bytes);
    std::memcpy(whole.data(), &front, 28);
    const std::uint32_t crc =
        setsep::crc32c(delta, setsep::crc32c(std::span<const std::uint8_t>(whole).first(28)));
    std::memcpy(&whole[28], &crc, sizeof crc);
    whole.insert(whole.end(), delta.begin(), delta.end());
    delta = std::move(whole);
  }
  const fuzz::state before(replica);
  const auto outcome = replica.apply(delta);
  if (!outcome || *outcome != setsep::delta_outcome::applied) {
    COUA_CHECK(fuzz::state(replica) == before);
  } else {
    COUA_CHECK(replica.version().sequence == 1);
  }
  fuzz::look_up_some(*replica.table());
  return 0;
}
