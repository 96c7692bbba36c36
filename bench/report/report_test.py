#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_test.py COUA_BENCH: the benchmark report, from stored results and with a program that only
pretends to measure."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import catalogue  # noqa: E402
import findings  # noqa: E402
import measure  # noqa: E402
from targets import TARGETS  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "coua-bench"
FIGURES = {each.name: each for each in catalogue.figures("quick")}

# Answers as coua-bench would, says what it was asked, or misbehaves.
PRETENDER = """#!/bin/sh
case "$1" in
  plot) exec {bench} "$@" ;;
esac
echo "$*" >> {log}
case "$1" in
  stalls) echo 'stalls 3: nothing (1 s)' >&2; echo 'coua-bench: port 3: is gone' >&2; exit 1 ;;
  lpm) sleep 60 ;;
  setsep) echo 'no json' ;;
  *) echo '{{"bench": "fib", "params": {{}}, "machine": {{"cpu": "X"}}, "rows": [{{"name": "fib/pipeline", \
"params": {{"entries": 1000}}, "mops": 10}}, {{"name": "boost/single", "params": {{"entries": 1000}}, \
"mops": 5}}]}}' ;;
esac
"""


def call(*words, **more):
    return subprocess.run([HERE / "run", *words], capture_output=True, text=True, timeout=120, **more)


def rows(name, pairs, x="flows", spread=0.01):
    return [{"name": name, "params": {x: at}, "mops": mops, "spread": spread} for at, mops in pairs]


class FindingsTest(unittest.TestCase):
    """Sentences of known numbers."""

    def say(self, ours, peer, name="gateway", **more):
        figure = FIGURES[name]
        return findings.sentence(figure, rows("coua", ours, **more) + rows("ovs", peer, **more))

    def test_coua_is_faster_everywhere(self):
        self.assertEqual(self.say([(1, 4), (1000, 3), (100_000, 2)], [(1, 2), (1000, 1), (100_000, 0.1)]),
                         "Coua is faster than Open vSwitch at every number of flows: 2.0 times at 1, 20 times at 100K.")

    def test_the_extreme_between_the_ends_is_named(self):
        self.assertIn("2.0 times at 1, 8.0 times at 1K, 4.0 times at 100K",
                      self.say([(1, 4), (1000, 8), (100_000, 4)], [(1, 2), (1000, 1), (100_000, 1)]))

    def test_the_peer_is_faster_everywhere(self):
        self.assertEqual(self.say([(1, 1), (1000, 3)], [(1, 2), (1000, 4)]),
                         "Open vSwitch is faster than Coua at every number of flows: Coua reaches 0.50 of its rate "
                         "at 1, 0.75 of its rate at 1K.")

    def test_the_crossing(self):
        self.assertEqual(self.say([(100, 1), (10_000, 4)], [(100, 4), (10_000, 1)]),
                         "Open vSwitch is faster than Coua at 100 flows: Coua reaches 0.25 of its rate; "
                         "Coua is faster than Open vSwitch at 10K flows: 4.0 times. The lines cross near 1K flows.")
        two = self.say([(10, 4), (100, 1), (1000, 4)], [(10, 1), (100, 4), (1000, 1)])
        self.assertIn("The lines cross near 30 and 300 flows.", two)

    def test_within_the_spread_nobody_wins(self):
        self.assertEqual(self.say([(1, 1.1)], [(1, 1)], spread=0.1),
                         "Coua and Open vSwitch are too close to tell at 1 flow (Coua has 1.10 of the rate).")
        self.assertIn("is faster", self.say([(1, 1.1)], [(1, 1)], spread=0.01))
        self.assertIn("too close", self.say([(1, 1.1)], [(1, 1)], spread=0.02), "three windows show less than many")
        self.assertIn("too close", self.say([(1, 1)], [(1, 1.04)], spread=0), "windows may agree by chance")
        self.assertIn("is faster", self.say([(1, 1)], [(1, 1.06)], spread=0))
        self.assertIn("too close", self.say([(1, 1)], [(1, 1.12)], spread=None), "a spread that is not known is not 0")

    def test_lines_cross_as_they_are_drawn(self):
        def near(ours, peer, x, name="flow"):
            figure = FIGURES[name]
            found = [findings.points_of(figure, rows(row, points, x), line) for row, points, line in
                     ((figure.lines[0].row, ours, figure.lines[0]), (figure.lines[2].row, peer, figure.lines[2]))]
            return findings.crossings(figure, *found)
        self.assertEqual(near([(0, 4), (100, 1)], [(0, 1), (100, 2)], "misses"), [75], "even steps, and from 0 on")
        self.assertAlmostEqual(near([(64, 4), (6400, 1)], [(64, 1), (6400, 4)], "entries", "fib")[0], 640)
        self.assertEqual(near([(0, 1.01), (50, 1)], [(0, 1), (50, 2)], "misses"), [], "a tie is no side of a crossing")
        self.assertEqual(near([(0, 2), (50, 1), (100, 1)], [(0, 1), (50, 1), (100, 2)], "misses"), [])

    def test_rates_of_0_are_none(self):
        self.assertTrue(self.say([(1, 2), (1000, 2)], [(1, 1), (1000, 0)]).endswith(" Open vSwitch has no row at 1K flows."))
        self.assertIn("Nothing to compare with", self.say([(1, 2)], [(1, 0)]))
        self.assertIn("There is no row of Coua", self.say([(1, 0)], [(1, 1)]))

    def test_a_missing_row_is_said(self):
        self.assertTrue(self.say([(1, 2), (1000, 2)], [(1, 1)]).endswith(" Open vSwitch has no row at 1K flows."))
        self.assertIn("Nothing to compare with was measured", self.say([(1, 2)], []))
        self.assertIn("There is no row of Coua", self.say([], [(1, 2)]))
        self.assertEqual(self.say([], []), "Nothing was measured.")

    def test_the_fastest_of_several_peers_is_named(self):
        found = (rows("fib/batch", [(64_000, 50), (1_000_000, 45)], "entries")
                 + rows("boost/single", [(64_000, 100), (1_000_000, 9)], "entries")
                 + rows("tbb/single", [(64_000, 4), (1_000_000, 15)], "entries"))
        text = findings.sentence(FIGURES["fib"], found)
        self.assertIn("boost flat map is faster than Coua at 64K entries: Coua reaches 0.50", text)
        self.assertIn("Coua is faster than TBB at every number of entries: 12 times at 64K, 3.0 times at 1M", text)
        self.assertEqual(findings.losses(FIGURES["fib"], found), ["boost flat map at 64K entries"])
        found += rows("absl/prefetch", [(64_000, 70), (1_000_000, 1)], "entries")
        self.assertEqual(findings.losses(FIGURES["fib"], found),
                         ["absl (prefetch) at 64K entries", "boost flat map at 64K entries"], "also the second fastest")
        self.assertIn("absl (prefetch) is faster than Coua at 64K", findings.sentence(FIGURES["fib"], found))

    def test_a_figure_without_x(self):
        found = [{"name": name, "params": {}, "mops": mops} for name, mops in
                 (("setsep/hash-lookup", 90), ("rte_efd/batch", 30), ("rte_hash/batch", 14))]
        self.assertEqual(findings.sentence(FIGURES["setsep"], found),
                         "Coua is faster than the fastest of the others, rte_efd: 3.0 times (90 against 30 million "
                         "look-ups per second).")

    def test_what_the_ports_allow(self):
        found = (rows("coua", [(1000, 8), (1_000_000, 5)], "rules") + rows("raw-io", [(1000, 16), (1_000_000, 20)], "rules")
                 + rows("testpmd-mac", [(1000, 32)], "rules"))
        self.assertEqual(findings.sentence(FIGURES["learning"], found),
                         "Coua reaches 0.25 of the rate of testpmd at 1K addresses; 0.50 of the rate of raw I/O at 1K, "
                         "0.25 at 1M addresses.")
        self.assertEqual(findings.losses(FIGURES["learning"], found), [])

    def test_updates_and_stalls(self):
        found = [{"name": "coua", "params": {"updates": rate}, "mops": 1, "ratio_to_none": ratio}
                 for rate, ratio in ((100_000, 0.7), (1000, 0.99))]
        self.assertEqual(findings.sentence(FIGURES["updates"], found),
                         "Coua keeps this share of its rate: 0.99 at 1K changes per second, 0.70 at 100K changes "
                         "per second.")
        found = [{"name": name, "params": {}, "gap_us": gap, "longest_gap_us": longest} for name, gap, longest in
                 (("nothing", 100, 900), ("another CPU busy", 80, 800), ("fib dump", 70, 5000), ("flow one", 300, 400))]
        self.assertEqual(findings.sentence(FIGURES["stalls"], found),
                         "The action with the most is \"flow one\": 300 us, the median of the longest gaps of its turns; "
                         "the machine by itself takes a worker away for 80 to 100 us. The longest gap of all its turns "
                         "had \"fib dump\", 5,000 us, and the machine by itself 900 us.")

    def test_control(self):
        found = [{"name": name, "params": {"updates": rate, "batch": batch}, "updates_per_s": done, "mops": 2,
                  "none_mops": 2, "ratio_to_none": ratio}
                 for name, rate, batch, done, ratio in (
                     ("coua", 10_000, 1, 8000, 0.99), ("ovs", 10_000, 1, 9900, 0.98),
                     ("coua", 100_000, 1, 40_000, 0.9), ("ovs", 100_000, 1, 5000, 0.8),
                     ("coua", 100_000, 20, 40_000, 0.6), ("ovs", 100_000, 20, 41_000, 0.9))]
        found += [{"name": name, "params": {"way": way}, "seconds": seconds} for name, way, seconds in (
            ("coua", "add-flows", 1), ("coua", "bundle", 0.55), ("ovs", "add-flows", 0.5), ("ovs", "bundle", 0.5))]
        self.assertEqual(findings.sentence(FIGURES["control"], found),
                         "Asked for 100K changes per second one by one, Coua carries out 40K and keeps 0.90 of its "
                         "packet rate, Open vSwitch carries out 5K and keeps 0.80 of its packet rate: 8.0 times as "
                         "many, and shares too close to tell. Asked for 100K changes per second in batches of 20, Coua "
                         "carries out 40K and keeps 0.60 of its packet rate, Open vSwitch carries out 41K and keeps "
                         "0.90 of its packet rate: numbers too close to tell, and Open vSwitch keeps more. ovs-ofctl "
                         "loads the rules into Coua in 1 s, as a bundle in 0.55 s; into Open vSwitch in 0.5 s, as a "
                         "bundle in 0.5 s (measured once, too close to tell: bundle).")
        self.assertEqual(findings.losses(FIGURES["control"], found),
                         ["Open vSwitch carries out more, asked for 10K changes per second one by one",
                          "Open vSwitch keeps more of its packet rate, asked for 100K changes per second in batches of "
                          "20",
                          "Open vSwitch when ovs-ofctl loads the rules (add-flows: Coua takes 2.0 times as long)"])
        found[0]["updates_per_s"] = found[-1]["seconds"] = 0
        self.assertIn("Asked for 100K", findings.sentence(FIGURES["control"], found))

    def test_counts(self):
        self.assertEqual([findings.count(each) for each in (1, 999, 1000, 2500, 64_000, 250_000, 1_000_000, 0.5)],
                         ["1", "999", "1K", "2.5K", "64K", "250K", "1M", "0.5"])

    def test_targets_are_those_of_the_documents(self):
        text = (HERE.parent.parent / "docs" / "benchmarks.md").read_text()
        part = text.split("## Targets\n", 1)[1].split("\n## ", 1)[0]
        written = re.findall(r"^\| (.+?) \| ([\d.]+) \|$", part, re.M)
        self.assertEqual(written, [(each.what, f"{each.ratio:g}") for each in TARGETS])

    def test_catalogue(self):
        for depth in ("quick", "full"):
            figures = catalogue.figures(depth)
            names = [run.name for each in figures for run in each.runs]
            self.assertEqual(len(set(names)), len(names))
        quick = sum(run.seconds for each in catalogue.figures("quick") for run in each.runs)
        self.assertLess(quick, 540, "quick stays below ten minutes, with some to spare")
        known = {each.name for each in catalogue.figures("quick")}
        self.assertTrue({each.figure for each in TARGETS if each.figure} <= known)


class PageTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def page(self, *words):
        done = call("--bench", PROGRAM, "--out", self.folder, "--page-only", *words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.stdout.strip(), str(self.folder / "report.html"), done.stderr)
        text = (self.folder / "report.html").read_text()
        ElementTree.fromstring(text.split("\n", 1)[1])  # each tag is closed, each sign escaped
        return done, text

    def test_a_page_of_stored_results(self):
        shutil.copytree(HERE / "fixtures", self.folder, dirs_exist_ok=True)
        done, text = self.page()
        self.assertEqual(done.returncode, 1, "a run failed")
        plain = re.sub(r"<[^>]+>", "", text)
        for words in (
                "Coua is faster than Open vSwitch at every number of flows: 2.0 times at 1, 10 times at 100K.",
                "cache of Open vSwitch answers 100 % of its packets at 1 and 6 % at 100K flows",
                "Open vSwitch is faster than Coua at 1K flows: Coua reaches 0.50 of its rate; Coua is faster than "
                "Open vSwitch at 100K flows: 4.0 times. The lines cross near 6K flows.",
                "Open vSwitch has no row at 100K flows.",
                "Coua is faster than the fastest of the others, Open vSwitch (signature match cache), at 20 masks: "
                "2.0 times (4 against 2 million packets per second).",
                "rte_acl is faster than Coua at every number of masks",
                "Against plain tuple space search Coua does 2.5 times at 10, 21 times at 100 masks.",
                "its workers are &lt;not&gt; found", "is not installed",
                "rte_efd as packaged gives wrong values", "Fixture CPU, 2 CPUs of a virtual machine",
                "too close to tell at every share of misses"):
            self.assertTrue(words in plain, words)
        # Of the four of the gateway, two of the load balancer, one of the router, two of masks.
        found = re.search(r"\d+ of the \d+ targets.*\.", plain).group()
        self.assertEqual(found, "5 of the 9 targets that were measured are met; 9 were not measured.")
        self.assertEqual(text.count("<svg role="), 10)
        lost = text.split('id="losses"', 1)[1].split("</section>", 1)[0]
        self.assertEqual(re.findall(r'href="#([\w-]+)"', lost), ["lb", "fib", "classifier"])
        # One file, which asks for no other.
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)|url\(|@import|<script|<link', text), [])
        self.assertEqual(len(re.findall(r' id="([^"]+)"', text)), len(set(re.findall(r' id="([^"]+)"', text))))
        for words in ("width=device-width", "prefers-color-scheme: dark",
                      "forward --case gateway --flows 1,1K,10K,100K --peer ovs"):
            self.assertIn(words, text)

    def test_a_figure_that_cannot_be_costs_its_section(self):
        shutil.copytree(HERE / "fixtures", self.folder, dirs_exist_ok=True)
        path = self.folder / "updates.json"
        kept = json.loads(path.read_text())
        for row in kept["report"]["rows"]:
            row["ratio_to_none"] = "none"
        path.write_text(json.dumps(kept))
        kept = json.loads((self.folder / "gateway.json").read_text())
        for row in kept["report"]["rows"]:
            row["mops"] = 0
        (self.folder / "gateway.json").write_text(json.dumps(kept))
        _, text = self.page()
        self.assertIn("Its results make no figure: ", text.split('id="updates"', 1)[1].split("</section>", 1)[0])
        self.assertIn("Nothing was measured.", text.split('id="gateway"', 1)[1].split("</section>", 1)[0])
        self.assertIn("rte_acl is faster than Coua", text)

    def test_some_figures_only(self):
        shutil.copytree(HERE / "fixtures", self.folder, dirs_exist_ok=True)
        done, text = self.page("--only", "fib,stalls")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r'<section id="([\w-]+)"', text), ["targets", "losses", "fib", "stalls"])

    def test_a_target_that_is_nearly_met_does_not_look_met(self):
        shutil.copytree(HERE / "fixtures", self.folder, dirs_exist_ok=True)
        path = self.folder / "gateway.json"
        kept = json.loads(path.read_text())
        for row in kept["report"]["rows"]:
            if row["params"]["flows"] == 1000 and row["name"] in ("coua", "ovs"):
                row["mops"] = 2.499 if row["name"] == "coua" else 1
        path.write_text(json.dumps(kept))
        self.assertIn("<td>2.5</td><td>2.49</td><td class=\"missed\">not met, within the spread</td>", self.page()[1])

    def test_what_is_no_result_is_said_on_the_page(self):
        for name, content in (("fib", "{"), ("flow", "[]"), ("lpm", '{"words": [], "status": "done"}'),
                              ("stalls", '{"words": [], "status": "done", "report": {"rows": [1]}}')):
            (self.folder / f"{name}.json").write_text(content)
        shutil.copy(HERE / "fixtures" / "gateway.json", self.folder)
        done, text = self.page()
        self.assertEqual(done.returncode, 1)
        missing = text.split('id="missing"', 1)[1]
        self.assertIn("fib.json is not JSON", missing)
        for name in ("flow", "lpm", "stalls"):
            self.assertIn(f"{name}.json is not what a run leaves", missing)

    def test_refusals(self):
        for words, expected in ((("--only", "fob"), "--only fob: there are gateway, lb"),
                                (("--page-only",), "has no results of depth quick"),
                                (("--page-only", "--out", self.folder / "none"), "is no folder of results"),
                                (("--bench", "/nowhere/coua-bench"), "`make bench` builds it"),
                                (("--out", "/proc/none"), "/proc/none: ")):
            done = call("--bench", PROGRAM, "--out", self.folder, *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn(expected, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(call("--depth", "deep").returncode, 2)


class RunTest(unittest.TestCase):
    """With a program that pretends to measure."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name, "out")
        self.log = pathlib.Path(self.scratch.name, "log")
        self.bench = pathlib.Path(self.scratch.name, "bench")
        self.bench.write_text(PRETENDER.format(bench=PROGRAM, log=self.log))
        self.bench.chmod(0o755)

    def words(self, only, *more):
        return ("--bench", self.bench, "--out", self.folder, "--only", only, *more)

    def asked(self):
        return [text.split()[0] for text in self.log.read_text().splitlines()]

    def test_failures_have_their_reason_and_the_rest_is_measured(self):
        done = call(*self.words("fib,setsep,stalls"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("[3/3] stalls: failed", done.stderr)
        text = (self.folder / "report.html").read_text()
        self.assertIn("2.0 times", text)
        self.assertIn(">port 3: is gone<", text)
        self.assertIn("printed no JSON", text)

    def test_it_goes_on_where_it_ended(self):
        self.assertEqual(call(*self.words("fib")).returncode, 0)
        done = call(*self.words("fib,flow"))
        self.assertIn("1 of 2 runs are kept", done.stderr)
        self.assertEqual(self.asked(), ["fib", "flow"])
        call(*self.words("stalls"))
        call(*self.words("stalls"))
        self.assertEqual(self.asked(), ["fib", "flow", "stalls", "stalls"], "what failed is tried again")
        self.assertEqual(call(*self.words("fib", "--again")).returncode, 0)
        self.assertEqual(self.asked()[4:], ["fib"])
        with open(self.bench, "a") as file:
            file.write("# another program\n")
        call(*self.words("fib"))
        self.assertEqual(self.asked()[5:], ["fib"])

    def kept(self, **more):
        path = self.folder / "fib.json"
        kept = {**json.loads(path.read_text()), **more}
        path.write_text(json.dumps(kept))

    def test_what_is_kept_is_of_this_machine_and_these_words(self):
        call(*self.words("fib"))
        self.kept(machine={**measure.describe_machine(), "huge_pages": "1234"})
        call(*self.words("fib"))
        self.assertEqual(self.asked(), ["fib", "fib"], "of other pages")
        self.kept(words=["fib", "--entries", "3"])
        done = call(*self.words("flow"))
        text = (self.folder / "report.html").read_text()
        self.assertIn("fib --entries 3 --json", text, done.stderr)
        self.assertIn("but with the words below: fib.", text)
        self.assertEqual(re.findall(r'<section id="(\w+)"', text)[-3:], ["fib", "flow", "missing"],
                         "what is kept is drawn, too")
        call(*self.words("fib"))
        self.assertEqual(self.asked()[-1], "fib", "of other words")
        self.assertNotIn("with the words below", (self.folder / "report.html").read_text())

    def test_a_program_in_this_folder_draws(self):
        shutil.copytree(HERE / "fixtures", self.folder)
        done = subprocess.run([HERE / "run", "--bench", "./bench", "--out", "out", "--page-only"], cwd=self.bench.parent,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        text = (self.folder / "report.html").read_text()
        self.assertIn("<pre>./bench forward", text)
        self.assertEqual(text.count("<svg role="), 10)

    def test_ended_early_it_leaves_the_page(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([HERE / "run", *self.words("fib,lpm,stalls", "--again")], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       # A shell has jobs in the background ignore it.
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            self.addCleanup(process.kill)
            until = time.monotonic() + 30
            while not self.log.exists() or "lpm" not in self.log.read_text():
                self.assertLess(time.monotonic(), until)
                time.sleep(0.05)
            process.send_signal(number)
            _, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 130, errors)
            self.assertNotIn("Traceback", errors)
            text = (self.folder / "report.html").read_text()
            self.assertIn("It was ended early", text)
            self.assertIn("2.0 times", text)
            self.assertEqual(re.findall(r"<td>(\w+)</td><td>not measured</td><td class=.words.>it was ended", text),
                             ["lpm", "stalls"])
            self.log.unlink()
            (self.folder / "fib.json").unlink()

    def test_what_takes_too_long_is_given_up(self):
        self.folder.mkdir()
        measurer = measure.measurer(self.bench, self.folder, terminal=False)
        began = time.monotonic()
        self.assertFalse(measurer.one(catalogue.run("lpm", ("lpm",), seconds=0), "lpm"))
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(measure.read(self.folder / "lpm.json")["reason"], "took longer than 0 s")

    def test_without_open_vswitch_it_is_left_out(self):
        if not measure.why_not(FIGURES["gateway"].runs[0], PROGRAM):
            self.skipTest("it is here")
        done = call(*self.words("gateway,fib"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out", (self.folder / "report.html").read_text())


class ControlTest(unittest.TestCase):
    """The program of the tree that the report runs beside coua-bench."""

    def test_updates(self):
        one = FIGURES["control"].runs[0]
        reason = measure.why_not(one, PROGRAM)
        if "Open vSwitch" not in reason and reason:
            self.skipTest(reason)
        done = subprocess.run([measure.ROOT / one.tool, "updates", "--rounds", "1", "--seconds", "0.1", "--rates",
                               "2000", "--json"], capture_output=True, text=True, timeout=110,
                              env={**os.environ, "BUILD": os.path.dirname(PROGRAM)})
        if "cannot make network namespaces" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)["rows"]
        for name in ("coua",) if reason else ("coua", "ovs"):
            self.assertEqual({row["params"]["way"] for row in found if row["name"] == name and "seconds" in row},
                             {"add-flows", "bundle"})
            self.assertEqual({row["params"]["batch"] for row in found if row["name"] == name and "mops" in row}, {1, 20})
        for row in found:
            if "mops" in row:
                self.assertGreater(row["mops"], 0)
                self.assertGreater(row["updates_per_s"], 100)


if __name__ == "__main__":
    unittest.main()
