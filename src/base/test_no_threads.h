// SPDX-License-Identifier: Apache-2.0
//
// For tests: a system without threads.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace coua {

/// While it lives, the system refuses every thread: no stack is as large as this one.
class no_threads {
 public:
  no_threads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~no_threads() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_;
};

}  // namespace coua
