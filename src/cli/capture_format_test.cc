// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_format.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "cli/output.h"

namespace coua::cli {
namespace {

v1::CaptureBatch batch_of(std::initializer_list<std::string> frames) {
  v1::CaptureBatch batch;
  batch.add_interface_names("p0");
  batch.add_drop_names("drop_hairpin");
  std::uint32_t n = 0;
  for (const std::string& frame : frames) {
    batch.add_times_ns(1'000'000'000ull + n);
    batch.add_interfaces(0);
    batch.add_vlans(10);
    batch.add_lengths(static_cast<std::uint32_t>(frame.size() + 100));
    batch.add_sizes(static_cast<std::uint32_t>(frame.size()));
    batch.add_outbound(n % 2 == 1);
    batch.add_drops(n % 2);
    *batch.mutable_data() += frame;
    ++n;
  }
  auto* counts = batch.add_counts();
  counts->set_seen(9);
  counts->set_captured(5);
  counts->set_lost(3);
  return batch;
}

const std::string arp = "\xff\xff\xff\xff\xff\xff\x02\x01\x02\x03\x04\x05\x08\x06";

TEST(capture_format, lines) {
  const auto format = make_lines();
  capture_reader reader(*format);
  std::string out;
  ASSERT_TRUE(reader.read(batch_of({arp, "short"}), out));
  EXPECT_NE(
      out.find("p0       in   VLAN 10     114 bytes  02:01:02:03:04:05 > ff:ff:ff:ff:ff:ff  ARP\n"),
      std::string::npos)
      << out;
  EXPECT_NE(out.find("p0       out  VLAN 10     105 bytes    drop_hairpin\n"), std::string::npos)
      << out;
  EXPECT_EQ(reader.sum().written, 2u);
  EXPECT_EQ(reader.sum().lost, 3u);
}

TEST(capture_format, json_is_whole_with_and_without_frames) {
  for (const bool any : {false, true}) {
    const auto format = make_json();
    capture_reader reader(*format);
    std::string out;
    format->begin(out);
    ASSERT_TRUE(reader.read(any ? batch_of({arp, "x"}) : batch_of({}), out));
    reader.end(out);
    const json told = json::parse(out);
    EXPECT_EQ(told["packets"].size(), any ? 2u : 0u);
    EXPECT_EQ(told["lost"], 3);
    if (any) {
      EXPECT_EQ(told["packets"][1]["drop"], "drop_hairpin");
      EXPECT_EQ(told["packets"][1]["bytes"], "78");
    }
  }
}

// Whatever a daemon sends: an error or frames, and no byte that is not there (run it under ASan).
TEST(capture_format, batches_that_contradict_themselves) {
  const auto refuses = [](const v1::CaptureBatch& batch) {
    const auto format = make_lines();
    std::string out;
    return !capture_reader(*format).read(batch, out);
  };
  EXPECT_FALSE(refuses(batch_of({arp})));
  auto bad = batch_of({arp});
  bad.add_vlans(1);
  EXPECT_TRUE(refuses(bad));
  bad = batch_of({arp});
  bad.set_sizes(0, 15);
  EXPECT_TRUE(refuses(bad));
  bad = batch_of({arp});
  bad.set_interfaces(0, 1);
  EXPECT_TRUE(refuses(bad));
  bad = batch_of({arp});
  bad.set_drops(0, 2);
  EXPECT_TRUE(refuses(bad));
  bad = batch_of({arp});
  bad.add_counts();
  EXPECT_TRUE(refuses(bad));

  std::mt19937 random(1);
  unsigned n_good = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    v1::CaptureBatch batch = batch_of({arp, "x", arp + arp});
    for (unsigned change = random() % 3; change > 0; --change) {
      const auto value = random() % 2 == 0 ? random() % 40 : static_cast<std::uint32_t>(random());
      auto& column =
          *std::array{batch.mutable_interfaces(), batch.mutable_vlans(), batch.mutable_lengths(),
                      batch.mutable_sizes(), batch.mutable_drops()}[random() % 5];
      if (random() % 8 == 0)
        column.Add(static_cast<std::uint32_t>(value));
      else if (!column.empty())
        column.Set(static_cast<int>(random() % static_cast<unsigned>(column.size())),
                   static_cast<std::uint32_t>(value));
    }
    if (random() % 8 == 0) batch.mutable_data()->resize(random() % 60);
    for (const auto& format : {make_lines(), make_pcapng(100, ""), make_json()}) {
      std::string out;
      capture_reader reader(*format);
      if (!reader.read(batch, out)) continue;
      reader.end(out);
      ++n_good;
    }
  }
  EXPECT_GT(n_good, 1000u);
}

}  // namespace
}  // namespace coua::cli
