// SPDX-License-Identifier: Apache-2.0
//
// Errors of the control plane are values: what went wrong, with which object, and a code that
// callers can act on. Nothing here is used per packet.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace coua {

enum class errc {
  invalid,      // the request can never work: bad value, bad combination
  not_found,    // the object that it names does not exist
  exists,       // the object is already there, and differs
  no_memory,    // memory or huge pages are short
  no_room,      // a table or a limit is full
  busy,         // try again later
  denied,       // a privilege is missing
  unavailable,  // the other side does not answer
  io,           // a system or driver call failed
  unsupported,  // this build, machine or driver cannot do it
  interrupted,  // whoever asked has ended it
};

/// The lower-case word for a code, as it is shown to users ("not found").
constexpr const char* to_string(errc code) {
  switch (code) {
    case errc::invalid: return "invalid";
    case errc::not_found: return "not found";
    case errc::exists: return "exists";
    case errc::no_memory: return "no memory";
    case errc::no_room: return "no room";
    case errc::busy: return "busy";
    case errc::denied: return "denied";
    case errc::unavailable: return "unavailable";
    case errc::io: return "i/o error";
    case errc::unsupported: return "unsupported";
    case errc::interrupted: return "interrupted";
  }
  return "unknown";
}

struct error {
  errc code;
  std::string where;  // the object or the place: "port p0", "couad.yaml:12: ports[0].devargs"
  std::string what;   // the reason, and where it helps, what to do about it

  /// "where: what", as one line for a user.
  std::string message() const { return where.empty() ? what : where + ": " + what; }
};

template <typename T>
using result = tl::expected<T, error>;

/// `return fail(errc::invalid, "port p0", "...")` from any function that returns a result.
inline tl::unexpected<error> fail(errc code, std::string where, std::string what) {
  return tl::unexpected<error>(error{code, std::move(where), std::move(what)});
}

}  // namespace coua
