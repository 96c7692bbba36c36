# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: coua as a user runs it, against the real API before a switch
in memory. Each is started as: TEST COUA FAKE_COUAD DOCS_DIR [unittest's words]
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

COUA, FAKE, DOCS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])

DIFFERS = 4  # the status of config diff

# A shell has its background jobs ignore Ctrl-C, and so all that they start: here it is heard.
signal.signal(signal.SIGINT, signal.default_int_handler)


class fake:
    """A daemon without packets."""

    def __init__(self, *options):
        self.directory = tempfile.TemporaryDirectory(prefix="coua-cli-")
        self.socket = self.directory.name + "/couad.sock"
        self.process = subprocess.Popen([FAKE, self.socket, *options], stdout=subprocess.PIPE,
                                        text=True)
        assert self.process.stdout.readline() == "ready\n"

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.process.stdout.close()
        self.directory.cleanup()
        return status


class cli_case(unittest.TestCase):
    OPTIONS = ()

    def setUp(self):
        self.daemon = fake(*self.OPTIONS)
        self.addCleanup(self.daemon.close)

    def coua(self, *words, status=0, stdin=None, socket=None):
        words = [word if isinstance(word, bytes) else str(word) for word in words]
        done = subprocess.run([COUA, "-s", socket or self.daemon.socket, *words],
                              capture_output=True, text=True, timeout=60, input=stdin, check=False)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout}{done.stderr}")
        if status not in (0, DIFFERS):
            self.assertNotEqual(done.stderr, "", words)
        return done

    def text(self, *words, **options):
        return self.coua(*words, **options).stdout

    def json(self, *words, **options):
        return json.loads(self.coua(*words, "-j", **options).stdout)

    def ports(self):
        self.coua("port", "add", "p0", "net_null0", "--vlan", 10)
        self.coua("port", "add", "p1", "net_null1", "--vlan", 10)
        self.coua("port", "add", "up", "net_null2", "--tagged", "10,20-22", "--native", 0)

    def macs(self, *filters):
        return [entry["mac"] for entry in self.json("fib", "show", *filters)["entries"]]


def main():
    """Runs the tests of the program that calls it."""
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[4:])
