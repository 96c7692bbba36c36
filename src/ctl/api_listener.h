// SPDX-License-Identifier: Apache-2.0
//
// The socket of the API, and the connections to it. gRPC's own listener ends for good with the
// first accept() that finds no descriptor free, and it takes any number of connections. So this one
// accepts, and hands over what it has accepted:
//
//   client -> accept() -> are there too many? -> yes: closed, and logged
//                                             -> no: gRPC, which closes it when it ends, or when it
//                                                    has not begun in time
//
// Where no descriptor is free it waits, and clients in the queue of the socket do, too.
//
// gRPC does not say when it closes a connection. A socket has a cookie, which no other one ever has
// again: a descriptor with another cookie, or with none, is a connection that has ended. That is
// looked at only when there seem to be too many, and in the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/result.h"

namespace coua::ctl {

class api_listener {
 public:
  /// Listens on `path`, where nothing is, with the mode of the API's socket. `take` is called by a
  /// thread of its own with each connection, which it then owns. Errors: io, no_room.
  static result<std::unique_ptr<api_listener>> create(const std::string& path,
                                                      std::size_t connections_max,
                                                      std::function<void(int fd)> take);
  /// stop()
  ~api_listener();
  api_listener(const api_listener&) = delete;
  api_listener& operator=(const api_listener&) = delete;

  /// Returns when nothing is taken any more; connections stay.
  void stop();
  /// Ends the connections that are there. Nothing is taken any more.
  void break_connections() const;

 private:
  using clock = std::chrono::steady_clock;

  api_listener(std::string path, std::size_t connections_max, std::function<void(int)> take)
      : path_(std::move(path)), connections_max_(connections_max), take_(std::move(take)) {}
  result<void> open();
  void run();
  bool wait(bool for_clients, int timeout_ms) const;
  void accept_some();
  bool has_room();
  void refuse(int fd);
  void warn(const std::string& what);

  const std::string path_;
  const std::size_t connections_max_;
  const std::function<void(int)> take_;
  int socket_ = -1, stop_ = -1;
  bool starved_ = false;  // the last accept() found no descriptor
  std::unordered_map<int, std::uint64_t> cookies_;
  clock::time_point next_warning_{};
  std::thread thread_;
};

}  // namespace coua::ctl
