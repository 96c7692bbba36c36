# SPDX-License-Identifier: Apache-2.0
"""os-ken in the environment that tools/osken makes: its applications beside the switch, and its codec
in this program."""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

import lab


def place():
    """Its environment; None: it is not there."""
    cache = os.environ.get("COUA_CACHE") or os.path.expanduser("~/.cache/coua")
    found = pathlib.Path(cache) / "os-ken"
    return found if list(found.glob("lib/python3*/site-packages/os_ken/app/rest_router.py")) else None


def need():
    if not place():
        raise unittest.SkipTest("os-ken is not installed: run tools/osken")
    return place()


class controller:
    """A running os-ken with applications, at 127.0.0.1:6653 and, those of REST, at 127.0.0.1:8080."""

    def __init__(self, log, *apps):
        self.log = pathlib.Path(log)
        with open(self.log, "w") as file:
            self.process = lab.start([need() / "bin/python", "-W", "ignore",
                                      lab.ROOT / "tests/packet/osken_run.py", *apps],
                                     stdout=file, stderr=subprocess.STDOUT)

    def ask(self, method, path, body=None):
        """What REST answers, as Python values; None while nobody answers."""
        request = urllib.request.Request(f"http://127.0.0.1:8080{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                text = answer.read()
                return json.loads(text) if text else {}
        except urllib.error.HTTPError as error:
            return {"status": error.code, "text": error.read().decode()}
        except OSError:
            self.check()
            return None

    def check(self):
        if self.process.poll() is not None:
            raise lab.lab_error(f"os-ken ended:\n{self.log.read_text()}")

    def close(self):
        self.process.kill()
        self.process.wait()


class codec:
    """os-ken's messages of OpenFlow 1.3, into bytes and back."""

    def __init__(self):
        for path in need().glob("lib/python3*/site-packages"):
            if str(path) not in sys.path:
                sys.path.append(str(path))
        self.parser = importlib.import_module("os_ken.ofproto.ofproto_v1_3_parser")
        self.numbers = importlib.import_module("os_ken.ofproto.ofproto_v1_3")
        self.base = importlib.import_module("os_ken.ofproto.ofproto_parser")
        self.version = importlib.import_module("os_ken.ofproto.ofproto_protocol").ProtocolDesc(version=4)

    def make(self, kind, *words, **named):
        """A message by the name of its class, "OFPFlowMod"."""
        return getattr(self.parser, kind)(self.version, *words, **named)

    def encode(self, message, xid):
        message.set_xid(xid)
        message.serialize()
        return bytes(message.buf)

    def decode(self, raw):
        """A message; an error where it is not whole or has bytes too many."""
        version, kind, length, xid = self.base.header(raw)
        if version != 4 or length != len(raw):
            raise ValueError(f"version {version}, length {length} of {len(raw)}")
        return self.base.msg(self.version, version, kind, length, xid, raw)
