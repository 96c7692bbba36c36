// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>

#include "classify/classifier.h"

namespace coua {
namespace {

constexpr std::uint64_t default_rules = std::uint64_t{1} << 24;
constexpr std::uint64_t max_rules = std::uint64_t{1} << 31;
constexpr std::uint32_t default_flows = 1 << 20;
constexpr std::uint32_t max_flows = 1 << 26;
constexpr std::uint32_t default_proof_budget = 1 << 18;

tl::unexpected<error> invalid(const char* name, const char* what) {
  return fail(errc::invalid, name, what);
}

}  // namespace

result<classifier_settings> classifier_settings::check(const coua_classifier_params& params) {
  classifier_settings all;
  all.key_bytes = params.key_bytes;
  if (all.key_bytes < 1 || all.key_bytes > COUA_CLASSIFIER_KEY_BYTES_MAX) {
    return invalid("key_bytes", "must be 1 to 256");
  }
  all.masks_max = params.masks_max == 0 ? COUA_CLASSIFIER_MASKS_DEFAULT : params.masks_max;
  if (all.masks_max > COUA_CLASSIFIER_MASKS_MAX) return invalid("masks_max", "must be 1 to 32,768");
  all.rules_max = params.rules_max == 0 ? default_rules : params.rules_max;
  if (all.rules_max > max_rules) return invalid("rules_max", "must be 1 to 2^31");
  if (params.distributor < COUA_DISTRIBUTOR_AUTO || params.distributor > COUA_DISTRIBUTOR_OFF) {
    return invalid("distributor", "is not a value of enum coua_classifier_distributor");
  }
  all.distributor = params.distributor;
  all.flows = params.flows == 0 ? default_flows : params.flows;
  if (all.flows < 16 || all.flows > max_flows) return invalid("flows", "must be 16 to 2^26");
  all.flows = std::bit_ceil(all.flows);
  all.proof_budget = params.proof_budget == 0 ? default_proof_budget : params.proof_budget;
  if (params.unpruned > 1) return invalid("unpruned", "must be 0 or 1");
  all.pruned = params.unpruned == 0;
  if (params.hash_key != nullptr) {
    std::memcpy(all.key.data(), params.hash_key, all.key.size());
  } else {
    const auto drawn = draw_hash_key();
    if (!drawn) return tl::unexpected(drawn.error());
    all.key = *drawn;
  }
  return all;
}

}  // namespace coua
