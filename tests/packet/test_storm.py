# SPDX-License-Identifier: Apache-2.0
"""Storm control: what a host that floods may do to the others, by file, command and trace."""

import time

import frames
import lab
from cases import station, tap, with_original

GROUP = "01:00:5e:00:00:01"
KINDS = {"broadcast": frames.BROADCAST, "multicast": GROUP, "unknown_unicast": station(200)}


def most(limit, seconds):
    """What may pass of a storm: a burst, and the rate."""
    return max(limit // 10, 32) + limit * seconds


class test_storm(with_original):
    CONFIG = {"ports": [tap("s1", storm={"broadcast": 50}), tap("s2"), tap("s3")]}

    def tearDown(self):
        super().tearDown()
        self.switch.coua("port", "set", "s1", "--enabled", "on")

    def storm(self, to, n=3000, at_once=300):
        """Sends it from h1. Returns what h1's port dropped of it, by counter, what it flooded, and how
        long that took at most."""
        before, start = self.counters("s1"), time.monotonic()
        wire = self.wire(self.h1)

        def grown():
            now = self.counters("s1")
            return {name: now[name] - before[name] for name in now
                    if name == "flooded" or name.startswith("drop_storm_")}

        # No more at once than the port's queue holds, however long the switch gets no CPU.
        for due in range(at_once, n + 1, at_once):
            for _ in range(at_once):
                wire.send(frames.make(to, station(1), b"storm"))
            lab.wait_for(lambda due=due: sum(grown().values()) >= due, every=0.01,
                         what=f"{due} of the storm have come")
        wire.close()
        took = time.monotonic() - start
        counts = grown()
        return {name: n for name, n in counts.items() if n and name != "flooded"}, counts["flooded"], took

    def test_each_kind_by_command(self):
        for kind, to in KINDS.items():
            for other in KINDS:
                option = "--storm-" + other.replace("_", "-")
                self.switch.coua("port", "set", "s1", option, "100" if other == kind else "0")
            dropped, passed, took = self.storm(to)
            self.assertEqual(set(dropped), {f"drop_storm_{kind}"})
            self.assertLessEqual(passed, most(100, took) + 20)  # hosts speak, too
            self.assertGreaterEqual(passed, 32)
            metered = dropped[f"drop_storm_{kind}"]
            self.assertGreaterEqual(metered, 3000 - most(100, took))
        self.assert_conserved()

    def test_others_are_heard_during_a_storm(self):
        ear = self.wire(self.h2)
        finish = self.echoes(self.h3, "10.9.0.2")
        dropped, _, took = self.storm(frames.BROADCAST)
        self.assertEqual(finish(), set())
        self.assertEqual(set(dropped), {"drop_storm_broadcast"})
        heard = ear.collect(0.5, lambda frame: frame.payload.startswith(b"storm"))
        self.assertLessEqual(len(heard), most(50, took))
        # ARP of h1 passes again as soon as there is a token.
        time.sleep(0.2)
        self.h1.run("ip neigh flush dev eth0")
        self.assertEqual(self.h1.pings("10.9.0.2"), 1)

    def test_show_trace_save_diff_and_apply(self):
        self.switch.coua("port", "set", "s1", "--storm-multicast", "2K")
        wanted = {"broadcast": 50, "multicast": 2000, "unknown_unicast": 0, "action": "drop"}
        self.assertEqual(self.ports()["s1"]["storm"], wanted)
        shown = self.switch.coua("port", "show", "s1").stdout
        self.assertIn("storm limits: 50 packets/s broadcast, 2,000 packets/s multicast\n", shown)
        again = self.switch.coua("port", "set", "s1", "--storm-multicast", "2000").stdout
        self.assertIn("unchanged", again)
        difference = self.switch.coua("config", "diff", self.switch.file, check=False)
        self.assertEqual(difference.returncode, 4)
        self.assertIn("port s1: storm: {broadcast: 50, multicast: 2000, unknown_unicast: 0, "
                      "action: drop} -> {broadcast: 50, multicast: 0, unknown_unicast: 0, "
                      "action: drop}", difference.stdout)
        self.switch.coua("config", "save")
        self.assertIn("storm: {broadcast: 50, multicast: 2000}", self.switch.file.read_text())
        self.switch.coua("config", "diff", self.switch.file)  # nothing differs
        said = self.switch.coua("trace", "br0", f"in_port=s1,dl_dst={GROUP},dl_src={station(1)}").stdout
        self.assertIn("storm.multicast: at most 2000 packets/s by this port, not reached now", said)
        self.restore()
        self.assertEqual(self.ports()["s1"]["storm"]["multicast"], 0)

    def test_bits_by_command(self):
        """A frame of the storm has 60 bytes on its way through a TAP device."""
        limit = 40_000  # bits a second
        self.switch.coua("port", "set", "s1", "--storm-broadcast", "40Kbps")
        before = self.counters("s1")["rx_bytes"]
        dropped, passed, took = self.storm(frames.BROADCAST, 2000)
        size = (self.counters("s1")["rx_bytes"] - before) / 2000
        self.assertEqual(set(dropped), {"drop_storm_broadcast"})
        self.assertLessEqual(passed, (16384 + limit / 8 * took) / (size - 5) + 20)
        self.assertGreaterEqual(passed, 16384 / (size + 5) - 1)
        self.assert_conserved()

    def test_block_by_command(self):
        self.switch.coua("port", "set", "s1", "--storm-broadcast", "0", "--storm-multicast", "block")
        self.assertIn("storm limits: multicast blocked\n", self.switch.coua("port", "show", "s1").stdout)
        dropped, _, _ = self.storm(GROUP, 600)
        self.assertGreaterEqual(dropped["drop_storm_multicast"], 600)
        self.switch.coua("port", "set", "s1", "--storm-multicast", "0")
        dropped, passed, _ = self.storm(GROUP, 600)
        self.assertEqual(dropped, {})
        self.assertGreaterEqual(passed, 600)

    def test_percent_and_bits_in_show_save_diff_and_apply(self):
        self.switch.coua("port", "set", "s1", "--storm-multicast", "0.5%",
                         "--storm-unknown-unicast", "10Mbps")
        wanted = {"broadcast": 50, "multicast": "0.5%", "unknown_unicast": "10Mbps",
                  "action": "drop"}
        self.assertEqual(self.ports()["s1"]["storm"], wanted)
        # What the driver of TAP devices says of their speed.
        self.assertIn("storm limits: 50 packets/s broadcast, 0.5% (50Mbps) multicast, "
                      "10Mbps unknown unicast\n", self.switch.coua("port", "show", "s1").stdout)
        again = self.switch.coua("port", "set", "s1", "--storm-unknown-unicast", "10000Kbps").stdout
        self.assertIn("unchanged", again)
        self.switch.coua("config", "save")
        self.assertIn("storm: {broadcast: 50, multicast: 0.5%, unknown_unicast: 10Mbps}",
                      self.switch.file.read_text())
        self.switch.coua("config", "diff", self.switch.file)  # nothing differs
        said = self.switch.coua("trace", "br0", f"in_port=s1,dl_dst={GROUP},dl_src={station(1)}").stdout
        self.assertIn("storm.multicast: at most 0.5% of the link of 10000 Mbit/s by this port", said)
        self.restore()
        self.assertEqual(self.ports()["s1"]["storm"],
                         {"broadcast": 50, "multicast": 0, "unknown_unicast": 0, "action": "drop"})

    def test_shutdown_and_recovery(self):
        """A storm shuts its port down; the port comes back by itself, and others never notice."""
        self.switch.coua("port", "set", "s1", "--storm-action", "shutdown", "--recover", "3600")
        before = self.counters("s1")
        finish = self.echoes(self.h3, "10.9.0.2")
        wire = self.wire(self.h1)
        for _ in range(200):
            wire.send(frames.make(frames.BROADCAST, station(1), b"storm"))
        wire.close()
        lab.wait_for(lambda: self.ports()["s1"]["shut_down"] == "storm_broadcast", what="s1 is shut down")
        self.assertEqual(finish(), set())
        self.assertEqual(self.h1.pings("10.9.0.2", wait=0.5), 0)
        left = self.ports()["s1"]["recovers_in_s"]
        self.assertTrue(3500 < left <= 3600, left)
        shown = self.switch.coua("port", "show", "s1").stdout
        self.assertRegex(shown, r"shut down: storm_broadcast, \d+ s left")
        self.assertIn("; more shuts the port down", shown)
        log = self.switch.log.read_text()
        self.assertIn("port s1: shut down: it brought more broadcast frames than its storm limit of 50", log)
        # What the operator configured is what is saved.
        self.switch.coua("config", "save")
        saved = self.switch.file.read_text()
        self.assertIn("recover_s: 3600", saved)
        self.assertIn("action: shutdown", saved)
        self.assertNotIn("enabled", saved)
        self.switch.coua("port", "set", "s1", "--recover", "1")
        lab.wait_for(lambda: self.ports()["s1"]["shut_down"] is None, what="s1 is back")
        self.assertIn("it is tried again", self.switch.log.read_text())
        now = self.counters("s1")
        self.assertEqual(now["shut_downs"] - before["shut_downs"], 1)
        self.assertEqual(now["recoveries"] - before["recoveries"], 1)
        lab.wait_for(lambda: self.h1.pings("10.9.0.2", wait=1), what="h1 talks again")
        self.assert_conserved()

    def test_an_apply_that_fails_leaves_a_port_shut(self):
        self.switch.coua("port", "set", "s1", "--storm-broadcast", "block", "--storm-action", "shutdown")
        wire = self.wire(self.h1)
        wire.send(frames.make(frames.BROADCAST, station(1), b"storm"))
        wire.close()
        lab.wait_for(lambda: self.ports()["s1"]["shut_down"] == "storm_broadcast", what="s1 is shut down")
        self.switch.coua("config", "save")
        saved = self.switch.file.read_text()
        disabled = saved.replace("name: s1,", "name: s1, enabled: false,")
        self.assertNotEqual(disabled, saved)
        self.switch.file.write_text(disabled + "  - {name: s9, devargs: net_nothing0}\n")
        done = self.switch.coua("config", "apply", self.switch.file, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nothing was changed", done.stderr)
        now = self.ports()["s1"]
        self.assertEqual((now["shut_down"], now["enabled"]), ("storm_broadcast", True))
        self.assertEqual(self.h1.pings("10.9.0.2", wait=0.5), 0)
        self.assertIn("port s1: still shut down (storm_broadcast)", self.switch.log.read_text())

    def test_a_limit_that_is_wrong_names_its_line(self):
        self.switch.file.write_text(self.original.replace("broadcast: 50", "broadcast: -1"))
        done = self.switch.coua("config", "apply", self.switch.file, check=False)
        self.assertNotEqual(done.returncode, 0)
        line = 1 + self.original[:self.original.index("broadcast")].count("\n")
        self.assertIn(f"couad.yaml:{line}: ports[0].storm.broadcast: ", done.stderr)
        done = self.switch.coua("port", "set", "s1", "--storm-broadcast", "300M", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("storm-broadcast", done.stderr)
        done = self.switch.coua("port", "set", "s1", "--storm-broadcast", "101%", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("101% is not from 0.01% to 100%", done.stderr)
