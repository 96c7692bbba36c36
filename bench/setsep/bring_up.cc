// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/bring_up.h"

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "setsep/snapshot_file.h"

namespace coua::bench {

result<bring_up> bring_up::create(const setsep::table& of, std::uint64_t n_keys) {
  auto folder = scratch_folder::create();
  if (!folder) return tl::unexpected(std::move(folder.error()));
  std::vector<std::uint8_t> snapshot(setsep::snapshot_bytes(of));
  setsep::write_snapshot(of, {{1, 0}, {}, 0, n_keys, of.shape(), of.size()}, snapshot);
  bring_up made;
  made.folder_ = std::move(*folder);
  made.path_ = made.folder_->path() + "/snapshot";
  if (auto done = setsep::write_snapshot_file(made.path_, snapshot); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  return made;
}

result<double> bring_up::load() {
  const std::uint64_t start = now_ns();
  setsep::replica made({});
  std::vector<std::uint8_t> snapshot(std::filesystem::file_size(path_));
  std::ifstream(path_, std::ios::binary)
      .read(reinterpret_cast<char*>(snapshot.data()),
            static_cast<std::streamsize>(snapshot.size()));
  if (auto loaded = made.load(snapshot); !loaded) return tl::unexpected(loaded.error());
  return static_cast<double>(now_ns() - start) / 1e6;
}

result<double> bring_up::map() {
  const std::uint64_t start = now_ns();
  mapped_ = std::make_unique<setsep::replica>(setsep::replica_params{});
  if (auto loaded = mapped_->map(path_); !loaded) return tl::unexpected(loaded.error());
  return static_cast<double>(now_ns() - start) / 1e6;
}

}  // namespace coua::bench
