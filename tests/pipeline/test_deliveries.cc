// SPDX-License-Identifier: Apache-2.0
#include "test_deliveries.h"

#include <algorithm>
#include <stdexcept>

namespace coua::test {
namespace {

using namespace pipeline;

class two_ports final : public normal_switch {
 public:
  std::vector<copy> forward(const packet& frame, time_ns) override {
    std::vector<std::uint8_t> longer = frame.bytes;
    longer.push_back(0x55);
    return {{1, frame.bytes}, {2, std::move(longer)}};
  }
};

}  // namespace

normal_switch& two_port_switch() {
  static two_ports the_switch;
  return the_switch;
}

owned_packet test_buffers::make(const std::vector<std::uint8_t>& bytes) {
  // The end is that of the block; room for pushes is before it.
  auto* block = new std::uint8_t[headroom + std::max<std::size_t>(bytes.size(), 1)];
  std::copy(bytes.begin(), bytes.end(), block + headroom);
  const auto n = static_cast<std::uint32_t>(bytes.size());
  ++n_out;
  return {{block + headroom, n, n, headroom}, block};
}

std::vector<std::uint8_t> test_buffers::bytes_of(const owned_packet& one) {
  return {one.buffer.bytes, one.buffer.bytes + one.buffer.length};
}

bool test_buffers::copy(const owned_packet& from, owned_packet& to) noexcept {
  if (has_memory) to = make(bytes_of(from));
  return has_memory;
}

void test_buffers::give_back(const owned_packet& copy) noexcept {
  delete[] static_cast<std::uint8_t*>(copy.owner);
  --n_out;
}

/// What goes to one port only is what each_delivery() has.
static void check_only_port(const executor& from) {
  const port_no only = from.only_port();
  if (only == 0) return;
  std::vector<const std::uint8_t*> got, expected;
  from.each_packet([&](const owned_packet& what) { got.push_back(what.buffer.bytes); });
  from.each_delivery([&](const delivery& one, const owned_packet& what) {
    const bool is_one = one.to == delivery::kind::port && one.port == only;
    expected.push_back(is_one ? what.buffer.bytes : nullptr);
  });
  if (got != expected) throw std::runtime_error("not all goes to port " + port_name(only));
}

std::vector<delivered> take_deliveries(const executor& from, test_buffers& buffers) {
  check_only_port(from);
  std::vector<delivered> all;
  from.each_delivery([&](const delivery& one, const owned_packet& what) {
    all.push_back({one, test_buffers::bytes_of(what)});
    buffers.give_back(what);
  });
  for (const owned_packet& each : from.left_over()) buffers.give_back(each);
  return all;
}

void outcome::add(const verdict& one) {
  outputs.insert(outputs.end(), one.outputs.begin(), one.outputs.end());
  for (packet_in each : one.packet_ins) {
    each.max_len = controller_max_len_all;  // of which the datapath knows nothing
    packet_ins.push_back(std::move(each));
  }
}

outcome outcome_of(const std::vector<delivered>& all, const bridge& model) {
  outcome made;
  for (const auto& [how, bytes] : all) {
    switch (how.to) {
      case delivery::kind::port: made.outputs.push_back({how.port, how.queue, bytes}); break;
      case delivery::kind::controller:
        made.packet_ins.push_back({how.reason, how.table, how.cookie, controller_max_len_all,
                                   how.in_port, how.metadata, how.tunnel_id, how.reg, bytes});
        break;
      case delivery::kind::normal: {
        packet frame;
        frame.bytes = bytes;
        for (normal_switch::copy& each : two_port_switch().forward(frame, 0)) {
          const port* to = model.find_port(each.port);
          if (each.port == how.in_port || to == nullptr || to->no_fwd) continue;
          made.outputs.push_back({each.port, how.queue, std::move(each.bytes)});
        }
      }
    }
  }
  return made;
}

}  // namespace coua::test
