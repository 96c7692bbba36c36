// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/table_loop.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>

#include "base/clock.h"
#include "bench/forward/bench_switch.h"
#include "bench/harness/cpu_time.h"
#include "dp/eal.h"
#include "net/ethernet.h"

namespace coua::bench {
namespace {

constexpr unsigned most_burst = 64;
constexpr std::uint64_t start_ns = 10'000'000;  // until the rate is steady

struct counts {
  std::uint64_t sent = 0, lost = 0, missed = 0;
};

class loop {
 public:
  loop(std::uint16_t in, std::uint16_t out, std::uint64_t vlan, unsigned burst, lookup& how,
       std::uint32_t miss)
      : in_(in), out_(out), vlan_(vlan << 48), burst_(burst), how_(how), miss_(miss) {}

  void run(std::uint64_t until_ns) {
    while (now_ns() < until_ns) {
      for (int i = 0; i < 16; ++i) round();  // between two looks at the clock
    }
  }
  const counts& done() const { return counts_; }

 private:
  void round() {
    const std::uint16_t n =
        rte_eth_rx_burst(in_, 0, packets_.data(), static_cast<std::uint16_t>(burst_));
    if (n == 0) return;
    for (unsigned i = 0; i < n; ++i) rte_prefetch0(rte_pktmbuf_mtod(packets_[i], const void*));
    for (unsigned i = 0; i < n; ++i) {
      keys_[i] = vlan_ | net::load_mac(rte_pktmbuf_mtod(packets_[i], const std::uint8_t*));
    }
    how_.answer(0, keys_.data(), n, words_.data());
    for (unsigned i = 0; i < n; ++i) counts_.missed += words_[i] == miss_;
    const std::uint16_t sent = rte_eth_tx_burst(out_, 0, packets_.data(), n);
    counts_.sent += sent;
    if (sent == n) return;
    counts_.lost += n - sent;
    rte_pktmbuf_free_bulk(packets_.data() + sent, n - sent);
  }

  std::uint16_t in_, out_;
  std::uint64_t vlan_;
  unsigned burst_;
  lookup& how_;
  std::uint32_t miss_;
  std::array<rte_mbuf*, most_burst> packets_{};
  std::array<std::uint64_t, most_burst + slack_keys> keys_{};
  std::array<std::uint32_t, most_burst> words_{};
  counts counts_;
};

}  // namespace

table_loop::table_loop(std::string name, const std::string& in_devargs,
                       const std::string& out_devargs, std::uint64_t vlan, unsigned burst,
                       crew& threads, lookup& how, std::uint32_t miss)
    : name_(std::move(name)),
      in_(device_of(in_devargs)),
      out_(device_of(out_devargs)),
      vlan_(vlan),
      burst_(std::min(burst, most_burst)),
      crew_(threads),
      how_(how),
      miss_(miss) {}

result<double> table_loop::run(double seconds) {
  std::uint16_t in = 0, out = 0;
  if (rte_eth_dev_get_port_by_name(in_.c_str(), &in) != 0 ||
      rte_eth_dev_get_port_by_name(out_.c_str(), &out) != 0) {
    return fail(errc::not_found, name_, "the ports are not there");
  }
  counts done;
  double elapsed_ns = 1;
  crew_.run(1, [&](unsigned) {
    const dp::eal_thread registration;
    loop work(in, out, vlan_, burst_, how_, miss_);
    work.run(now_ns() + start_ns);
    const counts before = work.done();
    const std::uint64_t start = this_thread_cpu_ns();
    work.run(now_ns() + static_cast<std::uint64_t>(seconds * 1e9));
    elapsed_ns = static_cast<double>(this_thread_cpu_ns() - start);
    done = work.done();
    done.sent -= before.sent;
  });
  if (done.missed + done.lost != 0) {
    return fail(errc::io, name_,
                std::to_string(done.missed) + " destinations were not found, " +
                    std::to_string(done.lost) + " packets were lost");
  }
  return 1e3 * static_cast<double>(done.sent) / elapsed_ns;
}

}  // namespace coua::bench
