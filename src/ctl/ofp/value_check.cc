// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/value_check.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

#include "ctl/ofp/field_convert.h"
#include "ctl/ofp/subfield_text.h"

namespace coua::ofp {
namespace {

using pipeline::value128;

constexpr unsigned value128_bits = 128;
/// In OpenFlow 1.0 the number of no VLAN: dl_vlan=0xffff is a packet without a tag.
constexpr value128 no_vlan = 0xffff;

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

value128 largest(unsigned n_bits) {
  return n_bits >= value128_bits ? ~value128{0} : (value128{1} << n_bits) - 1;
}

bool fits(std::string_view text, value128 last, number_form form) {
  const auto value = read_number(text, form);
  return value && *value <= last;
}

/// "a number from 0 to 255"; of a wide one nobody wants to read the decimal digits.
std::string numbers_to(value128 last) {
  constexpr unsigned readable_bits = 32;
  if (last <= largest(readable_bits)) {
    return "a number from 0 to " + std::to_string(static_cast<std::uint64_t>(last));
  }
  unsigned n_bits = 0;
  while (n_bits < value128_bits && largest(n_bits) < last) ++n_bits;
  return "a number from 0 to 2^" + std::to_string(n_bits) + " - 1";
}

struct value_and_mask {
  std::string_view value;
  std::optional<std::string_view> mask;
};
value_and_mask split(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

/// Groups of up to so many digits, none of them above `last`.
bool is_dotted(std::string_view text, std::size_t n_groups, char separator, unsigned base,
               std::size_t n_digits, unsigned last) {
  for (std::size_t i = 0; i < n_groups; ++i) {
    const std::size_t end = std::min(text.find(separator), text.size());
    unsigned value = 0;
    for (const char c : text.substr(0, end)) {
      if (digit(c) >= base) return false;
      value = value * base + digit(c);
    }
    const bool more = end < text.size();
    if (end == 0 || end > n_digits || value > last || more != (i + 1 < n_groups)) return false;
    text.remove_prefix(more ? end + 1 : end);
  }
  return true;
}

bool is_mac(std::string_view text) { return is_dotted(text, 6, ':', 16, 2, 0xff); }
bool is_ipv4(std::string_view text) { return is_dotted(text, 4, '.', 10, 3, 255); }
bool is_ipv6(std::string_view text) {
  in6_addr made;
  return inet_pton(AF_INET6, std::string(text).c_str(), &made) == 1;
}

/// How addresses of a kind are written.
struct address_form {
  bool (*is_one)(std::string_view text);
  const char* what;
  unsigned prefix_max;  // 0: a mask is not a number
};
constexpr address_form mac_form = {is_mac, "an Ethernet address (01:23:45:67:89:ab)", 0};
constexpr address_form ipv4_form = {is_ipv4, "an IPv4 address (four numbers from 0 to 255)", 32};
constexpr address_form ipv6_form = {is_ipv6, "an IPv6 address", 128};

result<void> check_plain(std::string_view name, std::string_view text, const address_form& form) {
  if (form.is_one(text)) return {};
  return fail(errc::invalid, std::string(name), quoted(text) + " is not " + form.what);
}

/// With a mask or without.
result<void> check_address(std::string_view name, std::string_view text, const address_form& form) {
  const auto [value, mask] = split(text);
  if (auto good = check_plain(name, value, form); !good) return good;
  if (!mask || form.is_one(*mask)) return {};
  if (form.prefix_max != 0) {
    const auto n_bits = read_number(*mask, number_form::decimal);
    if (n_bits && *n_bits <= form.prefix_max) return {};
  }
  const std::string number =
      form.prefix_max == 0 ? "" : ", nor a number from 0 to " + std::to_string(form.prefix_max);
  return fail(errc::invalid, std::string(name),
              "the mask " + quoted(*mask) + " is not " + form.what + number);
}

/// "+syn-ack" and "syn|ack" are the library's; here are numbers: "0x12", "0x2/0x12", "1|2".
result<void> check_flags(std::string_view name, std::string_view text, unsigned n_bits) {
  if (text.empty() || digit(text.front()) >= 10) return {};
  if (text.find('|') == std::string_view::npos) return check_masked(name, text, n_bits);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.empty() || digit(one.front()) >= 10) continue;
    if (auto good = check_number(name, one, n_bits); !good) return good;
  }
  return {};
}

/// Bits of the values that it can have: some fields stand in more bytes than they need.
unsigned width(const mf_field& of) {
  for (unsigned bit = 8 * of.n_bytes; bit-- > 0;) {
    const mf_value one = to_ovs_value(of, value128{1} << bit);
    if (mf_is_value_valid(&of, &one)) return bit + 1;
  }
  return of.n_bits;
}

result<void> check_integer(const mf_field& of, std::string_view name, std::string_view text) {
  if (of.n_bytes * 8 > value128_bits) return {};  // options of tunnels, which the switch lacks
  if (of.id == MFF_DL_VLAN && read_number(text, number_form::any_base) == no_vlan) return {};
  // A mask of all its bytes cuts nothing off.
  const auto [value, mask] = split(text);
  const bool whole = mask && read_number(*mask) == largest(8 * of.n_bytes);
  return check_masked(name, whole ? value : text, width(of));
}

}  // namespace

unsigned digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? static_cast<unsigned>(low - 'a') + 10 : 16;
}

std::optional<value128> read_number(std::string_view text, number_form form) {
  unsigned base = 10;
  if (form == number_form::any_base && text.starts_with('0') && text.size() > 1) {
    base = (text[1] | 0x20) == 'x' ? 16 : 8;
    text.remove_prefix(base == 16 ? 2 : 1);
  }
  if (text.empty()) return std::nullopt;
  value128 value = 0;
  for (const char c : text) {
    if (digit(c) >= base || __builtin_mul_overflow(value, value128{base}, &value) ||
        __builtin_add_overflow(value, value128{digit(c)}, &value)) {
      return std::nullopt;
    }
  }
  return value;
}

result<void> check_at_most(std::string_view name, std::string_view text, value128 last,
                           number_form form) {
  if (fits(text, last, form)) return {};
  return fail(errc::invalid, std::string(name), quoted(text) + " is not " + numbers_to(last));
}

result<void> check_number(std::string_view name, std::string_view text, unsigned n_bits,
                          number_form form) {
  return check_at_most(name, text, largest(n_bits), form);
}

result<void> check_once(seen_words& seen, const std::string& name) {
  if (seen.insert(name).second) return {};
  return fail(errc::invalid, name, "it is said twice");
}

result<void> check_masked(std::string_view name, std::string_view text, unsigned n_bits) {
  const auto [value, mask] = split(text);
  if (auto good = check_number(name, value, n_bits); !good) return good;
  if (!mask || *mask == "-1" || fits(*mask, largest(n_bits), number_form::any_base)) return {};
  return fail(errc::invalid, std::string(name),
              "the mask " + quoted(*mask) + " is not " + numbers_to(largest(n_bits)));
}

result<void> check_mac(std::string_view name, std::string_view text) {
  return check_plain(name, text, mac_form);
}
result<void> check_ipv4(std::string_view name, std::string_view text) {
  return check_plain(name, text, ipv4_form);
}

result<void> check_value(const mf_field& of, std::string_view name, std::string_view text) {
  if (text == "*") return {};  // any value
  switch (of.string) {
    case MFS_DECIMAL:
    case MFS_HEXADECIMAL: return check_integer(of, name, text);
    case MFS_TCP_FLAGS: return check_flags(name, text, of.n_bits);
    case MFS_ETHERNET: return check_address(name, text, mac_form);
    case MFS_IPV4: return check_address(name, text, ipv4_form);
    case MFS_IPV6: return check_address(name, text, ipv6_form);
    case MFS_CT_STATE:  // words,
    case MFS_OFP_PORT:  // ports
    case MFS_OFP_PORT_OXM:
    case MFS_FRAG:  // and pairs, which the library cuts nothing off
    case MFS_TNL_FLAGS:
    case MFS_PACKET_TYPE: return {};
  }
  return {};
}

result<std::optional<mf_subfield>> read_bits(std::string_view text) {
  const std::size_t open = std::min(text.find('['), text.size());
  const std::size_t close = std::min(text.find(']', open), text.size());
  constexpr unsigned position_bits = 10;  // wider than any field; the library's numbers wrap at 32
  std::string_view inside =
      text.substr(std::min(open + 1, close), close - std::min(open + 1, close));
  while (!inside.empty()) {
    const std::size_t end = std::min(inside.find(".."), inside.size());
    const std::string_view one = inside.substr(0, end);
    inside.remove_prefix(std::min(end + 2, inside.size()));
    if (auto good = check_number(text, one, position_bits, number_form::decimal); !good) {
      return tl::unexpected(good.error());
    }
  }
  mf_subfield made;
  if (!coua_read_subfield(std::string(text).c_str(), &made)) return std::nullopt;
  return made;
}

result<void> check_value(const mf_subfield& of, std::string_view name, std::string_view text) {
  if (of.n_bits > value128_bits) return {};
  return check_number(name, text, of.n_bits);
}

}  // namespace coua::ofp
