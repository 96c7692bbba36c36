// SPDX-License-Identifier: Apache-2.0
//
// What the programs of Open vSwitch print, and how they take CPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coua::bench {

/// The number behind "LABEL:", from `at` on; 0: it is not there.
std::uint64_t number_behind(const std::string& text, const std::string& label, std::size_t at = 0);
double fraction_behind(const std::string& text, const std::string& label, std::size_t at);

/// Of flows as `dpctl/dump-flows` lists them: "...,ipv4(src=128.0.0.0/192.0.0.0,proto=6),
/// packets:". A mask is what is left of a line without values.
std::uint64_t count_masks(const std::string& flows);

/// Of at least one CPU, in hexadecimal, as long as it needs to be.
std::string mask_of(const std::vector<unsigned>& cpus);

}  // namespace coua::bench
