// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_links.h"

#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace coua::cli {
namespace {

/// The attributes behind a message's own part.
template <typename Visitor>
void visit(std::span<char> answer, std::size_t own_bytes, const Visitor& visitor) {
  const std::size_t start = NLMSG_ALIGN(own_bytes);
  if (answer.size() < start) return;
  auto left = static_cast<int>(answer.size() - start);
  auto* each = reinterpret_cast<rtattr*>(answer.data() + start);
  for (; RTA_OK(each, left); each = RTA_NEXT(each, left)) {
    int number = 0;
    if (RTA_PAYLOAD(each) < sizeof number) continue;
    std::memcpy(&number, RTA_DATA(each), sizeof number);
    visitor(each->rta_type, number);
  }
}

}  // namespace

link_questions::link_questions()
    : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {}

link_questions::~link_questions() {
  if (socket_ >= 0) close(socket_);
}

std::span<char> link_questions::ask(void* request, unsigned bytes) {
  auto* header = static_cast<nlmsghdr*>(request);
  header->nlmsg_len = bytes;
  header->nlmsg_flags = NLM_F_REQUEST;
  if (send(socket_, request, bytes, 0) != static_cast<ssize_t>(bytes)) return {};
  const ssize_t n = recv(socket_, answer_, sizeof answer_, 0);
  if (n < static_cast<ssize_t>(sizeof(nlmsghdr))) return {};
  const auto* got = reinterpret_cast<const nlmsghdr*>(answer_);
  if (got->nlmsg_type == NLMSG_ERROR || got->nlmsg_len > static_cast<std::size_t>(n)) return {};
  return std::span(answer_).subspan(NLMSG_HDRLEN, got->nlmsg_len - NLMSG_HDRLEN);
}

std::optional<far_end> link_questions::other_end(unsigned number) {
  struct {
    nlmsghdr header;
    ifinfomsg link;
  } request{};
  request.header.nlmsg_type = RTM_GETLINK;
  request.link.ifi_index = static_cast<int>(number);
  far_end end;
  visit(ask(&request, sizeof request), sizeof(ifinfomsg), [&](unsigned type, int value) {
    if (type == IFLA_LINK) end.number = static_cast<unsigned>(value);
    if (type == IFLA_LINK_NETNSID) end.space_id = value;
  });
  if (end.number == 0) return std::nullopt;
  return end;
}

std::optional<int> link_questions::id_of_namespace(int fd) {
  struct {
    nlmsghdr header;
    rtgenmsg family;
    char gap[NLMSG_ALIGN(sizeof(rtgenmsg)) - sizeof(rtgenmsg)];
    rtattr attribute;
    int value;
  } request{};
  request.header.nlmsg_type = RTM_GETNSID;
  request.attribute = {sizeof(rtattr) + sizeof(int), NETNSA_FD};
  request.value = fd;
  int id = here;
  visit(ask(&request, sizeof request), sizeof(rtgenmsg), [&](unsigned type, int value) {
    if (type == NETNSA_NSID) id = value;
  });
  if (id < 0) return std::nullopt;
  return id;
}

}  // namespace coua::cli
