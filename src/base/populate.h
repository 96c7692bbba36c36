// SPDX-License-Identifier: Apache-2.0
//
// Makes a mapping's pages real, on several threads, and turns a shortage into an error number
// where an ordinary store would get SIGBUS.
#pragma once

#include <cstddef>

namespace coua {

/// The way of populate() on kernels before 5.14: one page after the other, through the kernel.
/// `page_bytes` is the distance of the touches. Same answer.
int touch_pages(void* memory, std::size_t bytes, std::size_t page_bytes);

/// Populates `bytes` of zeroed private memory for writing; start and length are multiples of
/// `page_bytes`. `threads` 0: as many as the caller may use, at most 16. Returns 0 or an errno:
/// EFAULT when a huge page that was promised is not there, ENOMEM when memory is short.
int populate(void* memory, std::size_t bytes, std::size_t page_bytes, unsigned threads);

}  // namespace coua
