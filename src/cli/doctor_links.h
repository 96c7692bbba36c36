// SPDX-License-Identifier: Apache-2.0
//
// Where the other end of a virtual cable is: the two questions to the kernel (rtnetlink) that
// nothing else answers for a cable that leads into another network namespace.
#pragma once

#include <optional>
#include <span>

namespace coua::cli {

constexpr int here = -1;  // the network namespace of who asks, which has no id for itself

struct far_end {
  unsigned number = 0;  // of the interface, in its namespace
  int space_id = here;  // the id that this namespace has for the other one
};

/// Of the namespace that it is made in. One thread.
class link_questions {
 public:
  link_questions();
  ~link_questions();
  link_questions(const link_questions&) = delete;
  link_questions& operator=(const link_questions&) = delete;

  /// Of the interface of that number. Nothing: it has no other end, or there is no such interface.
  std::optional<far_end> other_end(unsigned number);
  /// The id of a namespace, which is open as `fd`. Nothing: it has none, so no interface of this
  /// one leads there.
  std::optional<int> id_of_namespace(int fd);

 private:
  /// The answer without its header; empty: an error.
  std::span<char> ask(void* request, unsigned bytes);

  int socket_;
  alignas(8) char answer_[32768];
};

}  // namespace coua::cli
