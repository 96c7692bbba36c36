// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "bench/harness/leftovers.h"

namespace coua::bench {
namespace {

constexpr const char* eal_variable = "RUNTIME_DIRECTORY";

}  // namespace

result<std::unique_ptr<scratch_folder>> scratch_folder::create() {
  const char* const parent = std::getenv("TMPDIR");
  std::string path = std::string(parent == nullptr ? "/tmp" : parent) + "/coua-bench-XXXXXX";
  const leftovers::locked now;
  if (mkdtemp(path.data()) == nullptr) return fail(errc::io, path, std::strerror(errno));
  now->folders.insert(path);
  return std::unique_ptr<scratch_folder>(new scratch_folder(std::move(path)));
}

scratch_folder::~scratch_folder() {
  const leftovers::locked now;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  now->folders.erase(path_);
}

result<std::unique_ptr<eal_folder>> eal_folder::create() {
  auto folder = scratch_folder::create();
  if (!folder) return tl::unexpected(folder.error());
  return std::unique_ptr<eal_folder>(new eal_folder(std::move(*folder)));
}

eal_folder::eal_folder(std::unique_ptr<scratch_folder> folder) : folder_(std::move(folder)) {
  if (const char* const before = std::getenv(eal_variable)) before_ = before;
  setenv(eal_variable, folder_->path().c_str(), 1);
}

eal_folder::~eal_folder() {
  before_ ? setenv(eal_variable, before_->c_str(), 1) : unsetenv(eal_variable);
}

}  // namespace coua::bench
