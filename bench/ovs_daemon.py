# SPDX-License-Identifier: Apache-2.0
"""Where Debian's Open vSwitch with DPDK is: the same path as coua-bench itself takes."""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent / "forward" / "ovs_daemon.h"
PATH = re.search(r'ovs_daemon = "([^"]+)"', SOURCE.read_text()).group(1)
