#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_test.py COUA_BENCH: what its command line refuses, and by which words."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from command_case import run  # noqa: E402  (the path is set above)

CPU_FLAGS = pathlib.Path("/proc/cpuinfo").read_text().split()


class CommandLineTest(unittest.TestCase):
    def test_refusals_name_the_option(self):
        for words, named in ((("foo",), "foo is no subcommand: there are limit, fib, "),
                             (("--foo", "fib"), "--foo is no subcommand: there are limit, fib, "),
                             ((), "A subcommand is required: there are limit, fib, "),
                             (("fib", "--entries", "12Q"), "--entries 12Q"),
                             (("fib", "--load", "1.5"), "--load 1.5"),
                             (("fib", "--mode", "wrong"), "--mode wrong"),
                             (("fib", "--peers", "nobody"), "--peers nobody"),
                             (("fib", "--threads", "1000"), "--threads 1000"),
                             (("flow", "--variants", "blom"), "--variants blom"),
                             (("flow", "--peers", "nobody"), "--peers nobody"),
                             (("flow", "--churn", "5K"), "--churn 5000"),
                             (("flow", "--key", "4", "--capacity", "4Gi"), "--key 4"),
                             (("flow", "--table", "1", "--capacity", "4Ki"), "--capacity: has no"),
                             (("flow", "--table", "1", "--peers"), "--peers: has no meaning"),
                             (("flow", "--table", "2", "--figure", "2"), "--figure"),
                             (("flow", "--table", "3"), "--table"),
                             (("setsep", "--table", "1", "--figure", "7"), "--figure excludes --table"),
                             (("forward", "--figure", "8", "--table", "2"), "--figure excludes --table"),
                             (("forward", "--rules", "10", "--flows", "11"), "--flows 11"),
                             (("forward", "--size", "63"), "--size 63"),
                             (("forward", "--users", "5"), "--users: has no meaning"),
                             (("forward", "--case", "lb", "--peer", "ovs,ovs"), "--peer: names ovs twice"),
                             (("forward", "--case", "l3", "--users", "5"), "--users: has no"),
                             (("forward", "--case", "l3", "--attack", "5"), "--attack: has no"),
                             (("forward", "--attack", "5"), "--attack: has no"),
                             (("forward", "--case", "classify", "--attack", "91"), "--attack 91"),
                             (("forward", "--case", "classify", "--masks", "1", "--attack", "5"), "--masks 1"),
                             (("forward", "--case", "l2", "--measure", "latency"), "--measure: has no"),
                             (("forward", "--measure", "cold-start", "--updates", "5"), "--updates: has no"),
                             (("forward", "--measure", "cold-start", "--flows", "5,6"), "--flows: takes one"),
                             (("forward", "--measure", "speed"), "--measure = speed"),
                             (("forward", "--measure", "latency", "--size", "128"),
                              "--size: with --measure latency all frames have 64 bytes"),
                             (("forward", "--measure", "latency", "--workers", "2"),
                              "--workers: with --measure latency there is one worker"),
                             (("forward", "--measure", "latency", "--windows", "3"), "--windows: has no"),
                             (("forward", "--windows", "3"), "--windows: has no"),
                             (("forward", "--case", "classify", "--masks", "1K", "--flows", "10K", "--attack", "3"),
                              "--attack 3: has 300 of 10000 flows, fewer than the 990 masks that they attack: --flows "
                              "must be at least 33000"),
                             (("forward", "--case", "lb", "--sources", "5"), "--sources: has no"),
                             (("forward", "--case", "lb", "--figure", "8"), "--figure: has no"),
                             (("forward", "--case", "gateway", "--direction", "both"),
                              "--direction both: there is one"),
                             (("traffic", "--rules", "5", "--out", "/dev/null/x"), "--flows"),
                             (("traffic", "--out", "/nowhere/x"), "/nowhere/x"),
                             (("traffic", "--case", "l2", "--packets", "5"), "--packets: has no"),
                             (("traffic", "--case", "l3"), "--out: name a folder"),
                             (("traffic", "--case", "l3", "--out", "/dev/null/x"), "/dev/null/x"),
                             (("traffic", "--case", "l3", "--out", "x", "--vlan", "3"),
                              "--vlan: has no meaning with --case l3"),
                             (("traffic", "--case", "lb", "--out", "x", "--users", "3"), "--users"),
                             (("traffic", "--case", "l3", "--out", "x", "--flows", "20M"),
                              "--flows 20000000"),
                             (("classify", "--masks", "5K"), "--masks 5K"),
                             (("classify", "--kind", "xyz"), "--kind: xyz"),
                             (("classify", "--misses", "101"), "--misses 101"),
                             (("classify", "--first", "9", "--misses", "9"), "--first: all its"),
                             (("classify", "--first", "9", "--kind", "fw"), "--first: has a"),
                             (("classify", "--peers", "nobody"), "--peers nobody"),
                             (("lpm", "--family", "ipx"), "--family ipx"),
                             (("lpm", "--root", "12"), "--root 12"),
                             (("lpm", "--prefixes", "0"), "--prefixes 0"),
                             (("lpm", "--peers", "nobody"), "--peers nobody"),
                             (("setsep", "--peers", "nobody"), "--peers nobody"),
                             (("setsep", "--table", "1", "--batch", "8"), "--batch: has no"),
                             (("setsep", "--figure", "11", "--config", "8+16"), "--config: has no"),
                             (("setsep", "--figure", "8"), "--figure"),
                             (("forward", "--case", "lb", "--masks", "5"), "--masks: has no"),
                             (("forward", "--case", "classify", "--rules", "5"), "--rules: of"),
                             (("forward", "--case", "lb", "--peer", "vpp"), "--peer vpp"),
                             (("traffic", "--case", "classify", "--masks", "5,6", "--out", "x"),
                              "--masks: takes one"),
                             (("pipeline", "--case", "classify", "--masks", "5K"), "--masks 5K"),
                             (("pipeline", "--case", "l2"), "--case: l2"),
                             (("pipeline", "--rules", "5M"), "--rules 5M"),
                             (("pipeline", "--flows", "0"), "--flows 0"),
                             (("pipeline", "--batch", "65"), "--batch 65"),
                             (("pipeline", "--simd", "sse"), "--simd sse"),
                             *(((command, "--simd", "avx512"), "--simd avx512: this machine has no")
                               for command in ("classify", "pipeline", "setsep")
                               if "avx512f" not in CPU_FLAGS),
                             (("pipeline", "--users", "5"), "--users: has no meaning"),
                             (("pipeline", "--single-table"), "--single-table: has no meaning"),
                             (("pipeline", "--direction", "down"), "--direction: has no meaning"),
                             (("pipeline", "--case", "gateway", "--direction", "left"), "left"),
                             (("rules",), "--kind is required"),
                             (("rules", "--kind", "xyz"), "--kind: xyz"),
                             (("rules", "--kind", "acl", "--rules", "0"), "--rules 0"),
                             (("rules", "--kind", "acl", "--rules", "2M"), "--rules 2M"),
                             (("rules", "--kind", "acl", "--masks", "9"), "--masks: has no"),
                             (("rules", "--kind", "masks", "--rules", "9"), "--rules: has no"),
                             (("rules", "--kind", "masks", "--masks", "5K"), "--masks 5K"),
                             (("rules", "--kind", "fw", "--text", "--json"), "--text"),
                             (("limit", "--pages", "3M"), "--pages 3M"),
                             (("limit", "--size", "10"), "--size 10")):
            done = run(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(named, done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
