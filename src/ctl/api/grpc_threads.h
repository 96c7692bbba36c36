// SPDX-License-Identifier: Apache-2.0
//
// gRPC spreads work over the threads of an executor, which it makes one by one, up to two for each
// CPU, when it has much to do. One that the system refuses it takes for made: what it gives to that
// is never done, and the connection that waits for it hangs for ever. So all of them are made
// before anybody connects. To make another, gRPC needs three pieces of work that wait on one
// thread; here they are the callbacks of completion queues that are shut down.
#pragma once

#include "base/result.h"

namespace coua::ctl {

/// The first call makes them; those that follow say the same. Errors: no_room.
result<void> make_grpc_threads();

}  // namespace coua::ctl
