// SPDX-License-Identifier: Apache-2.0
//
// Command lines, carried out one after another over one connection.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/session.h"

namespace coua::cli {

/// What a command line without a verb does; it may have options.
using no_verb = std::function<int(const invocation& given)>;

class runner {
 public:
  explicit runner(const file_checker& check);
  ~runner();

  /// From here on Ctrl-C ends a verb rather than the process, and `defaults` are the options that
  /// lines do not give themselves. A script is at its end when Ctrl-C came, whatever the verb made
  /// of it.
  void stay(std::map<std::string, std::string> defaults, bool is_script) {
    stays_ = true;
    is_script_ = is_script;
    defaults_ = std::move(defaults);
  }
  /// Prints the answer, or the reason on the standard error output. An exit_status.
  int run(const std::vector<std::string>& words, const no_verb& without);
  /// The connection that a line with these options uses.
  client& daemon_of(const invocation& call);
  const std::map<std::string, std::string>& defaults() const { return defaults_; }
  /// Says what is wrong with a line that is no command line. Returns `status`.
  int complain(const error& e, int status) const;

 private:
  int execute(const invocation& call, bool is_paged = true);
  int answer_of(const session& s, const result<void>& done);

  const file_checker& check_;
  bool stays_ = false, is_script_ = false;
  std::map<std::string, std::string> defaults_;
  std::unique_ptr<client> daemon_;
  unsigned process_ = 0;  // that daemon_ is connected to
};

std::string choose_socket(const invocation& call);
/// For completion: what the daemon says at once, else nothing.
std::vector<std::string> names_of(thing what, client& daemon);

}  // namespace coua::cli
