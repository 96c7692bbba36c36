// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/seed_figures.h"

namespace coua::bench {
namespace {

struct class_row {
  port_kind source, destination;
  const char* name;
};

constexpr class_row row(port_class each) {
  using enum port_kind;
  switch (each) {
    case port_class::wc_wc: return {wc, wc, "wc-wc"};
    case port_class::wc_hi: return {wc, hi, "wc-hi"};
    case port_class::hi_wc: return {hi, wc, "hi-wc"};
    case port_class::hi_hi: return {hi, hi, "hi-hi"};
    case port_class::wc_lo: return {wc, lo, "wc-lo"};
    case port_class::lo_wc: return {lo, wc, "lo-wc"};
    case port_class::hi_lo: return {hi, lo, "hi-lo"};
    case port_class::lo_hi: return {lo, hi, "lo-hi"};
    case port_class::lo_lo: return {lo, lo, "lo-lo"};
    case port_class::wc_ar: return {wc, ar, "wc-ar"};
    case port_class::ar_wc: return {ar, wc, "ar-wc"};
    case port_class::hi_ar: return {hi, ar, "hi-ar"};
    case port_class::ar_hi: return {ar, hi, "ar-hi"};
    case port_class::wc_em: return {wc, em, "wc-em"};
    case port_class::em_wc: return {em, wc, "em-wc"};
    case port_class::hi_em: return {hi, em, "hi-em"};
    case port_class::em_hi: return {em, hi, "em-hi"};
    case port_class::lo_ar: return {lo, ar, "lo-ar"};
    case port_class::ar_lo: return {ar, lo, "ar-lo"};
    case port_class::lo_em: return {lo, em, "lo-em"};
    case port_class::em_lo: return {em, lo, "em-lo"};
    case port_class::ar_ar: return {ar, ar, "ar-ar"};
    case port_class::ar_em: return {ar, em, "ar-em"};
    case port_class::em_ar: return {em, ar, "em-ar"};
    case port_class::em_em: return {em, em, "em-em"};
  }
  return {wc, wc, "?"};
}

}  // namespace

port_kind source_kind(port_class each) { return row(each).source; }
port_kind destination_kind(port_class each) { return row(each).destination; }
const char* to_string(port_class each) { return row(each).name; }

}  // namespace coua::bench
