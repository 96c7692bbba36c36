# SPDX-License-Identifier: Apache-2.0
"""Mirror ports: what an analyser sees of other hosts, and that they notice nothing."""

import frames
import lab
from cases import tap, with_original


class test_mirror(with_original):
    CONFIG = {"ports": [tap("i1"), tap("i2"), tap("i3")]}

    def mirror(self, *options):
        self.switch.coua("port", "set", "i3", *options)

    def heard(self, source, to, what):
        """How many frames with `what` in them h3 hears when `source` sends five of them."""
        def wanted(frame):
            return frame.payload.startswith(what)

        ear, other = self.wire(self.h3), self.wire(to)
        wire = self.wire(source)
        for _ in range(5):
            wire.send(frames.make(to.mac, source.mac, what))
        wire.close()
        # What is mirrored goes with what is sent, or before it.
        self.assertEqual(len(other.collect(30, wanted, 5)), 5)
        self.settle()
        return len(ear.collect(0.3, wanted))

    def test_received_and_sent(self):
        self.assertEqual(self.h1.pings("10.9.0.2"), 1)  # both are learned
        self.assertEqual(self.heard(self.h1, self.h2, b"before"), 0)
        before = self.counters("i3")
        self.mirror("--mirror-received", "i1")
        self.assertEqual(self.heard(self.h1, self.h2, b"received"), 5)
        self.assertEqual(self.heard(self.h2, self.h1, b"other way"), 0)
        self.mirror("--mirror-sent", "i1")
        self.assertEqual(self.heard(self.h2, self.h1, b"sent"), 5)
        self.assertEqual(self.heard(self.h1, self.h2, b"still received"), 5)
        self.assertGreaterEqual(self.counted(before, "mirrored", "i3"), 15)
        self.mirror("--no-mirror")
        self.assertEqual(self.heard(self.h1, self.h2, b"after"), 0)
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)
        self.assert_conserved()

    def test_a_mirror_port_is_no_member(self):
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)
        self.mirror("--mirror-received", "i1")
        self.assertEqual(self.h3.pings("10.9.0.1", 1, wait=0.5), 0)
        self.assertIsNone(self.port_of(1, self.h3.mac))
        finish = self.echoes(self.h1, "10.9.0.2")
        self.assertEqual(self.h1.pings("10.9.0.2", 20), 20)
        self.assertEqual(finish(), set())
        self.assert_conserved()

    def test_a_source_that_comes_back_is_mirrored_again(self):
        self.mirror("--mirror-received", "extra")
        self.switch.coua("port", "add", "extra", "net_tap973,iface=extra")
        host = self.switch.tap_host("h4", "extra")
        host.run("ip link set eth0 up")
        self.assertEqual(self.heard(host, self.h2, b"first"), 5)
        self.switch.coua("port", "remove", "extra")

    def test_show_save_diff_and_apply(self):
        self.mirror("--mirror-received", "i2,i1", "--mirror-vlans", "10,20-22")
        self.assertEqual(self.ports()["i3"]["mirror"],
                         {"received": ["i1", "i2"], "sent": [], "vlans": [10, 20, 21, 22]})
        shown = self.switch.coua("port", "show", "i3").stdout
        self.assertIn("mirror: what is received by i1, i2; what is received in VLAN 10,20-22", shown)
        self.assertIn("unchanged", self.switch.coua("port", "set", "i3", "--mirror-received", "i1,i2").stdout)
        difference = self.switch.coua("config", "diff", self.switch.file, check=False)
        self.assertEqual(difference.returncode, 4)
        self.assertIn("port i3: mirror: ", difference.stdout)
        self.switch.coua("config", "save")
        self.assertIn("mirror: {received: [i1, i2], vlans: [10, 20-22]}", self.switch.file.read_text())
        self.switch.coua("config", "diff", self.switch.file)  # nothing differs
        refused = self.switch.coua("port", "set", "i3", "--mirror-sent", "i3", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("a port is no mirror of itself", refused.stderr)
        refused = self.switch.coua("port", "set", "i3", "--no-mirror", "--mirror-sent", "i1", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--no-mirror and options that name what is mirrored exclude each other", refused.stderr)
        self.restore()
        self.assertIsNone(self.ports()["i3"]["mirror"])
