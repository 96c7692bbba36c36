#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tagger.py TRUNK VLAN NAME: a VLAN interface for kernels that were built without them.

Makes a TAP device NAME. What is sent through it leaves TRUNK with the tag of VLAN; what TRUNK
receives with that tag comes out of NAME without it. Prints "ready" when it runs.
"""

import fcntl
import os
import select
import struct
import sys

import frames

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def main():
    trunk_name, vlan, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    trunk = frames.wire(trunk_name)
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    print("ready", flush=True)
    while True:
        for source in select.select([tap, trunk], [], [])[0]:
            try:
                if source == tap:
                    trunk.send(frames.tagged(os.read(tap, 65536), vlan))
                else:
                    got = trunk.receive(0)
                    if got is not None and got.vlan == vlan:
                        os.write(tap, got.untagged)
            except OSError:
                pass  # the device is down, or the frame is too long for it: it is lost


if __name__ == "__main__":
    main()
