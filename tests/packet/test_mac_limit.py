# SPDX-License-Identifier: Apache-2.0
"""What a port does with more addresses than it may learn."""

import frames
import lab
from cases import station, tap, with_original


class test_mac_limit(with_original):
    CONFIG = {"ports": [tap("m1"), tap("m2"), tap("m3")]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # No probes of neighbours, which would be learned at a moment of their own.
        for host in cls.hosts:
            for n, other in enumerate(cls.hosts, 1):
                if other is not host:
                    host.run(f"ip neigh replace 10.9.0.{n} lladdr {other.mac} nud permanent dev eth0")

    def setUp(self):
        self.flush()
        self.assertEqual(self.h1.pings("10.9.0.2"), 1)
        self.wait_learned(1, self.h1.mac, "m1")

    def tearDown(self):
        self.restore()
        self.switch.coua("port", "set", "m1", "--enabled", "on")

    def limit(self, action):
        self.switch.coua("port", "set", "m1", "--mac-limit", "1", "--mac-limit-action", action)

    def stranger_reaches(self, ear):
        """Whether a frame of a host behind m1 that nobody knows reaches h2."""
        ear.drain()
        wire = self.wire(self.h1)
        wire.send(frames.make(self.h2.mac, station(9), b"stranger"))
        wire.close()
        return bool(ear.collect(1.5, lambda frame: frame.payload.startswith(b"stranger"), 1))

    def test_forward(self):
        self.limit("forward")
        self.assertTrue(self.stranger_reaches(self.wire(self.h2)))
        self.assertIsNone(self.port_of(1, station(9)))

    def test_drop(self):
        self.limit("drop")
        before = self.counters("m1")
        finish = self.echoes(self.h1, "10.9.0.2")
        for _ in range(5):
            self.assertFalse(self.stranger_reaches(self.wire(self.h2)))
        self.assertEqual(finish(), set())
        self.assertEqual(self.counted(before, "drop_mac_limit", "m1"), 5)
        self.assertEqual(self.ports()["m1"]["learned"], 1)
        said = self.switch.coua("trace", "br0", f"in_port=m1,dl_dst={self.h2.mac},"
                                                f"dl_src={station(9)}").stdout
        self.assertIn("drop_mac_limit", said)
        self.flush("--port", "m1")
        self.assertTrue(self.stranger_reaches(self.wire(self.h2)))
        self.assert_conserved()

    def test_shutdown_and_back(self):
        self.limit("shutdown")
        self.assertEqual(self.h1.pings("10.9.0.2"), 1)
        self.assertFalse(self.stranger_reaches(self.wire(self.h2)))
        lab.wait_for(lambda: self.ports()["m1"]["shut_down"] == "mac_limit", what="m1 is shut down")
        self.assertEqual(self.h1.pings("10.9.0.2", wait=0.5), 0)
        self.assertIn("shut down: mac_limit", self.switch.coua("port", "show", "m1").stdout)
        self.assertIn("port m1: shut down: it brought more addresses", self.switch.log.read_text())
        self.assertEqual(self.h3.pings("10.9.0.2"), 1)
        # What the operator configured is what is saved.
        self.switch.coua("config", "save")
        self.assertNotIn("enabled", self.switch.file.read_text())
        self.switch.coua("config", "apply", self.switch.file)
        self.assertEqual(self.ports()["m1"]["shut_down"], "mac_limit")
        done = self.switch.coua("port", "set", "m1", "--enabled", "on").stdout
        self.assertIn("changed", done)
        self.assertIsNone(self.ports()["m1"]["shut_down"])
        lab.wait_for(lambda: self.h1.pings("10.9.0.2", wait=1), what="h1 talks again")
        self.wait_learned(1, self.h1.mac, "m1")
