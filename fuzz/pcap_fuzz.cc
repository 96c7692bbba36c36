// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a packet file: what the reader takes, the writer gives back, record by record.
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "fuzz.h"
#include "net/pcap_file.h"

namespace {

using namespace coua::net;

/// A file in memory, with a path, for as long as this lives.
class memory_file {
 public:
  memory_file() : fd_(memfd_create("pcap_fuzz", MFD_CLOEXEC)) { COUA_CHECK(fd_ >= 0); }
  ~memory_file() { close(fd_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  void fill(const std::uint8_t* data, std::size_t size) {
    COUA_CHECK(write(fd_, data, size) == static_cast<ssize_t>(size));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

struct kept_record {
  std::uint64_t time_ns;
  std::vector<std::uint8_t> frame;
  bool operator==(const kept_record&) const = default;
};

/// The records up to the end or the first error.
std::vector<kept_record> read_all(pcap_reader& reader, bool& clean) {
  std::vector<kept_record> records;
  while (true) {
    auto next = reader.next();
    clean = next.has_value();
    if (!clean) COUA_CHECK(!next.error().message().empty());
    if (!clean || !*next) return records;
    COUA_CHECK((*next)->frame.size() <= pcap_snaplen_max);
    COUA_CHECK((*next)->frame.size() <= (*next)->wire_bytes);
    records.push_back({(*next)->time_ns, {(*next)->frame.begin(), (*next)->frame.end()}});
    COUA_CHECK(reader.records() == records.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  memory_file original;
  original.fill(data, size);
  auto reader = pcap_reader::open(original.path());
  if (!reader) {
    COUA_CHECK(!reader.error().message().empty());
    return 0;
  }
  bool clean = false;
  std::vector<kept_record> records = read_all(*reader, clean);

  memory_file copy;
  auto writer = pcap_writer::create(copy.path(), {reader->params().time, pcap_snaplen_max});
  COUA_CHECK(writer.has_value());
  for (const kept_record& r : records) COUA_CHECK(writer->write(r.time_ns, r.frame).has_value());
  COUA_CHECK(writer->close().has_value());
  auto again = pcap_reader::open(copy.path());
  COUA_CHECK(again.has_value());
  COUA_CHECK(read_all(*again, clean) == records);
  COUA_CHECK(clean);
  return 0;
}
