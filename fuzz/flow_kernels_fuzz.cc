// SPDX-License-Identifier: Apache-2.0
//
// The look-up kernels of the flow table give the same answers with every instruction set, on lines
// of any content: also such as no writer would leave. So they do for tables near and far, and after
// batches that found much and little, which decide what they fetch.
//
//   byte 0  variant, timers, sync, shape; byte 1  buckets; 2 bytes  the time; then the lines as
//   they are, one byte per entry (key and value), and two per key to look up: which key, with which
//   hash
#include <array>
#include <vector>

#include "base/cpu.h"
#include "fuzz.h"
#include "simd/flow_lookup/kernels.h"
#include "simd/flow_lookup/key_words.h"

namespace {

using namespace coua::simd;

struct shape {
  std::uint32_t key_bytes, value_bytes;
};
constexpr shape shapes[] = {{16, 16}, {13, 4}, {37, 8}, {4, 1}};

struct answers {
  std::size_t n_hits;
  std::vector<std::uint64_t> hits;
  std::vector<std::uint8_t> values;
  bool operator==(const answers&) const = default;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coua::fuzz::input in(data, size);
  const unsigned pick = in.take<std::uint8_t>();
  const flow_kind kind = {static_cast<flow_variant>(pick & 3), (pick & 4) != 0,
                          static_cast<flow_sync>(pick >> 3 & 1)};
  const shape widths = shapes[pick >> 4 & 3];
  const std::uint64_t n_buckets = 1 + in.take<std::uint8_t>() % 4;
  const std::uint64_t now = in.take<std::uint16_t>();
  const std::uint64_t moves = 0;
  const coua::keyed_hash hash{};

  std::vector<flow_line> lines(n_buckets);
  for (flow_line& line : lines) line = in.take<flow_line>();
  flow_view view;
  view.key_words = (widths.key_bytes + 7) / 8;
  view.value_words = (widths.value_bytes + 7) / 8;
  view.entry_words = view.key_words + view.value_words;
  std::vector<std::uint64_t> entries(n_buckets * flow_line::n_slots * view.entry_words);
  for (std::size_t i = 0; i < entries.size(); i += view.entry_words) {
    const std::uint64_t byte = in.take<std::uint8_t>();
    entries[i] = byte & 3;
    entries[i + view.key_words] = byte;
  }
  view.lines = lines.data();
  view.entries = entries.data();
  view.hash = &hash;
  view.now = &now;
  view.moves = &moves;
  view.n_buckets = n_buckets;
  view.key_bytes = view.key_stride = widths.key_bytes;
  view.value_bytes = view.value_stride = widths.value_bytes;

  std::vector<std::uint8_t> keys;
  std::vector<std::uint64_t> hashes;
  while (!in.empty() && hashes.size() < 300) {
    const unsigned key = in.take<std::uint8_t>(), slot = in.take<std::uint8_t>();
    keys.resize(keys.size() + widths.key_bytes);
    keys[keys.size() - widths.key_bytes] = key & 3;
    // The fingerprint of a slot, most of the time, and either bucket.
    const flow_line& line = lines[slot / 8 % n_buckets];
    std::uint64_t low = fingerprint_of(line.pairs[slot % 8], line.more[slot % 8]);
    if (key >= 224) low = key * 0x01010101u;
    hashes.push_back(low | std::uint64_t{key >> 2 & 15} << 60);
  }

  const auto run = [&](const flow_kernels& kernels, unsigned situation) {
    flow_reader_state state(view);
    state.is_near = (situation & 1) != 0;
    state.found_few = (situation & 2) != 0;
    answers got = {0, std::vector<std::uint64_t>((hashes.size() + 63) / 64),
                   std::vector<std::uint8_t>(hashes.size() * widths.value_bytes)};
    got.n_hits = kernels.batch(view, state, keys.data(), hashes.data(), hashes.size(),
                               got.values.data(), got.hits.data());
    return got;
  };
  const auto kernels_of = [&](coua::isa set) -> const flow_kernels& {
    return select_flow_kernels(kind, view.key_words, widths.value_bytes, set);
  };
  const answers truth = run(kernels_of(coua::isa::generic), 0);
  for (const coua::isa set : {coua::isa::generic, coua::isa::avx2, coua::isa::avx512}) {
    if (set > coua::best_isa()) break;
    for (unsigned situation = 0; situation < 4; ++situation)
      COUA_CHECK(run(kernels_of(set), situation) == truth);
  }
  return 0;
}
