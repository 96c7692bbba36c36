// SPDX-License-Identifier: Apache-2.0
#include "bench/classify/peers/rte_acl.h"

#include <rte_acl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "bench/fib/peers/eal.h"
#include "bench/fib/peers/rte_heap.h"
#include "bench/harness/question.h"

namespace coua::bench {
namespace {

constexpr std::size_t n_fields = 5;
RTE_ACL_RULE_DEF(acl_rule, n_fields);

/// The first field must be of one byte; the others go in groups of four.
constexpr std::array<rte_acl_field_def, n_fields> fields = {{
    {RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, five_tuple_layout::ip_proto},
    {RTE_ACL_FIELD_TYPE_MASK, 4, 1, 1, five_tuple_layout::ip_src},
    {RTE_ACL_FIELD_TYPE_MASK, 4, 2, 2, five_tuple_layout::ip_dst},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, 3, 3, five_tuple_layout::tp_src},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, 4, 3, five_tuple_layout::tp_dst},
}};

// Of the tries (83 to 683 bytes a rule where sets have 300 to 10,000), its rules and build trees.
// Not 4 GiB for all, as all of it is written to before the first look-up.
std::uint64_t heap_bytes(std::size_t rules) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  return std::min((128 + rules) * mib, 4096 * mib);
}

class rte_acl_rules final : public named_contestant {
 public:
  rte_acl_rules(const rule_source& source, std::size_t batch)
      : named_contestant("rte_acl", json::object()), source_(source), batch_(batch) {}
  ~rte_acl_rules() override { rte_acl_free(context_); }

  result<void> build() {
    if (auto started = start_eal(); !started) return started;
    const std::vector<five_tuple_rule>& rules = source_.five_tuples->rules;
    const std::uint64_t bytes = heap_bytes(rules.size());
    auto heap = rte_heap::create("rte_acl", bytes, page_kind::automatic);
    if (!heap) return tl::unexpected(heap.error());
    heap_ = std::move(*heap);
    rte_acl_param params{};
    params.name = heap_->id().c_str();
    params.socket_id = heap_->socket();
    params.rule_size = RTE_ACL_RULE_SZ(n_fields);
    params.max_rule_num = static_cast<std::uint32_t>(rules.size());
    context_ = rte_acl_create(&params);
    if (context_ == nullptr) return fail(errc::no_memory, "rte_acl", "cannot be created");
    for (const five_tuple_rule& each : rules) {
      acl_rule rule{};
      put(each, rule);
      if (const int code = rte_acl_add_rules(context_, reinterpret_cast<rte_acl_rule*>(&rule), 1);
          code != 0) {
        return fail(errc::io, "rte_acl", std::string("rule: ") + std::strerror(-code));
      }
    }
    rte_acl_config config{};
    config.num_categories = 1;
    config.num_fields = n_fields;
    config.max_size = bytes / 2;
    std::copy(fields.begin(), fields.end(), config.defs);
    if (const int code = rte_acl_build(context_, &config); code != 0) {
      return fail(errc::no_room, "rte_acl", std::string("build: ") + std::strerror(-code));
    }
    return {};
  }

  std::uint64_t ask(unsigned, const std::uint64_t* words, std::size_t n) override {
    const std::uint8_t* data[chunk_keys];
    std::uint32_t numbers[chunk_keys];
    std::uint64_t sum = 0;
    const std::size_t key_words = source_.key_words();
    const std::vector<five_tuple_rule>& rules = source_.five_tuples->rules;
    for (std::size_t at = 0; at < n; at += batch_) {
      const std::size_t size = std::min(batch_, n - at);
      for (std::size_t i = 0; i < size; ++i) {
        data[i] = reinterpret_cast<const std::uint8_t*>(words + (at + i) * key_words);
      }
      rte_acl_classify(context_, data, numbers, static_cast<std::uint32_t>(size), 1);
      for (std::size_t i = 0; i < size; ++i) {
        sum += numbers[i] == 0 ? UINT32_MAX : rules[numbers[i] - 1].priority;
      }
    }
    return sum;
  }

 private:
  static void put(const five_tuple_rule& from, acl_rule& to) {
    to.data.category_mask = 1;
    to.data.priority =
        static_cast<std::int32_t>(std::min<std::uint32_t>(from.priority + 1, RTE_ACL_MAX_PRIORITY));
    to.data.userdata = from.number + 1;
    to.field[0].value.u8 = from.protocol.value_or(0);
    to.field[0].mask_range.u8 = from.protocol ? 0xff : 0;
    to.field[1].value.u32 = from.source.address;
    to.field[1].mask_range.u32 = from.source.bits;
    to.field[2].value.u32 = from.destination.address;
    to.field[2].mask_range.u32 = from.destination.bits;
    to.field[3].value.u16 = from.source_port.low;
    to.field[3].mask_range.u16 = from.source_port.high;
    to.field[4].value.u16 = from.destination_port.low;
    to.field[4].mask_range.u16 = from.destination_port.high;
  }

  const rule_source& source_;
  std::size_t batch_;
  std::unique_ptr<rte_heap> heap_;  // outlives the context
  rte_acl_ctx* context_ = nullptr;
};

}  // namespace

result<std::unique_ptr<named_contestant>> make_rte_acl(const rule_source& source,
                                                       std::size_t batch) {
  if (!source.five_tuples) {
    return fail(errc::unsupported, "rte_acl", "is compared with 5-tuples only");
  }
  auto made = std::make_unique<rte_acl_rules>(source, batch);
  if (result<void> built = made->build(); !built) return tl::unexpected(built.error());
  return made;
}

}  // namespace coua::bench
