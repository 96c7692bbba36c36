// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/rules_command.h"

#include <map>

#include "bench/rules/five_tuple_set.h"
#include "bench/rules/flows.h"
#include "bench/rules/mask_set.h"
#include "bench/rules/overlap.h"
#include "bench/rules/rules_text.h"
#include "bench/rules/ternary.h"
#include "bench/rules/wide_set.h"

namespace coua::bench {
namespace {

result<five_tuple_set> make_five_tuples(const rules_options& asked) {
  if (asked.kind == "masks") return make_mask_set(asked.masks);
  const rule_set_params params = {asked.rules, asked.run.seed, true};
  if (asked.kind == "acl") return make_five_tuple_set(acl_figures(), params);
  if (asked.kind == "fw") return make_five_tuple_set(fw_figures(), params);
  if (asked.kind == "ipc") return make_five_tuple_set(ipc_figures(), params);
  return fail(errc::invalid, "--kind " + asked.kind, "must be acl, fw, ipc, openflow or masks");
}

/// How often each value occurs, as one row each with its share of the rules.
template <typename Value>
class histogram {
 public:
  void count(const Value& value) { ++counts_[value]; }
  void add_rows(const std::string& name, const char* param, std::size_t all, report& out) const {
    for (const auto& [value, count] : counts_) {
      row& each = out.rows.emplace_back();
      each.name = name;
      each.params[param] = value;
      each.more["share"] = static_cast<double>(count) / static_cast<double>(all);
    }
  }

 private:
  std::map<Value, std::uint64_t> counts_;
};

std::string class_word(const port_range& range) {
  if (range == port_range{}) return "wc";
  if (range == port_range{1024, 65535}) return "hi";
  if (range == port_range{0, 1023}) return "lo";
  return range.low == range.high ? "em" : "ar";
}

void add_histograms(const five_tuple_set& set, const std::string& kind, report& out) {
  histogram<std::string> protocols, ports;
  histogram<unsigned> sources, destinations;
  for (const five_tuple_rule& rule : set.rules) {
    protocols.count(rule.protocol ? std::to_string(*rule.protocol) : "any");
    ports.count(class_word(rule.source_port) + "-" + class_word(rule.destination_port));
    sources.count(rule.source.bits);
    destinations.count(rule.destination.bits);
  }
  protocols.add_rows(kind + "/protocol", "protocol", set.rules.size(), out);
  ports.add_rows(kind + "/ports", "ports", set.rules.size(), out);
  sources.add_rows(kind + "/source", "bits", set.rules.size(), out);
  destinations.add_rows(kind + "/destination", "bits", set.rules.size(), out);
}

void add_histograms(const wide_set& set, const std::string& kind, report& out) {
  histogram<std::string> fields;
  histogram<unsigned> sources, destinations;
  for (const wide_rule& rule : set.rules) {
    std::string names;
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      if (rule.fields[i].bits == 0) continue;
      names += (names.empty() ? "" : "+") + std::string(wide_layout::fields[i].name);
    }
    fields.count(names.empty() ? "none" : names);
    sources.count(rule[wide_field::ip_src].bits);
    destinations.count(rule[wide_field::ip_dst].bits);
  }
  fields.add_rows(kind + "/fields", "fields", set.rules.size(), out);
  sources.add_rows(kind + "/source", "bits", set.rules.size(), out);
  destinations.add_rows(kind + "/destination", "bits", set.rules.size(), out);
}

template <typename Rule>
result<report> describe(const rule_set<Rule>& set, const rules_options& asked,
                        const result<overlap>& matched) {
  if (!matched) return tl::unexpected(matched.error());
  const ternary_set entries = expand(set);
  report out;
  out.bench = "rules";
  out.params = {{"kind", asked.kind}, {"seed", asked.run.seed}};
  row& whole = out.rows.emplace_back();
  whole.name = asked.kind + "/set";
  whole.more = {{"rules", set.rules.size()},
                {"default_rule", set.ends_in_default},
                {"masks", distinct_masks(entries)},
                {"entries", entries.entries.size()},
                {"expansion", static_cast<double>(entries.entries.size()) /
                                  static_cast<double>(set.rules.size())},
                {"key_bytes", entries.key_bytes},
                {"flows", matched->flows},
                {"matched_by_many", matched->by_many},
                {"matches_per_flow", matched->mean}};
  if (asked.kind != "masks") add_histograms(set, asked.kind, out);
  return out;
}

}  // namespace

result<report> run_rules(const rules_options& asked) {
  if (asked.kind == "openflow") {
    const result<wide_set> set = make_wide_set({asked.rules, asked.run.seed, true});
    if (!set) return tl::unexpected(set.error());
    return describe(*set, asked, sample_overlap(*set, asked.flows, asked.run.seed));
  }
  const result<five_tuple_set> set = make_five_tuples(asked);
  if (!set) return tl::unexpected(set.error());
  return describe(*set, asked, sample_overlap(*set, asked.flows, asked.run.seed));
}

result<std::string> print_rules(const rules_options& asked) {
  if (asked.kind == "openflow") {
    return make_wide_set({asked.rules, asked.run.seed, true}).map([](const wide_set& set) {
      return to_text(set);
    });
  }
  return make_five_tuples(asked).map([](const five_tuple_set& set) { return to_text(set); });
}

}  // namespace coua::bench
