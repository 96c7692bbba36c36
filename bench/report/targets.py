# SPDX-License-Identifier: Apache-2.0
"""The project's own targets for the whole switch; docs/benchmarks.md, "Targets", has them as a
table (a test compares the two)."""

import dataclasses

from catalogue import OVS, OVS_SMC


@dataclasses.dataclass(frozen=True)
class target:
    figure: str     # of the catalogue; empty: none measures it
    what: str
    x: int
    ratio: float    # Coua's rate over the peer's, at least
    peer: str = OVS
    field: str = ""       # of Coua's row, if it is not the ratio of two rates
    at_most: bool = False


def of(figure, what, words, pairs):
    return [target(figure, f"{what}, {words.format(label)}", x, ratio) for label, x, ratio in pairs]


TARGETS = (
    *of("gateway", "access gateway", "{} flows",
        (("1", 1, 1.5), ("1K", 1000, 2.5), ("10K", 10_000, 5), ("100K", 100_000, 9), ("1M", 1_000_000, 6))),
    *of("lb", "load balancer, 100 services", "{} flows", (("1K", 1000, 2.5), ("100K", 100_000, 4.5))),
    *of("l3", "router, 2K prefixes", "{} flows", (("100", 100, 2.2), ("500K", 500_000, 4))),
    target("masks", "20 masks, 100K flows", 20, 8),
    target("masks", "20 masks, 100K flows, against its signature match cache", 20, 2.5, OVS_SMC),
    *of("l2-flows", "L2 by flow rules", "{} addresses",
        (("1K", 1000, 2), ("100K", 100_000, 6), ("1M", 1_000_000, 4))),
    target("cold-start", "packets in the first 10 s of 100K new flows", 10, 20, field="ratio_to_ovs"),
    target("cold-start", "packets in the first 10 s of 100K new flows, its limit of flows lifted", 10, 9,
           field="ratio_to_ovs_lifted"),
    target("attack", "rate of the rest under attack, against its own without", 10, 0.5, field="ratio_to_peace"),
    target("latency", "mean time of a packet in the datapath, at half of the peak rate (at most)", None, 0.5,
           field="datapath_ratio_to_ovs", at_most=True),
)
