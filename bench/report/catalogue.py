# SPDX-License-Identifier: Apache-2.0
"""What the report measures: its figures, the commands of each, and which rows are drawn.

A figure has lines. A line takes rows by name and parameters and has a role: Coua, a peer of it, or
a base that is ours as well (the same without the idea), or a limit (less work on the same ports). x is the parameter below the drawing; a
figure without x has bars.
"""

import dataclasses
import shutil

OURS, PEER, BASE, LIMIT = "ours", "peer", "base", "limit"
OVS = "Open vSwitch"
OVS_SMC, OVS_NONE = "Open vSwitch (signature match cache)", "Open vSwitch (no cache)"


@dataclasses.dataclass(frozen=True)
class run:
    """One call of coua-bench, or of another program of the tree that prints the same; its report is
    kept as NAME.json."""

    name: str
    words: tuple
    needs_ovs: bool = False
    seconds: int = 30  # that it takes, roughly
    tool: str = ""     # the other program, from the root of the tree


@dataclasses.dataclass(frozen=True)
class line:
    label: str
    row: str
    role: str = PEER
    params: tuple = ()  # pairs of a parameter and its value, that tell rows of one name apart


@dataclasses.dataclass(frozen=True)
class figure:
    name: str
    title: str
    about: str
    runs: tuple
    lines: tuple
    x: str = ""
    x_words: str = ""      # "flows": at 10K flows
    every: str = ""        # "share of misses", if it is not "number of" x_words
    field: str = "mops"
    unit: str = "million packets per second"
    # race, limit, updates, control, stalls, cold-start, attack or latency: what sentence is worked out
    kind: str = "race"


def forward(name, words, depth, seconds, ovs=True, peers="ovs"):
    common = ("--peer", peers, "--no-testpmd") if ovs else ()
    return run(name, ("forward", *words, *common, *depth), ovs, seconds)


def switch_figure(name, title, about, runs, x, x_words):
    lines = (line("Coua", "coua", OURS), line(OVS, "ovs"))
    return figure(name, title, about, runs, lines, x, x_words)


FIB_PEERS = tuple(line(label, row) for label, row in (
    ("rte_hash", "rte_hash/batch"), ("rte_hash (lock-free)", "rte_hash_lf/batch"),
    ("absl (prefetch)", "absl/prefetch"), ("boost flat map", "boost/single"),
    ("dense_hash_map (prefetch)", "dense_hash_map/prefetch"), ("sparse_hash_map", "sparse_hash_map/single"),
    ("libcuckoo", "libcuckoo/single"), ("TBB", "tbb/single"), ("std::unordered_map", "unordered_map/single")))


def figures(depth):
    """Those of a depth, "quick" or "full", in the order of the page."""
    full = depth == "full"
    windows = ("--repetitions", "5", "--seconds", "0.3") if full else ("--repetitions", "3", "--seconds", "0.15")
    tables = ("--repetitions", "5") if full else ("--repetitions", "3", "--seconds", "0.1")

    def pick(quick_words, full_words):
        return full_words if full else quick_words

    # What Open vSwitch needs long for, or much memory, has runs of its own: the others stand without.
    return (
        switch_figure(
            "gateway", "Access gateway", "The whole switch beside Open vSwitch with DPDK: ten customer end points "
            "of 20 users, 10K prefixes. Same ports, packets and rules, one worker, frames of 64 bytes.",
            (forward("gateway", ("--case", "gateway", "--flows", pick("1,1K,10K,100K", "1,10,100,1K,10K,100K")),
                     windows, pick(25, 120)),
             *(forward(f"gateway-{n}", ("--case", "gateway", "--flows", n), windows, 120) for n in pick((), ("1M",)))),
            "flows", "flows"),
        switch_figure(
            "lb", "Load balancer", "The whole switch beside Open vSwitch with DPDK: 100 web services, each on two "
            "back ends.",
            (forward("lb", ("--case", "lb", "--rules", "100", "--flows", pick("1K,100K", "100,1K,10K,100K")),
                     windows, pick(20, 80)),), "flows", "flows"),
        switch_figure(
            "l3", "Router", "The whole switch beside Open vSwitch with DPDK: longest match of 2K prefixes.",
            (forward("l3", ("--case", "l3", "--rules", "2K", "--flows", pick("100,100K", "100,1K,10K,100K")),
                     windows, pick(20, 80)),
             *(forward(f"l3-{n}", ("--case", "l3", "--rules", "2K", "--flows", n), windows, 60)
               for n in pick((), ("500K",)))), "flows", "flows"),
        switch_figure(
            "l2-flows", "L2 by flow rules", "The whole switch beside Open vSwitch with DPDK: a rule for each "
            "destination address, and a flow for each rule.",
            tuple(forward(f"l2-flows-{n}", ("--case", "l2-flows", "--rules", n, "--flows", n), windows, 10)
                  for n in pick(("1K", "100K"), ("1K", "10K", "100K", "1M"))), "rules", "addresses"),
        figure(
            "masks", "Many masks", "The whole switch with a rule for each mask and 100K flows, beside Open vSwitch "
            "with its exact-match cache, with its signature match cache, and with neither. Coua compares a packet with up "
            "to 48 rules at once; of more it asks its classifier, which remembers masks of flows.",
            (forward("masks", ("--case", "classify", "--masks", pick("20,100", "10,20,30,100"), "--flows", "100K"), windows,
                     pick(40, 120), peers="ovs,ovs-smc,ovs-none"),),
            (line("Coua", "coua", OURS), line(OVS, "ovs"), line(OVS_SMC, "ovs/smc"), line(OVS_NONE, "ovs/none")),
            "masks", "masks"),
        figure(
            "cold-start", "Cold start", "The access gateway with 100K flows that come all at once to a switch that has "
            "its rules and has seen no packet: what leaves it in each second by the clock, the median of several starts "
            "by turns. Open vSwitch as it comes allows itself few flows at first; with its limit lifted it knows all of "
            "them within seconds.",
            (run("cold-start", ("forward", "--measure", "cold-start", "--peer", "ovs", "--repetitions", pick("2", "5")), True,
                 pick(85, 210)),),
            (line("Coua", "coua", OURS), line(OVS, "ovs"), line(f"{OVS} (limit of flows lifted)", "ovs/lifted")), "second",
            "seconds", kind="cold-start"),
        figure(
            "attack", "Attack on masks", "1,000 masks, a rule each, and 100K flows, most of them of ten popular masks. "
            "Those of the attack are spread over the other 990 and differ in all bits that their rules leave open. The "
            "rate is that of the packets that do not attack.",
            (run("attack", ("forward", "--case", "classify", "--masks", "1K", "--flows", "100K", "--attack",
                            pick("0,10", "0,1,3,10"), "--peer", "ovs", "--no-testpmd", *windows), True, pick(30, 90)),),
            (line("Coua", "coua", OURS), line(OVS, "ovs")), "attack", "% of attack", field="rest_mops",
            unit="million packets per second of the rest", kind="attack"),
        figure(
            "latency", "Time of a packet", "The access gateway with 10K flows at half of the rate that each switch "
            "reaches on these ports (shared memory, net_memif), packet by packet at even intervals. The mean is that of "
            "the median window of 50 ms, the percentiles are of all packets. A time has the "
            "copies into and out of the rings before and behind the switch, the waits in them, and one round of the "
            "thread that sends and receives.",
            (run("latency", ("forward", "--measure", "latency", "--peer", "ovs", "--repetitions", pick("3", "5")), True,
                 pick(30, 60)),),
            (line("Coua", "coua", OURS), line("Coua at the rate of Open vSwitch", "coua/at-rate-of-ovs", OURS),
             line(OVS, "ovs")), field="mean_us", unit="microseconds, mean", kind="latency"),
        figure(
            "learning", "Learning switch", "The whole switch without rules: each packet asks the FIB for its source "
            "and its destination. Raw I/O is the same worker without switching, and testpmd DPDK's forwarder, which "
            "swaps the addresses: both look nothing up, they are what the ports allow.",
            (forward("learning", ("--rules", pick("1K,100K,1M", "1K,10K,100K,1M,10M"),
                                  *(() if shutil.which("dpdk-testpmd") else ("--no-testpmd",))),
                     windows, pick(15, 60), False),),
            (line("Coua", "coua", OURS), line("testpmd", "testpmd-mac", LIMIT), line("raw I/O", "raw-io", LIMIT)),
            "rules", "addresses", kind="limit"),
        figure(
            "updates", "Rules that change while packets pass", "The access gateway with 1K flows, while rules of its "
            "prefix table are removed and added.",
            (forward("updates", ("--case", "gateway", "--flows", "1K", "--no-testpmd", "--updates", "0,1K,10K,100K",
                                 "--pairs", pick("10", "50")), windows, pick(15, 60), False),),
            (line("Coua", "coua", OURS),), "updates", "changes per second", kind="updates"),
        figure(
            "control", "A controller changes rules", "The access gateway with 1K flows, while a controller adds and "
            "removes routes by OpenFlow, one by one and in batches of 20 with a barrier behind each; the same client "
            "for both switches, on the CPU of their control threads.",
            (run("control", ("updates", "--rounds", pick("2", "5"), "--seconds", pick("0.3", "1"), "--rates",
                             pick("10000,100000", "1000,3000,10000,30000,100000")), True, pick(40, 200),
                 "bench/openflow/run"),),
            (line("Coua", "coua", OURS, (("batch", 1),)), line("Coua (batches)", "coua", OURS, (("batch", 20),)),
             line(OVS, "ovs", PEER, (("batch", 1),)), line(f"{OVS} (batches)", "ovs", PEER, (("batch", 20),))),
            "updates", "changes per second", field="updates_per_s", unit="changes per second that are carried out",
            kind="control"),
        figure(
            "fib", "Forwarding table (FIB)", "Look-ups of addresses that are there, one thread, beside other hash "
            "tables of the same entries.",
            (run("fib", ("fib", "--entries", pick("64K,1M", "64K,1M,16M"), "--mode", "batch,pipeline", "--peers",
                         *tables), seconds=pick(20, 300)),),
            (line("Coua (pipeline)", "fib/pipeline", OURS), line("Coua (batch)", "fib/batch", OURS), *FIB_PEERS),
            "entries", "entries", unit="million look-ups per second"),
        figure(
            "flow", "Flow table", "Look-ups of 16-byte keys, of which a share misses, at load 0.95, beside DPDK's "
            "hash table of the same entries.",
            (run("flow", ("flow", "--capacity", pick("4Mi", "32Mi"), "--variants", "bloom", "--mode", "batch,pipeline",
                          "--misses", "0,20,50,100", "--fills", "1", "--peers", *tables), seconds=pick(20, 180)),),
            (line("Coua (pipeline)", "bloom/pipeline", OURS), line("Coua (batch)", "bloom/batch", OURS),
             line("rte_hash", "rte_hash/batch"), line("rte_hash (lock-free)", "rte_hash_lf/batch"),
             line("rte_hash (extendable)", "rte_hash_ext/batch")),
            "misses", "% of misses", "share of misses", unit="million look-ups per second"),
        figure(
            "classifier", "Wildcard classifier", "One rule for each mask, 100K flows. The distributor tells the mask "
            "that matches; plain tuple space search asks one mask after the other. rte_acl is DPDK's: a set of "
            "tries, which are built anew for each change of a rule.",
            (run("classifier", ("classify", "--masks", pick("10,30,100", "10,20,30,100,1000"), "--flows", "100K",
                                "--distributor", "on,off", "--peers", *tables), seconds=pick(67, 130)),),
            (line("Coua (distributor)", "distributor/on", OURS, (("pruned", True),)),
             line("rte_acl", "rte_acl"),
             line("plain tuple space search", "distributor/off", BASE, (("pruned", False),))),
            "masks", "masks", unit="million look-ups per second"),
        figure(
            "setsep", "Set separation", "From 8-byte keys to values of 2 bits, without the keys in memory, beside "
            "DPDK's set separation (rte_efd) and tables that hold the keys.",
            (run("setsep", ("setsep", "--keys", pick("256K", "4M"), "--value-bits", "2", "--peers", *tables),
                 seconds=pick(60, 200)),),
            (line("Coua", "setsep/hash-lookup", OURS), line("rte_efd", "rte_efd/batch"), *FIB_PEERS),
            unit="million look-ups per second"),
        figure(
            "lpm", "Longest prefix", "Look-ups of random IPv4 addresses in a table of prefixes with lengths as in "
            "the Internet's tables, beside DPDK's rte_fib, which no writer may change while it is read.",
            (run("lpm", ("lpm", "--family", "ipv4", "--prefixes", pick("10K,1M", "1K,10K,100K,1M"), "--root", "16",
                         "--peers", *tables), seconds=pick(20, 60)),),
            (line("Coua", "lpm/coua", OURS), line("rte_fib", "lpm/rte_fib")), "prefixes", "prefixes",
            unit="million look-ups per second"),
        figure(
            "stalls", "Stalls", "The longest time that a worker does not ask its port for packets, while the switch is "
            "changed or looked at: the median of the longest times of each action. The first two rows are what "
            "the machine does to a worker by itself.",
            (run("stalls", ("stalls", "--entries", pick("100K", "1M"), "--repetitions", pick("10", "30")),
                 seconds=pick(10, 30)),),
            (), field="gap_us", unit="microseconds", kind="stalls"),
    )
