#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""machine_code_test.py LIBCOUA FIB_MD: the machine code is as fib.md says, by its command and by its loops."""

import pathlib
import re
import subprocess
import sys
import unittest

DOCUMENT = pathlib.Path(sys.argv.pop()).read_text()
LIBRARY = sys.argv.pop()
NUMBERS = {"three": 3, "six": 6, "nine": 9}

KERNEL = re.compile(r"(fib|near)_kernel<[^,]*::(avx2|avx512)_match, [^,]*::(packed8|packed4|wide8)>::"
                    r"(batch|ahead|pipeline)\(")
LEAVES = re.compile(r"j\w+|call|ret|loop\w*")  # the instruction may go on elsewhere
FINDS = re.compile(r"tzcnt|bsf")  # the number of the nominated slot, one of each probe
FETCHES = re.compile(r"prefetch\w+")
COMPARES = re.compile(r"vpcmp\w*q|vptestn?mq")  # eight slots, or four


def kernels(disassembly):
    """The instructions of each vector kernel, (address, mnemonic, target or None), by (distance, instruction
    set, layout, call)."""
    found, name = {}, None
    for line in disassembly.splitlines():
        if line.endswith(">:"):
            match = KERNEL.search(line)
            # What is instantiated with a kernel, or split off it, is another function.
            name = match.groups() if match and "refresh" not in line and ".cold" not in line else None
        elif name and (at := re.match(r"\s*([0-9a-f]+):\s+(?:notrack |bnd )?(\w+)\s*(?:([0-9a-f]+) <)?", line)):
            address, mnemonic, target = at.groups()
            found.setdefault(name, []).append((int(address, 16), mnemonic, int(target, 16) if target else None))
    return found


def innermost_loops(instructions):
    """From where a jump goes back to, to the last that does so; those that have no other inside."""
    places = {address: place for place, (address, _, _) in enumerate(instructions)}
    ends = {}
    for place, (_, mnemonic, target) in enumerate(instructions):
        if mnemonic.startswith("j") and places.get(target, place + 1) <= place:
            ends[places[target]] = place
    return [[mnemonic for _, mnemonic, _ in instructions[first:last + 1]] for first, last in ends.items()
            if not any(first < a and b <= last for a, b in ends.items())]


def count(pattern, mnemonics):
    return sum(pattern.fullmatch(each) is not None for each in mnemonics)


class MachineCodeTest(unittest.TestCase):
    def test_no_fence_in_the_read_path(self):
        section = DOCUMENT.split("## No fence in the read path")[1].split("\n## ")[0]
        command = section.split("```sh\n")[1].split("```")[0]
        self.assertIn("build/src/lib/libcoua.a", command)
        out = subprocess.run(["sh", "-c", command.replace("build/src/lib/libcoua.a", '"$0"'), LIBRARY],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        said, name = re.search(r"It prints (\w+) functions, all of them `(\w+)`", section).groups()
        functions = {line for line in out.stdout.splitlines() if "<" in line}
        self.assertEqual(len(functions), NUMBERS[said], out.stdout)
        for each in functions:
            self.assertIn(f"::{name}(", each)
        # One instruction of each.
        locked = [line for line in out.stdout.splitlines() if line not in functions]
        self.assertEqual(len(locked), len(functions), out.stdout)
        for line in locked:
            self.assertRegex(line, "lock cmpxchg")

    def test_what_is_found_is_not_branched_on(self):
        out = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", LIBRARY], capture_output=True, text=True,
                             check=True, timeout=60).stdout
        found = kernels(out)
        for distance, isa, layout in ((d, i, l) for d in ("fib", "near") for i in ("avx2", "avx512")
                                      for l in ("packed8", "packed4", "wide8")):
            # A table that is near has one kernel for all of its batches, and the pipeline of one that is far.
            calls = {"fib": ("batch", "ahead", "pipeline"), "near": ("batch",)}
            for call in calls[distance]:
                with self.subTest(distance=distance, isa=isa, layout=layout, call=call):
                    self.check(innermost_loops(found[distance, isa, layout, call]), distance)

    def check(self, loops, distance):
        """One branch a key, that which ends the loop, also where a compiler unrolls it: each probe finds one slot."""
        finding = [loop for loop in loops if count(FINDS, loop)]
        probing = [loop for loop in finding if count(COMPARES, loop)]
        for loop in finding:
            if loop not in probing:  # keys not found, of a bit mask: their other buckets are fetched
                self.assertGreater(count(FETCHES, loop), 0, loop)
        for loop in probing:
            probes = 2 if distance == "near" else 1  # of a key: both buckets at once where the table is near
            self.assertLessEqual(count(LEAVES, loop) * probes, count(FINDS, loop), loop)
        # Primary and secondary buckets; of a table that is near, the answers chosen in a loop of their own.
        choosing = [loop for loop in loops if count(COMPARES, loop) and loop not in probing]
        self.assertGreaterEqual(len(probing) + len(choosing), 2, loops)
        for loop in choosing:
            self.assertEqual(count(LEAVES, loop), 1, loop)


if __name__ == "__main__":
    unittest.main()
