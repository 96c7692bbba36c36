#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arm_code_test.py SOURCE_ROOT: the FIB compiles for 64-bit ARM, where acquire and release are instructions of
their own; its readers have no barrier. Skipped where clang 16 or a C++ library for ARM is missing."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop())
COMPILER = ["clang++-16", "--target=aarch64-linux-gnu", "-std=gnu++20", "-O2", "-S", "-o", "-", "-x", "c++"]
LAYOUTS = {"packed8": 8, "packed4": 4, "wide8": 8}  # slots


def assembly(*words, text=None):
    return subprocess.run([*COMPILER, *words], input=text, capture_output=True, text=True, timeout=120)


def compiled(path):
    """The instructions of each function of a source file, by its name in C++."""
    done = assembly(f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", ROOT / path)
    assert done.returncode == 0, done.stderr
    text = subprocess.run(["c++filt"], input=done.stdout, capture_output=True, text=True, check=True).stdout
    functions, name = {}, None
    for line in text.splitlines():
        if begun := re.match(r"(\S.*):\s*// @", line):
            name = begun[1]
        elif name and (found := re.match(r"\t([a-z][\w.]*)(?:\t(.*))?$", line)):
            functions.setdefault(name, []).append(found.groups())
    return functions


def all_of(pattern, instructions):
    """Those instructions whose name, with its operands, begins so."""
    return [f"{name} {operands or ''}".strip() for name, operands in instructions
            if re.match(pattern, f"{name} {operands or ''}")]


BARRIERS = r"(dmb|dsb|isb)\b"
ACQUIRES = r"(ldar|ldapr)\b"
RELEASES = r"stlr\b"
# An exchange, or part of one: by itself or by a function that looks first what the processor has.
EXCHANGES = r"(ld[a]?xr|st[l]?xr|cas|swp|ldadd)\w*\b|bl? __aarch64_"


class ArmCodeTest(unittest.TestCase):
    def test_readers_acquire_without_a_barrier(self):
        functions = compiled("src/simd/fib_lookup/generic.cc")
        kernels = {name: code for name, code in functions.items() if re.search(r"\b(fib|near)_kernel<", name)}
        for name, code in kernels.items():
            with self.subTest(name=name):
                self.assertEqual(all_of(BARRIERS, code) + all_of(RELEASES, code), [])
                # As on x86: the only exchange is that of a refresh.
                self.assertEqual(len(all_of(EXCHANGES, code)), 1 if "::renew(" in name else 0)
        for layout, n_slots in LAYOUTS.items():
            for kernel in ("fib_kernel", "near_kernel"):
                batch = [code for name, code in kernels.items()
                         if re.search(rf"\b{kernel}<[^,]*, [^,]*{layout}>::batch\(", name)]
                with self.subTest(kernel=kernel, layout=layout):
                    self.assertEqual(len(batch), 1, list(kernels))
                    # Both buckets: every slot, and the one that counts again; the clock before and after.
                    self.assertGreaterEqual(len(all_of(ACQUIRES, batch[0])), 2 * (n_slots + 1) + 2)

    def test_the_writer_releases(self):
        functions = compiled("src/table/fib.cc")
        tables = {name: code for name, code in functions.items() if re.search(r"\bfib_(table|slots)<", name)}
        for layout in LAYOUTS:
            code = [each for name, code in tables.items() if f"{layout}," in name for each in code]
            with self.subTest(layout=layout):
                self.assertEqual(all_of(BARRIERS, code), [])
                # What a move does: it copies, stamps and clears.
                self.assertGreaterEqual(len(all_of(RELEASES, code)), 3)


if __name__ == "__main__":
    try:
        missing = assembly("-", text="#include <tl/expected.hpp>\n#include <atomic>\n").stderr
    except FileNotFoundError as error:
        missing = str(error)
    if missing:
        print(f"skipped: nothing compiles for ARM here: {missing}")
        sys.exit(77)
    unittest.main()
