// SPDX-License-Identifier: Apache-2.0
//
// Random bytes as a packet, and random rewrites of it, against the pipeline's oracle.
//
// Input: number of rewrites, headroom, then for each rewrite its number, a value and a mask in 4
// bytes each, spread over all; the rest is the frame.
#include <vector>

#include "checked_packet.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua;
  fuzz::input in(data, size);
  const unsigned n_rewrites = in.take<std::uint8_t>() % 16;
  const std::size_t headroom = in.take<std::uint8_t>() % 128;
  struct step {
    std::uint8_t number;
    net::uint128 value, mask;
  };
  const auto spread = [](std::uint32_t word) {
    return net::uint128{word} << 96 | net::uint128{word} << 64 | net::uint128{word} << 32 | word;
  };
  std::vector<step> steps;
  for (unsigned n = 0; n < n_rewrites; ++n) {
    step one{};
    one.number = in.take<std::uint8_t>();
    one.value = spread(in.take<std::uint32_t>());
    one.mask = spread(in.take<std::uint32_t>());
    steps.push_back(one);
  }
  std::vector<std::uint8_t> frame;
  while (!in.empty()) frame.push_back(in.take<std::uint8_t>());
  test::checked_packet packet(frame, headroom);
  for (const step& one : steps) packet.apply(test::make_action(one.number, one.value, one.mask));
  return 0;
}
