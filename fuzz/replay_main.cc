// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target over files and folders given as arguments: the kept corpus of a target, or an
// input that made it fail, where no libFuzzer is at hand.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.h"

namespace {

std::size_t n_run = 0;

bool run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  n_run++;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = argc > 1;
  for (int i = 1; i < argc; i++) {
    if (!std::filesystem::is_directory(argv[i])) {
      good &= run_file(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      good &= run_file(entry.path());
  }
  std::printf("%zu inputs\n", n_run);
  return good && n_run > 0 ? 0 : 1;
}
