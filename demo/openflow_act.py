# SPDX-License-Identifier: Apache-2.0
"""A controller that nobody here wrote drives the switch; then a gateway forwards at full rate while
its routes change."""

import json
import random
import re
import struct
import threading
import time

import frames
import lab
import of_wire as of
import osken_lab
from stage import demo_failed, mega

DATAPATH = "00000000000000a1"
# Of the gateway: subscribers, each with an address of its own to the outside, and prefixes.
USERS, ROUTES = 1000, 10_000
USER_TABLE, ROUTE_TABLE = 1, 2
PACKETS = 30_000
ROUTER_MAC, NEXT_MAC = "02:00:00:00:00:fe", "02:00:00:00:01:{:02x}"


class routed_hosts:
    """The router of os-ken's samples between two hosts of different subnets."""

    def __init__(self, out):
        self.out = out
        self.switch = self.app = None

    def run(self):
        self.start()
        self.teach()
        self.look()

    def start(self):
        self.out.act("A controller takes over: the router of os-ken, in a process of its own")
        ports = [{"name": f"p{n}", "devargs": f"net_tap{n},iface=p{n}"} for n in (1, 2)]
        self.switch = lab.switch("/run/router", {
            "ports": ports, "pipeline": {"start": "none"},
            "openflow": {"datapath_id": "0xa1", "controllers": ["tcp:127.0.0.1:6653"], "backoff_max_s": 1}})
        self.switch.start()
        self.hosts = [self.switch.tap_host(f"h{n}", f"p{n}") for n in (1, 2)]
        for n, host in enumerate(self.hosts, 1):
            host.address(f"10.0.{n}.1/24")
            host.run(f"ip route add default via 10.0.{n}.254")
            self.out.say(f"h{n}  10.0.{n}.1, by way of 10.0.{n}.254")
        self.out.check("before it comes there is no rule, and nobody answers", not self.pings(0.3))
        self.out.command("osken_run.py os_ken.app.rest_router")
        self.app = osken_lab.controller(self.switch.directory / "osken.log", "os_ken.app.rest_router")
        lab.wait_for(lambda: DATAPATH in json.dumps(self.app.ask("GET", "/router/all")), what="the controller")
        self.out.say(next(line.split("info: ")[1] for line in self.switch.log.read_text().splitlines()
                          if "6653: connected" in line))

    def pings(self, wait=10.0):
        return self.hosts[0].pings("10.0.2.1", 3, wait=wait)

    def teach(self):
        for n in (1, 2):
            body = {"address": f"10.0.{n}.254/24"}
            self.out.command(["curl -X POST -d", f"'{json.dumps(body)}'", f"http://127.0.0.1:8080/router/{DATAPATH}"])
            if "success" not in json.dumps(self.app.ask("POST", f"/router/{DATAPATH}", body)):
                raise demo_failed("the controller did not take an address")
        lab.wait_for(lambda: self.hosts[0].pings("10.0.2.1", 1) == 1, what="the first ping")
        self.out.command("fping -c 3 10.0.2.1", "h1")
        self.out.check("h1 reaches h2 through the router: 3 of 3 answered", self.pings() == 3)

    def look(self):
        self.out.act("Why: what the controller said, the way of a packet, what it costs")
        packet = (f"in_port=p1,dl_src={self.hosts[0].mac},dl_dst={self.switch_mac()},icmp,nw_src=10.0.1.1,"
                  "nw_dst=10.0.2.1,nw_ttl=64,icmp_type=8")
        for words in (["flow", "dump"], ["trace", "br0", packet], ["explain", "br0"]):
            self.out.command(["coua", *words])
            self.out.show(self.switch.coua(*words).stdout, 24)
        said = self.switch.coua("trace", "br0", packet).stdout
        self.out.check("the trace ends at p2, with the address of h2", self.hosts[1].mac in said and "p2" in said)
        self.out.result("controller", "os-ken's router between two hosts; trace and explain say why")

    def switch_mac(self):
        """The router's address at h1."""
        return json.loads(self.hosts[0].run("ip -j neigh show 10.0.1.254").stdout)[0]["lladdr"]

    def close(self):
        if self.app:
            self.app.close()
        if self.switch:
            self.switch.close()


class gateway:
    """Subscribers, address translation, routes; all packets go the whole way."""

    SECONDS = 3

    def __init__(self, out):
        self.out = out
        self.draw = random.Random(1)
        self.switch = None
        self.hops = {}  # of the routes that the controller has changed: the next hop

    def rules(self):
        lines = [f"priority=10,ip,in_port=source,dl_dst={ROUTER_MAC},actions=goto_table:{USER_TABLE}"]
        for user in range(USERS):
            lines.append(f"table={USER_TABLE},priority=10,ip,nw_src=10.0.{user >> 8}.{user & 255},"
                         f"actions=set_field:100.64.{user >> 8}.{user & 255}->ip_src,goto_table:{ROUTE_TABLE}")
        for route in range(ROUTES):
            lines.append(f"table={ROUTE_TABLE},priority=24,ip,nw_dst=20.{route >> 8}.{route & 255}.0/24,actions="
                         f"dec_ttl,mod_dl_dst:{NEXT_MAC.format(route & 255)},output:sink")
        return "\n".join(lines) + "\n"

    def write_packets(self, file):
        with open(file, "wb") as out:
            out.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for _ in range(PACKETS):
                user, route = self.draw.randrange(USERS), self.draw.randrange(ROUTES)
                head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 46, 0, 0, 64, 17, 0,
                                   bytes([10, 0, user >> 8, user & 255]), bytes([20, route >> 8, route & 255, 7]))
                total = sum(struct.unpack("!10H", head))
                total = (total & 0xffff) + (total >> 16)
                head = head[:10] + struct.pack("!H", 0xffff - total) + head[12:]
                frame = frames.make(ROUTER_MAC, "02:00:00:00:00:01", head + struct.pack("!HHHH", 1, 2, 26, 0),
                                    0x800)
                out.write(struct.pack("=IIII", 0, 0, len(frame), len(frame)) + frame)

    def run(self):
        self.out.act(f"A gateway: {USERS:,} subscribers, translation of addresses, {ROUTES:,} routes")
        self.switch = lab.switch("/run/gateway", {
            "memory": {"huge_pages": "auto", "packet_mib": 512}, "pipeline": {"start": "none"}}).start()
        file = self.switch.directory / "traffic.pcap"
        self.write_packets(file)
        for words in (["port", "add", "sink", "net_null0,no-rx=1"],
                      ["port", "add", "source", f"net_pcap0,rx_pcap={file},infinite_rx=1", "--rx-descriptors", 32768]):
            self.out.command(["coua", *words])
            self.switch.coua(*words)
        self.out.command("coua flow add --file gateway.txt")
        self.switch.coua("flow", "add", "--file", "-", stdin=self.rules())
        time.sleep(0.2)
        before = self.dropped()  # of packets that came before there were rules
        alone = self.rate()
        self.out.say(f"forwarded at rest                 {mega(alone):>20}")
        if not alone:
            raise demo_failed("no packet comes out of the gateway")
        changing, changed = self.rate_while_routes_change()
        self.out.say(f"while {changed:>7,.0f} routes/s change     {mega(changing):>20}   "
                     f"{100 * changing / alone:.0f} %")
        if not changing:
            raise demo_failed("no packet came out of the gateway while its routes changed")
        self.out.check("not one packet was without a route", self.dropped() == before)
        self.check_routes()
        self.out.command("coua explain br0")
        self.out.show(self.switch.coua("explain", "br0").stdout, 24)
        self.out.result("gateway", f"{mega(alone)}; {mega(changing)} while {changed:,.0f} routes/s change")

    def dropped(self):
        return self.switch.json("stats")["totals"]["drop_pipeline"]

    def rate(self):
        return self.switch.json("stats", "--rate", self.SECONDS)["ports"]["sink"]["tx_pps"]

    def rate_while_routes_change(self):
        """A controller that gives routes other next hops, with a barrier behind each hundred."""
        one = of.controller.to(self.switch.directory / "br0.mgmt").greet()
        ports = {name: number for number, name in self.names(one).items()}
        stop, changes, wrong = threading.Event(), [0], []

        def change_some():
            batch = []
            for _ in range(100):
                route, hop = self.draw.randrange(ROUTES), NEXT_MAC.format(self.draw.randrange(256))
                self.hops[route] = hop
                batch.append(of.flow_mod(
                    table=ROUTE_TABLE, priority=24, eth_type=0x800, ipv4_dst=(20 << 24 | route << 8, 0xffffff00),
                    instructions=of.apply_actions(of.dec_ttl(), of.set_eth_dst(frames.mac_bytes(hop)),
                                                  of.output(ports["sink"]))))
            one.send(*batch)
            one.carried_out()
            changes[0] += len(batch)

        def change():
            try:
                while not stop.is_set():
                    change_some()
                    time.sleep(0.005)
            except (lab.lab_error, OSError) as error:
                wrong.append(error)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            time.sleep(0.2)
            began, first = time.monotonic(), changes[0]
            rate = self.rate()
            changed = (changes[0] - first) / (time.monotonic() - began)
        finally:
            stop.set()
            thread.join()
            one.close()
        if wrong:
            raise demo_failed(f"the routes do not change: {wrong[0]}")
        if not changed:
            raise demo_failed("the switch took no change of a route")
        return rate, changed

    def check_routes(self):
        """What the controller was told is done is there."""
        said = self.switch.coua("flow", "dump", f"table={ROUTE_TABLE}").stdout
        there = {int(high) << 8 | int(low): hop for high, low, hop in re.findall(
            r"nw_dst=20\.(\d+)\.(\d+)\.0/24.*?(02:00:00:00:01:[0-9a-f]{2})", said)}
        self.out.check(f"all {len(self.hops):,} routes that were changed go where the controller said last",
                       len(there) == ROUTES and all(there[route] == hop for route, hop in self.hops.items()))

    def names(self, one):
        """Ports by number."""
        one.send(of.message(of.MULTIPART_REQUEST, struct.pack("!HH4x", 13, 0)))
        body = one.expect(of.MULTIPART_REPLY)[1][8:]
        return {struct.unpack_from("!I", body, at)[0]: body[at + 16:at + 32].rstrip(b"\0").decode()
                for at in range(0, len(body), 64)}

    def close(self):
        if self.switch:
            self.switch.close()


def acts(out):
    """What there is to play here: the controller only where os-ken is installed."""
    if osken_lab.place():
        yield routed_hosts(out)
    else:
        out.say("os-ken is not installed (tools/osken does it), so no controller shows up")
    yield gateway(out)


def play(out):
    for one in acts(out):
        try:
            one.run()
        except (demo_failed, lab.lab_error):
            if one.switch:
                out.say("couad's log ends:")
                out.show("\n".join(one.switch.log.read_text().splitlines()[-20:]), 20)
            raise
        finally:
            one.close()
