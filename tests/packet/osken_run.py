# SPDX-License-Identifier: Apache-2.0
"""osken_run.py APP...: runs applications of os-ken, which switches reach at 127.0.0.1:6653 and users
at 127.0.0.1:8080. os-ken has had no launcher since release 2."""

import logging
import os
import sys

os.environ.setdefault("OSKEN_HUB_TYPE", "eventlet")

import eventlet  # noqa: E402  (the hub is chosen above)
import eventlet.wsgi  # noqa: E402

eventlet.monkey_patch()
# Of WebSockets, which the samples import and do not use; today's eventlet has it elsewhere.
eventlet.wsgi.ALREADY_HANDLED = []

from os_ken.base import app_manager  # noqa: E402
from os_ken.cfg import CONF  # noqa: E402
from os_ken.lib import hub  # noqa: E402


def main():
    logging.basicConfig(level=logging.INFO)
    manager = app_manager.AppManager.get_instance()
    manager.load_apps([*sys.argv[1:], "os_ken.controller.ofp_handler"])
    # Behind the applications, which register options of theirs.
    options = ["--ofp-listen-host", "127.0.0.1", "--ofp-tcp-listen-port", "6653"]
    if "wsapi_port" in CONF:
        options += ["--wsapi-host", "127.0.0.1", "--wsapi-port", "8080"]
    CONF(options, project="os_ken")
    services = manager.instantiate_apps(**manager.create_contexts())
    if "os_ken.app.wsgi" in sys.modules:
        services.append(hub.spawn(sys.modules["os_ken.app.wsgi"].start_service(manager)))
    hub.joinall(services)


if __name__ == "__main__":
    main()
