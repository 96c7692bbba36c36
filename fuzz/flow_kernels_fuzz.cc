// SPDX-License-Identifier: Apache-2.0
//
// The look-up kernels of the flow table give the same answers with every instruction set, on lines
// of any content: also such as no writer would leave. So they do for tables small, near and far,
// and after batches that found much and little, which decide what they fetch; for keys that they
// hash themselves, whatever function of the kernels is called; and they renew the same timers. The
// writer's searches of a bucket are compared as well: of SSE2, without it, and slot by slot.
//
//   byte 0  variant, timers, sync, shape; byte 1  buckets, the call, what is null, wider strides;
//   2 bytes  the time; 2 bytes  units to renew for and 1 byte  keys of a part, unless the call gets
//   ready hashes; then the lines as they are, one byte per entry (key and value; 128: the line's
//   slot gets the key's hash, unless hashes are ready), and two per key to look up: which key, with
//   which hash
#include <algorithm>
#include <array>
#include <vector>

#include "base/cpu.h"
#include "flow/bucket_slots.h"
#include "fuzz.h"
#include "plain_slots.h"
#include "simd/flow_lookup/kernels.h"
#include "simd/flow_lookup/key_words.h"
#include "simd/flow_lookup/probes.h"

namespace {

using namespace coua::simd;

struct shape {
  std::uint32_t key_bytes, value_bytes;
};
constexpr shape shapes[] = {{16, 16}, {13, 4},  {37, 8},   {4, 1},
                            {8, 16},  {40, 16}, {128, 64}, {16, 0}};

enum class call_kind { hashed, batch, ahead, refresh, pipeline };

/// What a call is given.
struct call {
  call_kind kind = call_kind::hashed;
  std::uint32_t units = 0;      // of refresh
  std::size_t part = SIZE_MAX;  // keys of one call of ahead or pipeline
  bool wants_values = true, wants_hits = true;
  std::size_t n = 0;
  std::vector<std::uint8_t> keys;
  std::vector<std::uint64_t> hashes;

  const std::uint8_t* keys_from(const flow_view& view, std::size_t at) const {
    return keys.data() + at * view.key_stride;
  }
};

/// What it left.
struct answers {
  std::size_t n_hits = 0;
  std::vector<std::uint64_t> hits;
  std::vector<std::uint8_t> values;
  std::vector<flow_line> lines;
};

bool same_line(const flow_line& a, const flow_line& b) {
  return std::ranges::equal(a.pairs, b.pairs) && std::ranges::equal(a.more, b.more) &&
         a.filter == b.filter && a.meta == b.meta;
}

/// Bits `from` to `from + n` of `part` behind the answers before.
void append(answers& got, std::size_t at, std::size_t n, const std::vector<std::uint64_t>& part) {
  for (std::size_t i = 0; i < n; ++i) {
    got.hits[(at + i) / 64] |= (part[i / 64] >> i % 64 & 1) << (at + i) % 64;
  }
  if (n % 64 != 0) COUA_CHECK(part[n / 64] >> n % 64 == 0);
}

constexpr std::uint8_t untouched = 0xa5;

answers run(const flow_kernels& kernels, flow_view view, const std::vector<flow_line>& lines,
            const call& c, unsigned situation) {
  answers got;
  got.lines = lines;
  view.lines = got.lines.data();
  flow_reader_state state(view);
  state.is_near = (situation & 1) != 0;
  state.found_few = (situation & 2) != 0;
  view.is_small = (situation & 4) != 0;
  got.hits.resize((c.n + 63) / 64);
  got.values.assign(c.n * view.value_stride + 1, untouched);
  std::vector<std::uint64_t> hits((c.n + flow_reader_state::depth) / 64 + 1, ~std::uint64_t{0});
  std::uint64_t* const hits_out = c.wants_hits ? hits.data() : nullptr;
  const auto values_at = [&](std::size_t at) {
    return c.wants_values ? got.values.data() + at * view.value_stride : nullptr;
  };
  const auto done = [&](std::size_t at, std::size_t n) {
    if (c.wants_hits) append(got, at, n, hits);
    std::ranges::fill(hits, ~std::uint64_t{0});
  };
  switch (c.kind) {
    case call_kind::hashed:
    case call_kind::batch:
      got.n_hits = kernels.batch(view, state, c.keys.data(),
                                 c.kind == call_kind::batch ? nullptr : c.hashes.data(), c.n,
                                 values_at(0), hits_out);
      done(0, c.n);
      break;
    case call_kind::refresh:
      got.n_hits =
          kernels.refresh(view, state, c.keys.data(), c.n, values_at(0), hits_out, c.units);
      done(0, c.n);
      break;
    case call_kind::ahead:
      for (std::size_t at = 0; at < c.n;) {
        const std::size_t n = std::min(c.part, c.n - at);
        const std::size_t n_next = std::min(c.part, c.n - at - n);
        got.n_hits += kernels.ahead(view, state, c.keys_from(view, at), n, values_at(at), hits_out,
                                    c.keys_from(view, at + n), n_next);
        done(at, n);
        at += n;
      }
      break;
    case call_kind::pipeline: {
      std::size_t n_out = 0;
      for (std::size_t at = 0; at < c.n; at += std::min(c.part, c.n - at)) {
        const std::size_t n =
            kernels.pipeline(view, state, c.keys_from(view, at), std::min(c.part, c.n - at),
                             values_at(n_out), hits_out);
        done(n_out, n);
        n_out += n;
      }
      const std::size_t n = kernels.drain(view, state, values_at(n_out), hits_out);
      done(n_out, n);
      COUA_CHECK(n_out + n == c.n);
      for (const std::uint64_t word : got.hits) {
        got.n_hits += static_cast<unsigned>(__builtin_popcountll(word));
      }
    }
  }
  return got;
}

/// What any call leaves, by what the plainest one gave.
void check_same(const answers& got, const answers& truth, const call& c) {
  if (c.wants_hits) {
    COUA_CHECK(got.hits == truth.hits);
  }
  if (c.wants_hits || c.kind != call_kind::pipeline) COUA_CHECK(got.n_hits == truth.n_hits);
  if (c.wants_values) {
    COUA_CHECK(got.values == truth.values);
  } else {
    COUA_CHECK(std::ranges::all_of(got.values, [](std::uint8_t b) { return b == untouched; }));
  }
}

void check_probes(const flow_view& view, const call& c, const answers& truth) {
  std::vector<std::uint64_t> words(c.n * view.key_words);
  std::vector<flow_probe> probes;
  for (std::size_t i = 0; i < c.n; ++i) {
    std::uint64_t* key = words.data() + i * view.key_words;
    to_words(c.keys_from(view, i), view.key_bytes, view.key_words, key);
    probes.push_back({&view, key, c.hashes[i]});
  }
  for (const coua::isa set : {coua::isa::generic, coua::isa::avx2}) {
    if (set > coua::best_isa()) break;
    for (std::size_t at = 0; at < c.n; at += flow_probe::max) {
      const auto n = static_cast<unsigned>(std::min<std::size_t>(flow_probe::max, c.n - at));
      flow_probe_value values[flow_probe::max];
      COUA_CHECK(select_flow_probes(set)(probes.data() + at, n, values) == truth.hits[at / 64]);
      for (unsigned i = 0; i < n; ++i) {
        if ((truth.hits[at / 64] >> i & 1) == 0) continue;
        COUA_CHECK(std::memcmp(&values[i], truth.values.data() + (at + i) * view.value_stride,
                               sizeof values[i]) == 0);
      }
    }
  }
}

void check_slots(const flow_line& line, std::uint64_t now) {
  std::uint32_t empty = 0, invisible = 0;
  for (unsigned i = 0; i < flow_line::n_slots; ++i) {
    const std::uint32_t tag = line.pairs[i] & 0xffff;
    std::uint32_t with_tag = 0;
    for (unsigned j = 0; j < flow_line::n_slots; ++j) {
      with_tag |= std::uint32_t{(line.pairs[j] & 0xffff) == tag} << j;
    }
    COUA_CHECK(coua::bucket_slots::with_tag(line, tag) == with_tag);
    COUA_CHECK(coua::fuzz::plain_with_tag(line, tag) == with_tag);
    empty |= std::uint32_t{line.pairs[i] == 0} << i;
    invisible |= std::uint32_t{units_left(line.pairs[i], now) == 0} << i;
  }
  COUA_CHECK(coua::bucket_slots::empty(line) == empty);
  COUA_CHECK(coua::fuzz::plain_empty(line) == empty);
  COUA_CHECK(coua::bucket_slots::invisible(line, now) == invisible);
  COUA_CHECK(coua::fuzz::plain_invisible(line, now) == invisible);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const coua::keyed_hash hash(coua::hash_key{1, 2, 3});
  coua::fuzz::input in(data, size);
  const unsigned pick = in.take<std::uint8_t>(), how = in.take<std::uint8_t>();
  const flow_kind kind = {static_cast<flow_variant>(pick & 3), (pick & 4) != 0,
                          static_cast<flow_sync>(pick >> 3 & 1)};
  const shape widths = shapes[pick >> 4 & 7];
  const std::uint64_t n_buckets = 1 + how % 4;
  const std::uint64_t now = in.take<std::uint16_t>();
  const std::uint64_t moves = 0;
  call c;
  c.kind = static_cast<call_kind>((how >> 2 & 7) % 5);
  const bool is_hashed = c.kind == call_kind::hashed;
  if (!is_hashed) {
    c.units = 1 + in.take<std::uint16_t>() % flow_units_max;
    c.part = 1u + in.take<std::uint8_t>();
  }
  c.wants_values = (how & 32) == 0;
  c.wants_hits = (how & 64) == 0;
  const std::uint32_t spread = (how & 128) != 0 ? 5 : 0;

  std::vector<flow_line> lines(n_buckets);
  for (flow_line& line : lines) line = in.take<flow_line>();
  flow_view view;
  view.key_words = (widths.key_bytes + 7) / 8;
  view.value_words = (widths.value_bytes + 7) / 8;
  view.entry_words = view.key_words + view.value_words;
  view.hash = &hash;
  view.now = &now;
  view.moves = &moves;
  view.n_buckets = n_buckets;
  view.key_bytes = widths.key_bytes;
  view.value_bytes = widths.value_bytes;
  view.key_stride = widths.key_bytes + spread;
  view.value_stride = widths.value_bytes + spread;
  const auto hash_of = [&](std::uint64_t key) {
    std::uint64_t words[coua::keyed_hash::max_words] = {key};
    return hash(words, view.key_words);
  };

  std::vector<std::uint64_t> entries(n_buckets * flow_line::n_slots * view.entry_words);
  for (std::size_t i = 0; i < n_buckets * flow_line::n_slots; ++i) {
    const std::uint64_t byte = in.take<std::uint8_t>();
    std::uint64_t* words = entries.data() + i * view.entry_words;
    words[0] = byte & 3;
    // Beyond the value's bytes of its last word nothing may reach the caller.
    for (unsigned w = 0; w < view.value_words; ++w) words[view.key_words + w] = ~byte - w;
    if (is_hashed || (byte & 128) == 0) continue;
    const fingerprint print = fingerprint_of(hash_of(byte & 3));
    flow_line& line = lines[i / flow_line::n_slots];
    std::uint32_t& pair = line.pairs[i % flow_line::n_slots];
    pair = (kind.timed ? pair & 0xffff0000 : 0) | tag_of(print);
    line.more[i % flow_line::n_slots] = static_cast<std::uint16_t>(print >> 16);
  }
  view.entries = entries.data();
  for (const flow_line& line : lines) check_slots(line, now);

  for (; !in.empty() && c.n < 300; ++c.n) {
    const unsigned key = in.take<std::uint8_t>(), slot = in.take<std::uint8_t>();
    c.keys.resize(c.keys.size() + view.key_stride);
    c.keys[c.keys.size() - view.key_stride] = key & 3;
    for (std::uint32_t i = 1; i <= spread; ++i) c.keys[c.keys.size() - i] = untouched;
    if (!is_hashed) {
      c.hashes.push_back(hash_of(key & 3));
      continue;
    }
    // The fingerprint of a slot, most of the time, and either bucket.
    const flow_line& line = lines[slot / 8 % n_buckets];
    std::uint64_t low = fingerprint_of(line.pairs[slot % 8], line.more[slot % 8]);
    if (key >= 224) low = key * 0x01010101u;
    c.hashes.push_back(low | std::uint64_t{key >> 2 & 15} << 60);
  }

  const auto kernels_of = [&](coua::isa set) -> const flow_kernels& {
    return select_flow_kernels(kind, view.key_words, widths.value_bytes, set);
  };
  call plain = c;
  plain.kind = call_kind::hashed;
  plain.wants_values = plain.wants_hits = true;
  const answers truth = run(kernels_of(coua::isa::generic), view, lines, plain, 0);
  const std::vector<flow_line> renewed =
      c.kind == call_kind::refresh ? run(kernels_of(coua::isa::generic), view, lines, c, 0).lines
                                   : lines;
  for (const coua::isa set : {coua::isa::generic, coua::isa::avx2, coua::isa::avx512}) {
    if (set > coua::best_isa()) break;
    for (unsigned situation = 0; situation < 8; ++situation) {
      const answers got = run(kernels_of(set), view, lines, c, situation);
      check_same(got, truth, c);
      COUA_CHECK(std::ranges::equal(got.lines, renewed, same_line));
    }
  }
  if (kind.variant == flow_variant::bloom && !kind.timed && kind.sync == flow_sync::one_writer &&
      widths.value_bytes == sizeof(flow_probe_value)) {
    view.lines = lines.data();
    check_probes(view, c, truth);
  }
  return 0;
}
