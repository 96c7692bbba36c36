// SPDX-License-Identifier: Apache-2.0
#include "setsep/snapshot_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/replace_file.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14
#endif

namespace coua::setsep {
namespace {

errc code_of_snapshot_file(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR: return errc::not_found;
    case EACCES:
    case EPERM: return errc::denied;
    case ENOMEM: return errc::no_memory;
    default: return errc::io;
  }
}

tl::unexpected<error> failed(const std::string& path, const char* what, int number) {
  return fail(code_of_snapshot_file(number), path,
              std::string(what) + ": " + std::strerror(number));
}

class open_file {
 public:
  // Not to wait for the writer of a pipe.
  explicit open_file(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~open_file() {
    if (number_ >= 0) close(number_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

using header_page = std::array<std::uint8_t, snapshot_header_bytes>;

/// What its first page says.
result<snapshot_facts> read_header(const std::string& path, const open_file& file,
                                   std::uint64_t bytes) {
  header_page header{};
  std::size_t got = 0;
  while (got < header.size()) {
    const ssize_t n =
        pread(file.number(), header.data() + got, header.size() - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "cannot be read", errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return check_snapshot_header(header,
                               std::min<std::uint64_t>(bytes, got < header.size() ? got : bytes));
}

/// Memory of `mapped` bytes, whole pages; the first `content` bytes are those of the file.
result<arena> map_content(const std::string& path, const open_file& file, std::size_t content,
                          std::size_t mapped) {
  constexpr int access = PROT_READ | PROT_WRITE;
  void* const memory = mmap(nullptr, mapped, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failed(path, "cannot be mapped", errno);
  arena made = arena::of_mapping(memory, mapped, mapped);
  if (mmap(memory, content, access, MAP_PRIVATE | MAP_FIXED, file.number(),
           snapshot_header_bytes) == MAP_FAILED) {
    return failed(path, "cannot be mapped", errno);
  }
  // What cannot be read is an error here, and not a signal when it is checked. A kernel that does
  // not know the advice reads pages as they are touched.
  int code;
  do code = madvise(memory, content, MADV_POPULATE_READ) == 0 ? 0 : errno;
  while (code == EINTR || code == EAGAIN);
  if (code != 0 && code != EINVAL) {
    return failed(path, "cannot be read", code == EFAULT || code == EHWPOISON ? EIO : code);
  }
  return made;
}

}  // namespace

std::span<const std::uint8_t> mapped_snapshot::content() const {
  return {static_cast<const std::uint8_t*>(memory_.data()), snapshot_content_bytes(facts_)};
}

result<mapped_snapshot> mapped_snapshot::open(const std::string& path,
                                              std::uint32_t n_blocks_room) {
  const open_file file(path);
  if (file.number() < 0) return failed(path, "cannot be opened", errno);
  struct stat found {};
  if (fstat(file.number(), &found) != 0) return failed(path, "cannot be looked at", errno);
  if (!S_ISREG(found.st_mode)) return fail(errc::invalid, path, "is not a regular file");
  const auto facts = read_header(path, file, static_cast<std::uint64_t>(found.st_size));
  if (!facts) return tl::unexpected(facts.error());
  const std::uint32_t room = std::max(facts->size.n_blocks, n_blocks_room);
  const std::uint64_t content = snapshot_content_bytes(*facts);
  const std::uint64_t used = std::max(content, table::memory_bytes(facts->shape, room));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  auto memory = map_content(path, file, content, (used + page - 1) / page * page);
  if (!memory) return tl::unexpected(std::move(memory.error()));
  mapped_snapshot made(*facts, room, std::move(*memory));
  if (auto good = check_snapshot_content(made.content(), *facts); !good) {
    return tl::unexpected(std::move(good.error()));
  }
  return made;
}

result<std::unique_ptr<table>> mapped_snapshot::make_table(table_params params) && {
  params.shape = facts_.shape;
  params.size = facts_.size;
  params.n_blocks_room = n_blocks_room_;
  const std::span<const std::uint8_t> from = content();
  auto made = table::adopt(params, std::move(memory_));
  if (made) read_snapshot_fallback(from, facts_, **made);
  return made;
}

result<void> write_snapshot_file(const std::string& path, std::span<const std::uint8_t> snapshot) {
  const auto* text = reinterpret_cast<const char*>(snapshot.data());
  return replace_file(path, std::string_view(text, snapshot.size()), file_mode::owner_alone);
}

}  // namespace coua::setsep
