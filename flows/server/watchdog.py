"""Nothing outlives a flow: a process started by a flow ends by itself when the flow's process is gone.

python -m flows.server.watchdog PARENT MODULE ARGUMENT...    runs MODULE as `python -m MODULE ARGUMENT...` would
"""

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable

_WATCH_SECONDS = 0.5
_GRACE_SECONDS = 3.0


def end_with(parent: int, clean_up: Callable[[], object] = lambda: None) -> None:
    """End this process soon after its parent: first with SIGTERM, then forcibly, after a last `clean_up`."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_SECONDS)
        clean_up()
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="watchdog").start()


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
