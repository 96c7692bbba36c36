// SPDX-License-Identifier: Apache-2.0
//
// What the processor can do, and where threads run. A kernel exists once per instruction set; the
// set is chosen once at start:
//
//   active_isa() = min(what CPU and system support, COUA_SIMD, the cap that the embedder sets)
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coua {

enum class isa { generic, avx2, avx512 };  // in rising order; avx512 stands for F, BW, VL and DQ
const char* to_string(isa set);

/// The best set that this CPU and the operating system support.
isa best_isa() noexcept;

/// `word` is the text of COUA_SIMD (null or empty: not set). Returns the set to use on a machine
/// whose best is `best`; `complaint` receives one line when the word is unknown or asks for more
/// than the machine has (it is then ignored), else it is empty.
isa choose_isa(isa best, const char* word, std::string& complaint);

/// The set to use. COUA_SIMD is read at the first call of this function or the next. Any thread.
isa active_isa();

/// Why COUA_SIMD is ignored; empty: it is not. For programs to say: a library does not print. Any
/// thread.
const std::string& simd_complaint();

/// No wider vectors than `bits` from now on: below 256 generic, below 512 AVX2, else no cap. For
/// an embedder that has its own limit (DPDK's --force-max-simd-bitwidth). Call it before tables
/// are created: those that exist keep their kernels. Any thread.
void cap_simd_bits(unsigned bits) noexcept;

/// The CPUs that the calling thread may run on, ascending.
std::vector<unsigned> allowed_cpus();

/// Restricts the calling thread to these CPUs; threads that it starts later inherit that.
/// Errors: invalid (none given, or none of them exists or is allowed), io.
result<void> pin_this_thread(std::span<const unsigned> cpus);
result<void> pin_this_thread(unsigned cpu);

/// Sets the name that ps and top show. The kernel keeps the first 15 bytes.
void name_this_thread(std::string_view name) noexcept;

/// The calling thread is woken without stopping the one that runs on its CPU (SCHED_BATCH): for one
/// that others send work to piece by piece, so that it finds several pieces. Where the system does
/// not allow it, nothing changes.
void wake_this_thread_late() noexcept;

/// Bytes of the second-level data cache of one core; 0 where the system does not say. The
/// environment variable COUA_L2_BYTES (a number) overrides it: virtual machines may report another
/// cache.
std::size_t second_level_cache_bytes() noexcept;

/// Bytes of the data cache of a level, 1 to 3, that one core uses; 0 where the system does not say,
/// or there is none. Of the second one as above.
std::size_t data_cache_bytes(unsigned level) noexcept;

/// The NUMA node of a CPU; 0 where the system does not say.
unsigned numa_node_of_cpu(unsigned cpu);

}  // namespace coua
