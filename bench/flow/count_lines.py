#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_lines.py OBJDUMP OUTPUT LIBRARY...: the lines of src/ that each library has code of.

A library libvariant_NAME.a must have been compiled with debug information and without optimisation.
Templates that it does not use and branches that are discarded at compile time have no code, so
they do not count; nor do comments, declarations and closing braces. OUTPUT becomes lines of
{"NAME", COUNT}, for a C++ array.
"""

import pathlib
import re
import subprocess
import sys

# "DIRECTORIES/src/flow/cuckoo.h:" starts the rows "cuckoo.h  LINE  ADDRESS ..." of a file.
FILE = re.compile(r"^(\S+):(?:\[\+\+\])?$")
OURS = re.compile(r"(?:^|/)src/(?:base|flow|simd|table)/.*")
ROW = re.compile(r"^\S+\s+(\d+)\s")


def lines_of(objdump, library):
    done = subprocess.run([objdump, "--dwarf=decodedline", library], check=True,
                          capture_output=True, text=True)
    found, file = set(), None
    for text in done.stdout.splitlines():
        if heading := FILE.match(text):
            ours = OURS.search(heading[1])
            file = ours and ours[0].lstrip("/")
        elif file and (row := ROW.match(text)) and row[1] != "0":
            found.add((file, int(row[1])))
    if not found:
        sys.exit(f"count_lines.py: {library}: {objdump} shows no line of src/ in it")
    return found


def main(objdump, output, *libraries):
    rows = [f'{{"{pathlib.Path(each).stem.removeprefix("libvariant_")}", '
            f"{len(lines_of(objdump, each))}}},\n" for each in libraries]
    pathlib.Path(output).write_text("".join(rows))


main(*sys.argv[1:])
