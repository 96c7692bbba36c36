// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/operation_convert.h"

namespace coua::ofp {
namespace {

using pipeline::meter_unit;
using pipeline::of_error;
using pipeline::of_result;
using pipeline::refuse;

constexpr unsigned known_flags = OFPMF13_KBPS | OFPMF13_PKTPS | OFPMF13_BURST | OFPMF13_STATS;

}  // namespace

of_result<pipeline::meter_mod> from_ovs(const ofputil_meter_mod& theirs) {
  if (theirs.command > OFPMC13_DELETE) {
    return refuse(of_error::meter_mod_bad_command, "command " + std::to_string(theirs.command),
                  "there is no such command");
  }
  pipeline::meter_mod made;
  made.command = static_cast<pipeline::mod_command>(theirs.command);
  made.what.id = theirs.meter.meter_id;
  if (made.command == pipeline::mod_command::remove) return made;
  const unsigned flags = theirs.meter.flags;
  const bool kbps = (flags & OFPMF13_KBPS) != 0;
  const bool pktps = (flags & OFPMF13_PKTPS) != 0;
  if ((flags & ~known_flags) != 0 || (kbps && pktps)) {
    return refuse(of_error::meter_mod_bad_flags, "meter " + std::to_string(made.what.id),
                  kbps && pktps ? "either kbps or pktps" : "unknown flags");
  }
  made.what.unit = pktps ? meter_unit::pktps : meter_unit::kbps;
  made.what.has_burst = (flags & OFPMF13_BURST) != 0;
  made.what.has_stats = (flags & OFPMF13_STATS) != 0;
  for (unsigned i = 0; i < theirs.meter.n_bands; ++i) {
    const ofputil_meter_band& band = theirs.meter.bands[i];
    if (band.type != OFPMBT13_DROP && band.type != OFPMBT13_DSCP_REMARK) {
      return refuse(of_error::meter_mod_bad_band, "band of type " + std::to_string(band.type),
                    "there are drop (1) and dscp_remark (2)");
    }
    made.what.bands.push_back(
        {static_cast<pipeline::band_type>(band.type), band.rate, band.burst_size, band.prec_level});
  }
  return made;
}

void to_ovs(const pipeline::meter_mod& ours, ovs_meter_mod& made) {
  made.command = static_cast<std::uint16_t>(ours.command);
  made.meter.meter_id = ours.what.id;
  made.meter.flags = static_cast<std::uint16_t>(
      (ours.what.unit == meter_unit::kbps ? OFPMF13_KBPS : OFPMF13_PKTPS) |
      (ours.what.has_burst ? OFPMF13_BURST : 0) | (ours.what.has_stats ? OFPMF13_STATS : 0));
  made.meter.n_bands = static_cast<std::uint16_t>(ours.what.bands.size());
  made.meter.bands = static_cast<ofputil_meter_band*>(
      std::calloc(ours.what.bands.size() + 1, sizeof(ofputil_meter_band)));
  if (made.meter.bands == nullptr) std::abort();
  for (std::size_t i = 0; i < ours.what.bands.size(); ++i) {
    const pipeline::meter_band& band = ours.what.bands[i];
    made.meter.bands[i] = {static_cast<std::uint16_t>(band.type), band.prec_level, band.rate,
                           band.burst_size};
  }
}

}  // namespace coua::ofp
