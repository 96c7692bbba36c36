// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/meter.h"

namespace coua::pipeline {

of_result<void> check_meter(const meter& one) {
  const std::string where = "meter " + std::to_string(one.id);
  if (one.id == 0 || one.id > meter_max) {
    return refuse(of_error::meter_mod_invalid_meter, where,
                  "numbers are 1 to " + std::to_string(meter_max));
  }
  if (one.bands.size() > bands_max) {
    return refuse(of_error::meter_mod_out_of_bands, where,
                  "a meter has at most " + std::to_string(bands_max) + " bands");
  }
  for (std::size_t i = 0; i < one.bands.size(); ++i) {
    const meter_band& band = one.bands[i];
    const std::string place = where + ", band " + std::to_string(i);
    if (band.rate == 0) {
      return refuse(of_error::meter_mod_bad_rate, place, "the rate is 0");
    }
    if (one.has_burst && band.burst_size == 0) {
      return refuse(of_error::meter_mod_bad_burst, place,
                    "the meter says that its bands have bursts, and this one has none");
    }
    if (band.type == band_type::dscp_remark && band.prec_level == 0) {
      return refuse(of_error::meter_mod_bad_band_value, place,
                    "a remark by 0 steps would change nothing");
    }
  }
  return {};
}

std::string to_string(const meter& one) {
  std::string text = "meter=" + std::to_string(one.id);
  text += one.unit == meter_unit::kbps ? ",kbps" : ",pktps";
  if (one.has_burst) text += ",burst";
  if (one.has_stats) text += ",stats";
  for (const meter_band& band : one.bands) {
    text += band.type == band_type::drop ? ",band=type:drop" : ",band=type:dscp_remark";
    text += ",rate:" + std::to_string(band.rate);
    if (one.has_burst) text += ",burst_size:" + std::to_string(band.burst_size);
    if (band.type == band_type::dscp_remark) {
      text += ",prec_level:" + std::to_string(band.prec_level);
    }
  }
  return text;
}

}  // namespace coua::pipeline
