// SPDX-License-Identifier: Apache-2.0
//
// How the CRC32c of a message changes with its first four bytes, without reading the rest. A CRC is
// linear: those of two messages of one length differ by the CRC, begun and ended with zero, of the
// bits in which they differ. Where these are the first 32 bits, that is their polynomial times
// x^(8 * length) modulo the generator: 17 powers of x and as many multiplications at most, whatever
// the message is and wherever it lies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coua::net {

/// To be XORed to the checksum as checksum.h has it. `difference`: the XOR of the first four bytes
/// before and after, the first byte lowest. `length`: of the message, 4 to 2^17 - 1 bytes.
std::uint32_t crc32c_change(std::uint32_t difference, std::size_t length) noexcept;

}  // namespace coua::net
