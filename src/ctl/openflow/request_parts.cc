// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/request_parts.h"

namespace coua::openflow {

tl::expected<bool, ofp::refusal> request_parts::add(std::uint32_t xid,
                                                    ofp::ask::table_features& part) {
  auto at = begun_.find(xid);
  if (at == begun_.end()) {
    if (!part.more) return true;
    if (begun_.size() == cut_requests_max) {
      return tl::unexpected(ofp::multipart_overflow("too many requests in parts"));
    }
    at = begun_.emplace(xid, begun{}).first;
  }
  begun& of = at->second;
  if (of.refused) {
    if (!part.more) begun_.erase(at);
    return false;
  }
  if (n_bytes_ + part.body.size() > cut_requests_bytes_max) {
    n_bytes_ -= of.body.size();
    of = {{}, true};
    if (!part.more) begun_.erase(at);
    return tl::unexpected(ofp::multipart_overflow("requests in parts are too long"));
  }
  n_bytes_ += part.body.size();
  of.body.insert(of.body.end(), part.body.begin(), part.body.end());
  if (part.more) return false;
  n_bytes_ -= of.body.size();
  part.body = std::move(of.body);
  begun_.erase(at);
  return true;
}

}  // namespace coua::openflow
