// SPDX-License-Identifier: Apache-2.0
#include "net/pcap_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <vector>

namespace coua::net {
namespace {

using bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t ns_per_s = 1'000'000'000;

class pcap_file : public testing::Test {
 protected:
  pcap_file() : path_(testing::TempDir() + "coua-" + std::to_string(getpid()) + ".pcap") {}
  ~pcap_file() override { std::remove(path_.c_str()); }

  bytes content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void set_content(const bytes& data) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data.data()),
               static_cast<std::streamsize>(data.size()));
  }
  /// A file with two records of 4 and 3 bytes: records at 24 and 44.
  bytes two_records() {
    pcap_writer writer = pcap_writer::create(path_, {pcap_time::us, 64}).value();
    EXPECT_TRUE(writer.write(3 * ns_per_s + 5000, bytes{1, 2, 3, 4}));
    EXPECT_TRUE(writer.write(4 * ns_per_s, bytes{5, 6, 7}));
    EXPECT_TRUE(writer.close());
    return content();
  }
  /// The first error that reading meets; without one, the test fails.
  error first_error() {
    result<pcap_reader> reader = pcap_reader::open(path_);
    if (!reader) return reader.error();
    while (true) {
      const result<std::optional<pcap_record>> record = reader->next();
      if (!record) return record.error();
      if (!*record) break;
    }
    ADD_FAILURE() << "the file was read without an error";
    return {};
  }
  void expect_error(const bytes& data, errc code, const std::string& message) {
    set_content(data);
    const error met = first_error();
    EXPECT_EQ(met.code, code);
    EXPECT_EQ(met.message(), path_ + ": " + message);
  }

  std::string path_;
};

TEST_F(pcap_file, writes_the_bytes_that_the_format_asks_for) {
  const bytes expected{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0,
                       1,    0,    0,    0,                                                      //
                       3,    0,    0,    0,    5, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1,  2, 3, 4,  //
                       4,    0,    0,    0,    0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 5,  6, 7};
  EXPECT_EQ(two_records(), expected);
}

TEST_F(pcap_file, reads_what_it_wrote) {
  for (const pcap_time time : {pcap_time::us, pcap_time::ns}) {
    const std::uint64_t grain = time == pcap_time::us ? 1000 : 1;
    pcap_writer writer = pcap_writer::create(path_, {time, 100}).value();
    bytes frame(150);
    std::iota(frame.begin(), frame.end(), std::uint8_t{0});
    const std::uint64_t last_ns = UINT32_MAX * ns_per_s + 999'999'999;
    ASSERT_TRUE(writer.write(0, {}));
    ASSERT_TRUE(writer.write(1'234'567'891, std::span(frame).first(100)));
    ASSERT_TRUE(writer.write(last_ns, frame));
    EXPECT_EQ(writer.records(), 3U);
    ASSERT_TRUE(writer.close());

    pcap_reader reader = pcap_reader::open(path_).value();
    EXPECT_EQ(reader.params().time, time);
    EXPECT_EQ(reader.params().snaplen, 100U);
    const pcap_record empty = reader.next().value().value();
    EXPECT_EQ(empty.time_ns, 0U);
    EXPECT_EQ(empty.frame.size(), 0U);
    const pcap_record whole = reader.next().value().value();
    EXPECT_EQ(whole.time_ns, 1'234'567'891 / grain * grain);
    EXPECT_EQ(whole.wire_bytes, 100U);
    EXPECT_TRUE(std::equal(whole.frame.begin(), whole.frame.end(), frame.begin()));
    const pcap_record cut = reader.next().value().value();
    EXPECT_EQ(cut.time_ns, last_ns / grain * grain);
    EXPECT_EQ(cut.wire_bytes, 150U);
    EXPECT_EQ(cut.frame.size(), 100U);
    EXPECT_FALSE(reader.next().value());
    EXPECT_FALSE(reader.next().value());
    EXPECT_EQ(reader.records(), 3U);
  }
}

TEST_F(pcap_file, errors_name_the_file_and_the_record) {
  const bytes good = two_records();
  const auto with = [&](std::size_t at, std::uint8_t value) {
    bytes data = good;
    data[at] = value;
    return data;
  };
  const auto cut = [&](std::size_t length) {
    return bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
  };
  expect_error({}, errc::invalid, "is not a packet file (pcap)");
  expect_error(cut(3), errc::invalid, "is not a packet file (pcap)");
  expect_error(with(0, 0), errc::invalid, "is not a packet file (pcap)");
  expect_error(cut(23), errc::invalid, "ends within the file header");
  expect_error({0xa1, 0xb2, 0xc3, 0xd4}, errc::unsupported, "is a big-endian packet file");
  expect_error({0x0a, 0x0d, 0x0d, 0x0a}, errc::unsupported,
               "is a pcapng file; convert it: editcap -F pcap FROM TO");
  expect_error(with(6, 3), errc::unsupported, "has version 2.3, not 2.4");
  expect_error(with(20, 113), errc::unsupported, "has link type 113, not 1 (Ethernet)");
  expect_error(with(16, 0), errc::invalid, "has snaplen 0, not 1 to 262144");
  expect_error(with(19, 1), errc::invalid, "has snaplen 16777280, not 1 to 262144");
  expect_error(cut(24 + 15), errc::invalid, "record 1: ends within its header");
  expect_error(cut(45), errc::invalid, "record 2: ends within its header");
}

TEST_F(pcap_file, damaged_records_are_found) {
  const bytes good = two_records();
  const auto with = [&](std::size_t at, std::uint8_t value) {
    bytes data = good;
    data[at] = value;
    return data;
  };
  bytes cut = good;
  cut.pop_back();
  expect_error(cut, errc::invalid, "record 2: ends within its frame");
  expect_error(with(44 + 6, 0x10), errc::invalid, "record 2: has 1048576 us after the second");
  expect_error(with(44 + 8, 65), errc::invalid,
               "record 2: stores 65 bytes, over the file's snaplen of 64");
  expect_error(with(44 + 12, 2), errc::invalid, "record 2: stores 3 bytes of a frame of 2");
}

TEST_F(pcap_file, random_damage_never_crashes_the_reader) {
  const bytes good = two_records();
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    bytes data = good;
    for (int change = 0; change < 3; ++change) {
      data[random() % data.size()] = static_cast<std::uint8_t>(random());
    }
    data.resize(data.size() - random() % 8);
    set_content(data);
    result<pcap_reader> reader = pcap_reader::open(path_);
    for (int i = 0; reader && i < 10; ++i) {
      const result<std::optional<pcap_record>> record = reader->next();
      if (!record || !*record) break;
      EXPECT_LE((*record)->frame.size(), (*record)->wire_bytes);
      EXPECT_LE((*record)->frame.size(), reader->params().snaplen);
    }
  }
}

TEST_F(pcap_file, impossible_requests_are_refused) {
  EXPECT_EQ(pcap_writer::create(path_, {pcap_time::us, 0}).error().code, errc::invalid);
  EXPECT_EQ(pcap_writer::create(path_, {pcap_time::us, 262'145}).error().code, errc::invalid);
  EXPECT_EQ(pcap_writer::create(path_ + "/no/such", {}).error().code, errc::not_found);
  EXPECT_EQ(pcap_reader::open(path_ + ".absent").error().code, errc::not_found);
  EXPECT_EQ(pcap_reader::open(testing::TempDir()).error().code, errc::io) << "a directory";

  pcap_writer writer = pcap_writer::create(path_).value();
  const result<void> late = writer.write((std::uint64_t{UINT32_MAX} + 1) * ns_per_s, bytes{1});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message(), path_ + ": record 1: the time is past 2106");
  ASSERT_TRUE(writer.close());
  ASSERT_TRUE(writer.close()) << "once more is harmless";
  EXPECT_EQ(writer.write(0, bytes{1}).error().code, errc::invalid);
}

TEST_F(pcap_file, a_full_disk_is_reported) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  pcap_writer writer = pcap_writer::create("/dev/full").value();
  bool failed = false;
  const bytes frame(1500);
  for (int i = 0; i < 2000; ++i) failed = !writer.write(0, frame) || failed;
  EXPECT_TRUE(failed) << "the buffer is smaller than that";
  EXPECT_FALSE(writer.close());

  pcap_writer small = pcap_writer::create("/dev/full").value();
  ASSERT_TRUE(small.write(0, bytes{1}));
  const result<void> closed = small.close();
  ASSERT_FALSE(closed) << "what was buffered is lost";
  EXPECT_EQ(closed.error().code, errc::io);
}

}  // namespace
}  // namespace coua::net
