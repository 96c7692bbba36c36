# SPDX-License-Identifier: Apache-2.0
"""Faucet in the environment that tools/faucet makes, with a configuration of the test."""

import json
import os
import pathlib
import re
import signal
import subprocess
import unittest
import urllib.request

import lab


def place():
    """Its environment; None: it is not there."""
    found = pathlib.Path(os.environ.get("COUA_CACHE") or os.path.expanduser("~/.cache/coua")) / "faucet"
    return found if (found / "bin" / "faucet").exists() else None


def need():
    if not place():
        raise unittest.SkipTest("Faucet is not installed: run tools/faucet")
    return place()


class controller:
    """A running Faucet at 127.0.0.1:6653."""

    METRICS = "http://127.0.0.1:9302"

    def __init__(self, directory, config):
        self.directory = pathlib.Path(directory)
        self.log = self.directory / "faucet.log"
        self.errors = self.directory / "faucet_exception.log"
        self.file = self.directory / "faucet.yaml"
        self.write(config)
        variables = {"CONFIG": self.file, "LOG": self.log, "EXCEPTION_LOG": self.errors,
                     "PROMETHEUS_ADDR": "127.0.0.1"}
        with open(self.directory / "faucet.out", "w") as out:
            self.process = lab.start(
                ["env", *(f"FAUCET_{name}={value}" for name, value in variables.items()), need() / "bin/python",
                 "-W", "ignore", need() / "bin/osken-manager", "--ofp-listen-host=127.0.0.1",
                 "--ofp-tcp-listen-port=6653", "faucet.faucet"], stdout=out, stderr=subprocess.STDOUT)

    def write(self, config):
        # JSON is YAML.
        self.file.write_text(json.dumps(config, indent=1))

    def reload(self, config):
        """Another configuration; returns when Faucet has taken it over."""
        before = self.metric("faucet_config_reload_requests_total")
        self.write(config)
        self.process.send_signal(signal.SIGHUP)
        lab.wait_for(lambda: self.metric("faucet_config_reload_requests_total") > before, what="Faucet reloads")

    def metric(self, name):
        """The sum of a metric of Prometheus over all its labels; 0 while nobody answers."""
        self.check()
        try:
            with urllib.request.urlopen(self.METRICS, timeout=20) as answer:
                text = answer.read().decode()
        except OSError:
            return 0
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))

    def check(self):
        """It runs, and has had no fault."""
        wrong = self.errors.read_text() if self.errors.exists() else ""
        told = self.log.read_text() if self.log.exists() else ""
        wrong += "".join(f"{line}\n" for line in told.splitlines() if "New config bad" in line)
        if wrong or self.process.poll() is not None:
            out = (self.directory / "faucet.out").read_text()
            raise lab.lab_error(f"Faucet has failed:\n{wrong}{out}")

    def close(self):
        self.process.kill()
        self.process.wait()
