#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""situations_test.py: the sentences, losses and targets of cold start, attack and latency, of known
numbers."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import catalogue  # noqa: E402  (the path is set above)
import findings  # noqa: E402
import situations  # noqa: E402

FIGURES = {each.name: each for each in catalogue.figures("quick")}


def rows(param, fields, *lines):
    """Of each line the name, the parameter (if there is one) and the fields; None: it has none."""
    out = []
    for name, *values in lines:
        params = {param: values.pop(0)} if param else {}
        named = {field: value for field, value in zip(fields, values) if value is not None}
        out.append({"name": name, "params": params, "spread": 0.01, **named})
    return out


class SituationTest(unittest.TestCase):
    figure = None  # its name

    def say(self, found):
        return findings.sentence(FIGURES[self.figure], found)

    def losses(self, found):
        return findings.losses(FIGURES[self.figure], found)

    def judged(self, found):
        """What the targets of the figure say of its rows."""
        figure = FIGURES[self.figure]
        kept = {figure.runs[0].name: {"status": "done", "report": {"rows": found}}}
        return [(each.ratio, each.met) for each in findings.judge([figure], kept) if each.target.figure == figure.name]


class ColdStartTest(SituationTest):
    figure = "cold-start"

    def rows(self, *lines):
        return rows("second", ("mops", "packets", "misses", "ratio_to_ovs", "ratio_to_ovs_lifted"), *lines)

    def test_known_numbers(self):
        found = self.rows(("coua", 1, 6, 6e6, None, 200), ("coua", 10, 0.5, 6e7, None, 30, 6),
                          ("ovs", 1, 0.03, 3e4, 25_000, 1), ("ovs", 10, 0.9, 2e6, 100, 1),
                          ("ovs/lifted", 1, 7, 3e4, 25_000, 1), ("ovs/lifted", 10, 0.3, 1e7, 100, 5))
        self.assertEqual(self.say(found),
                         "In the first 10 s Coua forwards 60 million packets and Open vSwitch forwards 2 million packets: "
                         "30 times as many, and 6.0 times as many as with its limit of flows lifted. In the first window "
                         "Coua does 6 and Open vSwitch does 0.03 million packets per second, in the last one Coua 0.5 and "
                         "Open vSwitch 0.9. 25,100 packets went through the slow path of Open vSwitch.")
        self.assertEqual(self.losses(found), ["Open vSwitch in 1 of the 2 windows",
                                              "Open vSwitch, its limit of flows lifted, in 1 of the 2 windows"])
        # Against Open vSwitch as it comes, and against the one that may have all flows.
        self.assertEqual(self.judged(found), [(30, True), (6, False)])

    def test_a_figure_that_is_missing_or_0(self):
        self.assertEqual(self.say([]), "Nothing was measured.")
        found = self.rows(("coua", 10, 6, 6e7), ("ovs", 10, 0, 0, 0), ("ovs/lifted", 10, 2, 2e7))
        self.assertEqual(self.say(found),
                         "In the first 10 s Coua forwards 60 million packets and Open vSwitch forwards nothing: 3.0 times "
                         "as many as Open vSwitch with its limit of flows lifted. In the first window Coua does 6 and Open "
                         "vSwitch does 0 million packets per second, in the last one Coua 6 and Open vSwitch 0.")
        found = self.rows(("coua", 10), ("ovs", 10, 1, 1e7), ("ovs/lifted", 10, 0, 0))
        self.assertEqual(self.say(found),
                         "In the first 10 s Coua was not measured and Open vSwitch forwards 10 million packets; Open vSwitch "
                         "with its limit of flows lifted forwards nothing. In the first window Open vSwitch does 1 million "
                         "packets per second, in the last one Open vSwitch 1.")
        self.assertEqual(self.judged(found), [(None, False), (None, False)])
        self.assertEqual(self.losses(found), [])


class AttackTest(SituationTest):
    figure = "attack"

    def rows(self, *lines):
        return rows("attack", ("rest_mops", "ratio_to_peace"), *lines)

    def test_known_numbers(self):
        found = self.rows(("coua", 0, 8, 1), ("coua", 10, 6, 0.75), ("ovs", 0, 10, 1), ("ovs", 10, 0.5, 0.05),
                          ("raw-io", 10, 20, 1))
        self.assertEqual(self.say(found),
                         "With 10 % of the packets at the masks that cost most, Coua keeps 0.75 of the rate of the rest "
                         "(6 of 8 million packets per second), Open vSwitch keeps 0.05 of the rate of the rest (0.5 of "
                         "10 million packets per second); under attack Coua forwards 12 times as many packets of the "
                         "rest.")
        self.assertEqual(self.losses(found), ["Open vSwitch without an attack"])
        self.assertEqual(self.judged(found), [(0.75, True)])
        found[1]["ratio_to_peace"], found[3]["ratio_to_peace"] = 0.4, 0.6
        self.assertIn("Open vSwitch keeps more of its own rate with 10 % of attack", self.losses(found))
        self.assertEqual(self.judged(found), [(0.4, False)])

    def test_a_figure_that_is_missing_or_0(self):
        self.assertEqual(self.say([]), "Nothing was measured.")
        self.assertEqual(self.say(self.rows(("raw-io", 10, 20, 1))), "Nothing was measured.")
        found = self.rows(("coua", 0, 8, 1), ("coua", 10, 6, 0.75), ("ovs", 0, 10, 1), ("ovs", 10, 0, 0))
        self.assertEqual(self.say(found),
                         "With 10 % of the packets at the masks that cost most, Coua keeps 0.75 of the rate of the rest "
                         "(6 of 8 million packets per second), Open vSwitch forwards nothing of the rest (0 of 10 million "
                         "packets per second).")
        found = self.rows(("coua", 10, 6), ("ovs", 10))
        self.assertEqual(self.say(found),
                         "With 10 % of the packets at the masks that cost most, Coua forwards 6 million packets per second "
                         "of the rest (without an attack it was not measured), Open vSwitch was not measured.")
        self.assertEqual(self.losses(found), [])


class LatencyTest(SituationTest):
    figure = "latency"

    def rows(self, *lines):
        return rows("", ("offered_mops", "mean_us", "p99_us", "p999_us", "datapath_ratio_to_ovs"), *lines)

    def test_known_numbers(self):
        found = self.rows(("coua", 1.5, 2, 9, 50, 0.25), ("coua/at-rate-of-ovs", 0.4, 1, 2, 50, 0.125),
                          ("ovs", 0.4, 8, 6, 50, 1))
        self.assertEqual(self.say(found),
                         "At half of its peak rate a packet takes 2 us in Coua at 1.5 million packets per second (p99 9, "
                         "p99.9 50) and 8 us in Open vSwitch at 0.4 million packets per second (p99 6, p99.9 50): the mean "
                         "of Coua is 0.25 of the other. At the rate of Open vSwitch Coua takes 1 us (p99 2, p99.9 50).")
        self.assertEqual(self.losses(found), ["Open vSwitch: p99 of the time of a packet"])
        self.assertEqual(self.judged(found), [(0.25, True)], "at most")
        found[0]["datapath_ratio_to_ovs"] = 0.6
        self.assertEqual(self.judged(found), [(0.6, False)])

    def test_the_datapath_alone(self):
        found = self.rows(("coua", 1.5, 2, 9, 50, 0.125), ("ovs", 0.4, 8, 6, 50, 1))
        found[0].update(raw_io_us=1.5, datapath_us=0.5)
        found[1].update(raw_io_us=4, datapath_us=4)
        words = " Without what raw I/O takes at the same rates, which the rings do, it is 0.5 us in Coua and 4 us in Open vSwitch"
        self.assertTrue(self.say(found).endswith(words + ": 0.12 of the other."), self.say(found))
        del found[0]["datapath_ratio_to_ovs"]
        self.assertTrue(self.say(found).endswith(words + "."), self.say(found))
        heading, lines = situations.cells("latency", found)
        self.assertEqual([line[heading.index("in the datapath")] for line in lines], ["0.5", "4"])

    def test_what_the_times_do_not_say(self):
        found = self.rows(("coua", 1.5, 2, 9, 50), ("ovs", 0.4, 8, 6, 50))
        found[0].update(peak_of="source", lost=0.0009)
        found[1].update(peak_of="switch", lost=0.0312, lossy=True, empty_windows=1)
        self.assertTrue(self.say(found).endswith(
            " 0.25 of the other. The peak of Coua is that of the thread that sends, as its ring was hardly ever full. Open "
            "vSwitch loses 3.12 % of its packets: the times are of the others. No packet of Open vSwitch came back in 1 "
            "window: those packets count as lost."), self.say(found))
        _, lines = situations.cells("latency", found)
        self.assertEqual([line[0] for line in lines], ["Coua", "Open vSwitch (loses packets)"])

    def test_a_figure_that_is_missing_or_0(self):
        self.assertEqual(self.say([]), "Nothing was measured.")
        self.assertEqual(self.say(self.rows(("coua", 1, 0, 0, 0), ("ovs", 1))), "Nothing was measured.")
        found = self.rows(("coua", 1.5, 2, 9, 50), ("coua/at-rate-of-ovs", 0.4, 0), ("ovs", 0.4, 0, 6, 50))
        self.assertEqual(self.say(found),
                         "At half of its peak rate a packet takes 2 us in Coua at 1.5 million packets per second (p99 9, "
                         "p99.9 50). The time of a packet in Open vSwitch was not measured.")
        found = self.rows(("coua", None, 2), ("ovs", 0.4, 8, 9, 50))
        self.assertEqual(self.say(found),
                         "At half of its peak rate a packet takes 2 us in Coua at a rate that is not known (p99 not measured, "
                         "p99.9 not measured) and 8 us in Open vSwitch at 0.4 million packets per second (p99 9, p99.9 50): "
                         "the mean of Coua is 0.25 of the other.")


if __name__ == "__main__":
    unittest.main()
