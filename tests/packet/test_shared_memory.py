# SPDX-License-Identifier: Apache-2.0
"""Two switches joined by shared memory: net_memif, and net_vhost with net_virtio_user.

One end is the `SERVER`: it owns the socket, whose file stays when it is killed. An end that connects
does so when it is added, and with some drivers only then: those of `CONNECT_ONCE`.
"""

import os
import pathlib
import shutil
import signal
import subprocess

import frames
import lab
from cases import station, with_switch


class joined:
    """A host behind each of two switches; between them a trunk with the devargs of `ENDS`."""

    alone = True  # their threads never sleep: two such classes side by side take longer than in turn

    # At one end two workers, where there are the CPUs. The first polls a port on which nothing comes,
    # so the second sends what the host says: on a queue of its own if the link has two.
    WORKERS = min(2, len(os.sched_getaffinity(0))), 1
    BEFORE = [{"name": "silent", "devargs": "net_null0,no-rx=1"}], []

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(f"/run/{cls.__name__}")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.socket = folder / "socket"
        cls.switches, cls.hosts = [], []
        for n, end in enumerate(cls.ENDS):
            switch = lab.switch(folder / f"switch{n}", {
                "workers": {"count": cls.WORKERS[n]},
                "ports": [*cls.BEFORE[n],
                          {"name": "host", "devargs": f"net_af_packet0,iface=s{n}", "vlan": 10},
                          {"name": "link", "devargs": end.format(socket=cls.socket),
                           "vlans": {"tagged": [10]}}]})
            cls.addClassCleanup(switch.close)
            host = switch.veth_host(f"h{n}", f"s{n}")
            host.address(f"10.9.0.{n + 1}/24")
            cls.switches.append(switch.start())
            cls.hosts.append(host)
        cls.switch = cls.switches[0]
        cls.wait_for_link(True)

    @classmethod
    def wait_for_link(cls, up):
        for switch in cls.switches:
            if switch.process.poll() is None:
                lab.wait_for(lambda: switch.json("port", "show", "link")["port"]["link_up"] == up,
                             what=f"link of {switch.socket} {'up' if up else 'down'}")

    def test_frames_of_any_length(self):
        for length in (0, 56, 1000, 1472):
            self.assertEqual(self.hosts[0].pings("10.9.0.2", 3, size=length), 3)
        for n, switch in enumerate(self.switches):
            found = switch.json("fib", "show", "--port", "link")["entries"]
            self.assertIn(self.hosts[1 - n].mac, [entry["mac"] for entry in found])

    def test_tcp(self):
        self.assert_tcp(*self.hosts, "10.9.0.2")

    def test_every_frame_arrives_once(self):
        for n in (0, 1):
            ear, voice = self.wire(self.hosts[1 - n]), self.wire(self.hosts[n])
            for number in range(200):
                voice.send(frames.make(frames.BROADCAST, station(n), b"%04d" % number))
            found = ear.collect(30, count=200) + ear.collect(0.2)
            self.assertEqual(sorted(frame.payload[:4] for frame in found),
                             [b"%04d" % number for number in range(200)])

    def test_other_end_dies_and_returns(self):
        flood = self.hosts[0].start("ping -n -q -i 0.002 10.9.0.2", stdout=subprocess.DEVNULL)
        self.addCleanup(flood.wait)
        self.addCleanup(flood.kill)
        for n in (0, 1, 0, 1):
            dead, other = self.switches[n], self.switches[1 - n]
            dead.stop(signal.SIGKILL)
            self.wait_for_link(False)
            lab.wait_for(lambda: other.json("fib", "show", "--port", "link")["entries"] == [],
                         what="flush of the addresses behind the link")
            if n == self.SERVER:
                self.socket.unlink(missing_ok=True)  # as the error of its next start demands
            dead.start()
            if 1 - n in self.CONNECT_ONCE:
                other.coua("port", "remove", "link")
                other.coua("port", "add", "link", self.ENDS[1 - n].format(socket=self.socket), "--tagged", "10")
            self.wait_for_link(True)
            self.assertEqual(self.hosts[0].pings("10.9.0.2", 3), 3)


class test_memif(joined, with_switch):
    """Each end has one queue: it cannot know how many workers the other has."""

    # The socket is an abstract one, as the driver makes them: there is no file.
    ENDS = "net_memif0,role=server,socket={socket}", "net_memif0,role=client,socket={socket}"
    SERVER, CONNECT_ONCE = 0, [1]

    def test_server_port_returns(self):
        """The driver leaves the socket of a removed server open, and its address in use."""
        files = lambda: len(os.listdir(f"/proc/{self.switch.process.pid}/fd"))  # noqa: E731
        self.assertEqual(self.hosts[0].pings("10.9.0.2", 3), 3)
        before = files()
        for _ in range(5):
            for n in (self.SERVER, 1 - self.SERVER):
                self.switches[n].coua("port", "remove", "link")
                self.switches[n].coua("port", "add", "link", self.ENDS[n].format(socket=self.socket), "--tagged", "10")
            lab.wait_for(lambda: self.hosts[0].pings("10.9.0.2", wait=1), what="h2 answers again")
        # Connections of the command come and go; what a port leaves would be five files or more.
        lab.wait_for(lambda: files() <= before + 1, what=f"no more than {before + 1} open files")


class test_vhost(joined, with_switch):
    ENDS = "net_vhost0,iface={socket}", "net_virtio_user0,path={socket}"
    SERVER, CONNECT_ONCE = 0, [1]

    def test_jumbo_frames_fit(self):
        """The driver of net_virtio_user wants room in each packet for a header of its own."""
        folder = pathlib.Path("/run/jumbo")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        one = lab.switch(folder, {"ports": [
            {"name": "v", "mtu": 9000, "devargs": f"net_vhost7,iface={folder}/vhost"},
            {"name": "u", "mtu": 9000, "devargs": f"net_virtio_user7,path={folder}/vhost"}]})
        self.addCleanup(one.close)
        one.start()
        lab.wait_for(lambda: all(port["link_up"] for port in one.json("port", "list")["ports"]), what="links")


class test_vhost_connects(joined, with_switch):
    # In this order: as a server, net_virtio_user does not start before the other end is there.
    ENDS = "net_vhost0,iface={socket},client=1", "net_virtio_user0,path={socket},server=1"
    SERVER, CONNECT_ONCE = 1, []
