# SPDX-License-Identifier: Apache-2.0
"""Controllers by TLS: the switch connects to them, or they to it, and files that are no good."""

import json
import pathlib
import shutil
import socket
import ssl
import subprocess
import unittest

import lab
import of_wire as of
from cases import tap
from test_controllers import with_listeners

FOLDER = pathlib.Path("/run/certificates")
FILES = {"key": str(FOLDER / "switch.key"), "certificate": str(FOLDER / "switch.pem"),
         "authority": str(FOLDER / "ca.pem")}


def openssl(words):
    subprocess.run(["openssl", *words.split()], cwd=FOLDER, check=True, capture_output=True)


def make_certificates():
    FOLDER.mkdir(exist_ok=True)
    for name in ("ca", "other"):
        openssl(f"req -x509 -newkey rsa:2048 -nodes -subj /CN={name} -days 2 -keyout {name}.key -out {name}.pem")
    for name, ca in (("switch", "ca"), ("controller", "ca"), ("stranger", "other")):
        openssl(f"req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}.key -out {name}.req")
        openssl(f"x509 -req -in {name}.req -CA {ca}.pem -CAkey {ca}.key -CAcreateserial -days 2 -out {name}.pem")


class with_certificates(with_listeners):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl is not installed: run `make deps`")
        make_certificates()
        cls.addClassCleanup(shutil.rmtree, FOLDER)
        super().setUpClass()

    def context(self, name, side=ssl.PROTOCOL_TLS_SERVER, ca="ca"):
        made = ssl.SSLContext(side)
        made.check_hostname = False
        if name:
            made.load_cert_chain(FOLDER / f"{name}.pem", FOLDER / f"{name}.key")
        made.load_verify_locations(FOLDER / f"{ca}.pem")
        made.verify_mode = ssl.CERT_REQUIRED
        return made

    def assert_is_switch(self, one):
        self.assertEqual(dict(part[0] for part in one.socket.getpeercert()["subject"])["commonName"], "switch")


class test_tls(with_certificates):
    CONFIG = {"ports": [tap("p1"), tap("p2")],
              "openflow": {"controllers": ["ssl:127.0.0.1:6653"], "listen": ["pssl:6655:127.0.0.1"], "probe_s": 1,
                           "backoff_max_s": 1, "tls": FILES}}

    def come(self, name):
        """A controller that connects to the switch."""
        peer = socket.create_connection(("127.0.0.1", 6655))
        self.addCleanup(peer.close)
        peer.settimeout(20)
        return of.controller(self.context(name, ssl.PROTOCOL_TLS_CLIENT).wrap_socket(peer)).greet()

    def trouble(self):
        listed = json.loads(self.switch.coua("-j", "controller", "list").stdout)["controllers"]
        return next(each["trouble"] for each in listed if each["target"] == "ssl:127.0.0.1:6653")

    def wait_for_trouble(self, text):
        lab.wait_for(lambda: self.trouble() == text, timeout=20, what=text)

    def test_both_sides_show_certificates(self):
        one = self.accept(self.listen(6653, self.context("controller")))
        one.barrier()
        self.assert_is_switch(one)

    def test_a_stranger_is_not_listened_to(self):
        at = self.listen(6653, self.context("stranger"))
        for _ in range(2):
            with self.assertRaises((ssl.SSLError, ConnectionError, lab.lab_error)):
                self.accept(at)
        self.wait_for_trouble("TLS: certificate verify failed")

    def test_a_controller_may_refuse_the_switch(self):
        at = self.listen(6653, self.context("controller", ca="other"))

        def refuse():
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                self.accept(at)
            lab.wait_for(self.trouble, timeout=20, what="trouble")
            return self.trouble()

        # What is in the alert is lost when the connection is reset while the switch still says hello.
        lab.wait_for(lambda: refuse() == "TLS: tlsv1 alert unknown ca", timeout=60, what="the alert")

    def test_who_speaks_no_tls_is_told_apart(self):
        """Red when only the library's log says what was wrong, which nobody reads."""
        at = self.listen(6653)
        for _ in range(2):
            peer, _ = at.socket.accept()
            peer.sendall(of.message(of.HELLO))
            peer.close()
        self.wait_for_trouble("TLS: wrong version number")
        at.close()
        self.wait_for_trouble("Connection refused")

    def test_why_one_ended_is_said_until_another_one_ends(self):
        """Red when a connection that comes back takes the reason along, and leaves "Input/output error"."""
        at = self.listen(6653, self.context("controller"))
        said = ("TLS: unexpected eof while reading", "Connection reset by peer")
        one = self.accept(at)
        socket.close(one.socket.detach())  # without a last word, as a program that was killed
        lab.wait_for(lambda: self.trouble() in said, timeout=20, what="its end")
        before = self.trouble()
        self.accept(at).barrier()
        self.assertEqual(self.trouble(), before)

    def test_they_may_connect_to_the_switch(self):
        one = self.come("controller")
        one.barrier()
        self.assert_is_switch(one)
        for name in ("stranger", None):
            with self.assertRaises((ssl.SSLError, ConnectionError, lab.lab_error)):
                self.come(name)
        plain = socket.create_connection(("127.0.0.1", 6655))
        self.addCleanup(plain.close)
        with self.assertRaises((ConnectionError, lab.lab_error)):
            of.controller(plain).greet()
        one.barrier()  # it is served on

    def test_ovs_ofctl(self):
        words = ["-p", FOLDER / "controller.key", "-c", FOLDER / "controller.pem", "-C", FOLDER / "ca.pem"]
        said = lab.run(["ovs-ofctl", "-O", "OpenFlow13", *words, "show", "ssl:127.0.0.1:6655"]).stdout
        self.assertIn("OFPT_FEATURES_REPLY (OF1.3)", said)

    def test_files_that_are_no_good_are_refused(self):
        """With the line of the field. Red when a file that can be read is good enough: then no controller is ever
        connected, and nobody says why."""
        for field, name, reason in (
                ("key", "ca.pem", "is no private key in PEM"),
                ("key", "controller.key", f"is not the key of the certificate, {FILES['certificate']}"),
                ("certificate", "switch.key", "is no certificate in PEM that TLS takes"),
                ("authority", "ca.key", "has no certificate in PEM that TLS takes")):
            with self.subTest(field=field, file=name):
                other = lab.switch("/run/refused", {"ports": [], "openflow": {"tls": {**FILES,
                                                                                     field: str(FOLDER / name)}}})
                line = next(n for n, text in enumerate(other.file.read_text().splitlines(), 1)
                            if text.strip().startswith(f"{field}:"))
                self.addCleanup(other.close)
                self.assertNotEqual(other.launch().process.wait(60), 0)
                self.assertIn(f"{other.file}:{line}: openflow.tls.{field}: {FOLDER / name}: {reason}",
                              other.log.read_text())
