# SPDX-License-Identifier: Apache-2.0
"""A switch and real kernel hosts, in namespaces of their own.

`enter()` moves the whole program into new network, mount and process namespaces (for an ordinary
user: also a user namespace in which it is root) with an empty /run. So whatever happens to it,
also SIGKILL, the kernel takes away every process, interface and file below /run that it made.
Parts of the program that must not meet get such namespaces each, by `apart()`.

A host is a network namespace. On a TAP port, couad makes the TAP device in the switch's namespace
and the host gets a macvlan device in passthru mode on top of it: the TAP stays where its driver
can see it, and the host owns every frame on it. On a veth pair, one end is the host's, the other
is the port's (net_af_packet or net_af_xdp).
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import supervisor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
COUAD, COUA, COUA_BENCH = BUILD / "couad", BUILD / "coua", BUILD / "coua-bench"
INSIDE = "COUA_LAB_INSIDE"
# An ordinary user's PATH lacks where Debian keeps ip and ethtool.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
CLONE_NEWNET = 0x40000000


class lab_error(Exception):
    """Something that the lab needs is missing or failed; the text says what to do."""


def is_real_root():
    """Whether this is root of the machine rather than of a user namespace."""
    return os.environ.get(INSIDE) == "root" if INSIDE in os.environ else os.geteuid() == 0


def tun_problem():
    """Why TAP devices cannot be made here, and what to do; None: they can."""
    if not os.path.exists("/dev/net/tun"):
        return ("/dev/net/tun is missing, so there can be no TAP ports: load the driver with "
                "`sudo modprobe tun`; in a container, start it with `--device /dev/net/tun`")
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return (f"/dev/net/tun cannot be opened ({error.strerror}), so there can be no TAP ports: "
                "run as root, or let users open it with `sudo chmod 666 /dev/net/tun`")
    return None


def enter(name):
    """Runs this program, which calls itself `name`, again inside namespaces of its own. Returns in
    the inner process; the outer one ends here."""
    if INSIDE in os.environ:
        supervisor.follow()
        prepare_inside()
        return
    root = os.geteuid() == 0
    environment = {**os.environ, "PATH": PATH, INSIDE: "root" if root else "user"}
    problem = "unshare is not installed: run `make deps`"
    # A process namespace needs /proc mounted anew, which some containers forbid.
    for processes in (["-pf", "--kill-child", "--mount-proc"], []):
        command = ["unshare", "-nm" if root else "-Urnm", *processes]
        try:
            trial = subprocess.run([*command, "true"], env=environment, capture_output=True, text=True)
        except FileNotFoundError:
            break
        problem = trial.stderr.strip()
        if trial.returncode == 0:
            status = supervisor.run([*command, sys.executable, *sys.argv], environment)
            if status is None:
                print(f"\n{name}: interrupted; nothing is left behind", flush=True)
                status = 130
            sys.exit(status)
    raise lab_error(f"cannot make network namespaces: {problem}\n"
                    "Run as root, or allow user namespaces: "
                    "`sudo sysctl kernel.unprivileged_userns_clone=1`")


def apart():
    """What to put before a command of this program, which is inside and calls `enter()` there, too, so
    that it has namespaces of its own; and whether its processes are among them."""
    command = ["unshare", "-nm", "-pf", "--kill-child", "--mount-proc"]
    own_processes = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return (command if own_processes else command[:2]), own_processes


def prepare_inside():
    run("mount -t tmpfs -o mode=755 tmpfs /run")
    # `ip netns` keeps its names here; DPDK and couad their sockets.
    os.makedirs("/run/coua")
    os.makedirs("/run/netns")
    # What a killed program leaves there goes with the rest of /run.
    os.makedirs("/run/tmp")
    os.environ["TMPDIR"] = "/run/tmp"
    os.environ.pop("XDG_RUNTIME_DIR", None)
    os.environ["PATH"] = PATH
    # /sys shows the network namespace that it was mounted in; drivers look interfaces up there.
    subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], capture_output=True)
    run("ip link set lo up")
    quiet_ipv6()


def quiet_ipv6():
    """The switch's own interfaces must not speak: frames on them belong to the hosts."""
    for name in ("default", "all"):
        try:
            pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
        except OSError:
            return  # this kernel has no IPv6


def run(command, ns=None, check=True, timeout=60, quiet=True, stdin=None):
    """Runs a command (a string is split at blanks) in a host's namespace; returns its result."""
    words = command.split() if isinstance(command, str) else [str(word) for word in command]
    if ns:
        words = ["ip", "netns", "exec", ns, *words]
    done = subprocess.run(words, capture_output=quiet, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL if stdin is None else None, input=stdin,
                          env={**os.environ, "PATH": PATH})
    if check and done.returncode:
        raise lab_error(f"{' '.join(words)}: exit status {done.returncode}\n"
                        f"{(done.stdout or '') + (done.stderr or '')}".strip())
    return done


def start(command, ns=None, **options):
    words = command.split() if isinstance(command, str) else [str(word) for word in command]
    if ns:
        words = ["ip", "netns", "exec", ns, *words]
    options.setdefault("stdin", subprocess.DEVNULL)
    # Ctrl-C on the terminal is for this program, which then stops what it started in order.
    options.setdefault("start_new_session", True)
    return subprocess.Popen(words, text=True, env={**os.environ, "PATH": PATH}, **options)


def cpu_seconds(stat):
    """User and system time in a file of /proc; in ticks, of 10 ms mostly."""
    words = stat.read_text().rsplit(") ", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(condition, timeout=60.0, every=0.05, what=""):
    """Polls until `condition()` is true and returns its value; raises when it stays false. It waits
    long: only a failure costs the time, and a machine may be busy with other things."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise lab_error(f"{what or 'condition'}: not within {timeout} s (last: {value!r})")
        time.sleep(every)


class in_namespace:
    """While it is open, this thread is in a host's network namespace; sockets made then stay."""

    libc = ctypes.CDLL(None, use_errno=True)

    def __init__(self, ns):
        self.ns = ns

    def enter(self, path):
        with open(path) as file:
            if self.libc.setns(file.fileno(), CLONE_NEWNET):
                raise lab_error(f"setns {path}: {os.strerror(ctypes.get_errno())}")

    def __enter__(self):
        self.home = open("/proc/self/ns/net")
        if self.ns:
            self.enter(f"/run/netns/{self.ns}")

    def __exit__(self, *_):
        self.libc.setns(self.home.fileno(), CLONE_NEWNET)
        self.home.close()


class host:
    """A network namespace with one interface, eth0, that leads to a port of the switch."""

    def __init__(self, name):
        self.name = name
        self.pair = None  # the far end of a veth pair, which outlives its namespace for a while
        self.helpers = []
        run(f"ip netns add {name}")
        run("ip link set lo up", name)

    def run(self, command, **options):
        return run(command, self.name, **options)

    def start(self, command, **options):
        return start(command, self.name, **options)

    def address(self, *addresses, device="eth0"):
        for address in addresses:
            self.run(f"ip addr add {address} dev {device}" + (" nodad" if ":" in address else ""))
        self.run(f"ip link set {device} up")
        # A switch that does not get a CPU may be late for longer than the three seconds of three questions.
        self.run(f"ip ntable change name arp_cache dev {device} mcast_probes 20")

    @property
    def mac(self):
        return json.loads(self.run("ip -j link show eth0").stdout)[0]["address"]

    def pings(self, address, count=1, wait=10.0, every=0.05, size=56, ttl=64, whole=False):
        """How many of `count` echo requests to `address`, `every` so many seconds, were answered within
        `wait` seconds; `whole`: never as fragments. It is fping that asks, since ping waits for the last
        answer only twice as long as one took before: too short once the switch does not get a CPU."""
        assert wait <= 10, "fping forgets what it asked longer ago"
        words = ["fping", "-q", "-c", count, "-p", round(every * 1e3), "-i", 1, "-t", round(wait * 1e3),
                 "-b", size, "-H", ttl, *(["-M"] if whole else []), address]
        said = self.run(words, check=False, timeout=60 + count * (wait + 0.2)).stderr
        found = re.search(r"xmt/rcv/%loss = \d+/(\d+)/", said)
        if not found:
            raise lab_error(f"fping: {said.strip()}")
        return int(found.group(1))

    def vlan_device(self, vlan):
        """An interface for one VLAN of the trunk on eth0: the kernel's, or tagger.py where it has
        none. Returns its name."""
        name = f"eth0.{vlan}"
        done = self.run(f"ip link add link eth0 name {name} type vlan id {vlan}", check=False)
        if done.returncode == 0:
            self.run(f"ip link set {name} up")
            return name
        tagger = self.start([sys.executable, pathlib.Path(__file__).parent / "tagger.py", "eth0", vlan,
                             name], stdout=subprocess.PIPE)
        self.helpers.append(tagger)
        if tagger.stdout.readline().strip() != "ready":
            raise lab_error("tagger.py did not start: this kernel has no VLAN devices either")
        self.run(f"ip link set {name} up")
        return name

    def close(self):
        for helper in self.helpers:
            helper.kill()
            helper.wait()
            if helper.stdout:
                helper.stdout.close()
        if self.pair:
            run(f"ip link del {self.pair}", check=False)
        run(f"ip netns del {self.name}", check=False)


def yaml(value, indent=0):
    """The few shapes of a configuration as YAML: mappings, lists of mappings, scalars."""
    pad = "  " * indent
    lines = []
    for key, item in value.items():
        if isinstance(item, dict) and item:
            lines += [f"{pad}{key}:", yaml(item, indent + 1)]
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            lines.append(f"{pad}{key}:")
            for element in item:
                text = yaml(element, indent + 2)
                lines.append(f"{pad}  - {text.lstrip()}")
        else:
            lines.append(f"{pad}{key}: {json.dumps(item)}")
    return "\n".join(lines)


class switch:
    """A running couad and the hosts on its ports."""

    # Of the machine's memory the tests take little, and huge pages none, so that they run beside
    # whatever else does.
    DEFAULTS = {"memory": {"huge_pages": "off", "packet_mib": 192}, "fib": {"entries": 100000}}

    def __init__(self, directory, config=None, text=None):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.socket = self.directory / "couad.sock"
        self.file = self.directory / "couad.yaml"
        self.log = self.directory / "couad.log"
        self.hosts = []
        self.process = None
        if text is None:
            full = {"api": {"socket": str(self.socket)}}
            for section in {**self.DEFAULTS, **config}:
                value = config.get(section, {})
                full[section] = ({**self.DEFAULTS.get(section, {}), **value}
                                 if isinstance(value, dict) else value)
            text = yaml(full) + "\n"
        self.file.write_text(text)

    def launch(self, *arguments):
        """Starts couad without waiting for it."""
        with open(self.log, "w") as log:
            self.process = start([COUAD, "--config", self.file, *arguments], stdout=log,
                                 stderr=subprocess.STDOUT)
        return self

    def start(self):
        """Starts couad and waits until it answers."""
        self.launch()

        def ready():
            if self.process.poll() is not None:
                raise lab_error(f"couad ended with status {self.process.returncode}:\n"
                                + self.log.read_text())
            return self.coua("port", "list", check=False).returncode == 0

        wait_for(ready, what="couad ready")
        return self

    def coua(self, *words, check=True, **options):
        return run([COUA, "-s", self.socket, *words], check=check, **options)

    def json(self, *words):
        return json.loads(self.coua("-j", *words).stdout)

    def tap_host(self, name, device):
        """A host on the TAP device that a port of the switch made."""
        new = host(name)
        self.hosts.append(new)
        wait_for(lambda: os.path.exists(f"/sys/class/net/{device}"), what=f"device {device}")
        run(f"ip link add link {device} name eth0 netns {name} type macvlan mode passthru")
        new.run("ip link set eth0 up")
        return new

    def veth_host(self, name, device, mtu=1500):
        """A host at the far end of a veth pair; `device` is the switch's end."""
        new = host(name)
        self.hosts.append(new)
        run(f"ip link add {device} type veth peer name eth0 netns {name}")
        new.pair = device
        for end, ns in ((device, None), ("eth0", name)):
            run(f"ip link set {end} mtu {mtu} up", ns)
        # Frames leave the host complete: there is no NIC behind a veth that would finish them.
        offloads = "tx off sg off tso off gso off gro off"
        new.run(f"ethtool -K eth0 {offloads}", check=False)
        run(f"ethtool -K {device} {offloads}", check=False)
        return new

    def stop(self, number=signal.SIGTERM, timeout=60):
        """Ends couad and returns its exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise lab_error(f"couad did not stop within {timeout} s:\n{self.log.read_text()}")
        return self.process.returncode

    def close(self):
        try:
            self.stop()
        finally:
            for each in self.hosts:
                each.close()
            shutil.rmtree(self.directory, ignore_errors=True)
