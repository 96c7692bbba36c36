# SPDX-License-Identifier: Apache-2.0
"""couad and two kinds of Open vSwitch, for measurements: workers on the second CPU of the process,
everything else on the first."""

import os
import pathlib
import shutil
import time

import lab
import ovs_daemon

CONTROL, WORK = (sorted(os.sched_getaffinity(0)) * 2)[:2]


def on(cpu, words):
    return ["taskset", "-c", cpu, *words]


def load(switch, rules, options):
    """Wall seconds of ovs-ofctl, seconds of the server's control, of the client; into no rules."""
    lab.run(on(CONTROL, ["ovs-ofctl", "-O", "OpenFlow13", "del-flows", switch.target]), timeout=300)
    time.sleep(0.5)
    before = switch.control_seconds()
    client = os.times()
    began = time.monotonic()
    lab.run(on(CONTROL, ["ovs-ofctl", "-O", "OpenFlow13", *options, "add-flows", switch.target, rules]), timeout=600)
    wall = time.monotonic() - began
    after = os.times()
    return (wall, switch.control_seconds() - before,
            after.children_user + after.children_system - client.children_user - client.children_system)


class coua:
    """couad without ports, and ovs-ofctl's way to it."""

    name = "coua"
    WORKER = "coua-worker"  # how the names of its threads begin

    def __init__(self, **config):
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {CONTROL, WORK})  # what it may use; the worker takes its own of them
        try:
            self.switch = lab.switch("/run/coua-bench", {
                "workers": {"cores": [WORK], "idle": "yield"}, **config}).start()
        finally:
            os.sched_setaffinity(0, before)
        self.target = f"unix:{self.switch.directory}/br0.mgmt"
        self.pid = self.switch.process.pid
        self.place_threads()

    def place_threads(self):
        # As those of Open vSwitch are.
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            if not (task / "comm").read_text().startswith(self.WORKER):
                os.sched_setaffinity(int(task.name), {CONTROL})

    def go_on(self):
        """To be called when it has stood still."""

    def misses(self):
        """Packets that were not known, and all; None: it knows no such difference."""
        return None

    def control_seconds(self):
        """Of all threads but the workers, also of those that have ended."""
        process = pathlib.Path(f"/proc/{self.pid}")
        workers = [task for task in (process / "task").iterdir()
                   if (task / "comm").read_text().startswith(self.WORKER)]
        return lab.cpu_seconds(process / "stat") - sum(lab.cpu_seconds(each / "stat") for each in workers)

    def close(self):
        self.switch.close()


class bare:
    """A server that only answers barriers (bare_server.c), in front of a couad: the limit."""

    name = "bare"

    def __init__(self, behind):
        program, self.target = pathlib.Path("/run/bare_server"), "unix:/run/bare.mgmt"
        lab.run(["cc", "-O2", "-o", program, pathlib.Path(__file__).parent / "bare_server.c"])
        self.process = lab.start(on(CONTROL, [program, "/run/bare.mgmt", behind.target.removeprefix("unix:")]))
        lab.wait_for(pathlib.Path("/run/bare.mgmt").exists, what="bare_server")

    def control_seconds(self):
        return lab.cpu_seconds(pathlib.Path(f"/proc/{self.process.pid}/stat"))

    def close(self):
        self.process.terminate()
        self.process.wait()


class ovs:
    """Open vSwitch with its userspace datapath and a database of its own."""

    name = "ovs"
    PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl")
    DAEMON = "ovs-vswitchd"
    SETTINGS = ()

    def __init__(self):
        self.directory = pathlib.Path("/run/ovs-bench")
        self.directory.mkdir()
        os.environ["OVS_RUNDIR"] = os.environ["OVS_LOGDIR"] = os.environ["OVS_DBDIR"] = str(self.directory)
        database = self.directory / "conf.db"
        lab.run(["ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema"])
        log = open(self.directory / "log", "w")
        self.processes = [lab.start(on(CONTROL, ["ovsdb-server", database, f"--remote=punix:{self.directory}/db.sock"]),
                                    stdout=log, stderr=log)]
        lab.wait_for((self.directory / "db.sock").exists, what="ovsdb-server")
        if self.SETTINGS:
            self.vsctl("--no-wait", "set", "Open_vSwitch", ".", *(f"other_config:{each}" for each in self.SETTINGS))
        self.processes.append(lab.start([*self.before(), self.DAEMON, f"unix:{self.directory}/db.sock",
                                         f"--unixctl={self.directory}/switch.ctl", "-vconsole:warn"],
                                        stdout=log, stderr=log))
        self.pid = self.processes[1].pid
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev", "protocols=OpenFlow13",
                   "fail_mode=secure")
        self.target = f"unix:{self.directory}/br0.mgmt"
        lab.wait_for((self.directory / "br0.mgmt").exists, what="ovs-vswitchd")
        self.place_threads()

    @staticmethod
    def before():
        """What the daemon is started by."""
        return []

    def vsctl(self, *words):
        done = lab.run(["ovs-vsctl", "--timeout=30", f"--db=unix:{self.directory}/db.sock", *words])
        if "Error detected" in done.stderr:
            raise lab.lab_error(done.stderr.strip())

    def place_threads(self):
        # The thread of OpenFlow is the main one.
        for task in os.listdir(f"/proc/{self.pid}/task"):
            os.sched_setaffinity(int(task), {CONTROL if int(task) == self.pid else WORK})

    def control_seconds(self):
        return lab.cpu_seconds(pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/stat"))

    def close(self):
        for each in self.processes:
            each.terminate()
            each.wait()
        shutil.rmtree(self.directory)


def number_behind(text, label):
    """The sum of those behind "LABEL:"."""
    return sum(int(part.split(None, 1)[0]) for part in text.split(f"{label}:")[1:])


class ovs_dpdk(ovs):
    """Debian's Open vSwitch with DPDK. Its workers place themselves."""

    DAEMON = ovs_daemon.PATH
    WORKER = "pmd-c"
    FLOWS_MOST = 2_000_000
    # Pools for two ports and their queues; what stands still between its windows forgets no flow.
    SETTINGS = ("dpdk-init=true", f"dpdk-lcore-mask={1 << CONTROL:#x}", f"pmd-cpu-mask={1 << WORK:#x}",
                "per-port-memory=true", "max-idle=3600000", f"flow-limit={FLOWS_MOST}",
                "dpdk-extra=-m 700 --no-huge --legacy-mem --no-pci --no-telemetry --iova-mode=va")

    @staticmethod
    def before():
        return on(CONTROL, [])

    def place_threads(self):
        pass

    def appctl(self, *words):
        return lab.run(["ovs-appctl", "-t", str(self.directory / "switch.ctl"), *words]).stdout

    def go_on(self):
        # It halves its limit when a look at all flows seems to take long, as one does that was paused.
        self.appctl("upcall/set-flow-limit", str(self.FLOWS_MOST))

    def misses(self):
        shown = self.appctl("dpif-netdev/pmd-stats-show")
        return (number_behind(shown, "miss with success upcall") + number_behind(shown, "miss with failed upcall"),
                number_behind(shown, "packets received"))

    def add_port(self, name, number, devargs):
        self.vsctl("add-port", "br0", name, "--", "set", "Interface", name, "type=dpdk", f"ofport_request={number}",
                   f"options:dpdk-devargs={devargs}")
