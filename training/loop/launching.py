"""Starting the other processes of a training, if the settings ask for several and no launcher has started them.

this process, rank 0 ──starts──> the same module with the same job, rank 1, 2 …      (one machine)
torchrun, accelerate launch ──start──> all ranks, on any number of machines          (nothing to do here)
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pydantic import BaseModel

from features.core.exported import exported
from features.core.faults import DeviceMissing, TrainingsApart
from features.core.locks import only_one
from features.parsers.devices import resolve_device
from training.loop import together
from training.loop.settings import LoopSettings
from training.loop.together import MEETING
from training.process import FOLLOWS

_AT_ONCE = 30  # seconds for a process that has finished to exit
_ASKED = 5  # seconds for a process that was asked to exit


@contextmanager
def only_trainer(lock: Path) -> Iterator[None]:
    """Hold the lock of a training, in the first of its processes: the first one writes, the others only train."""
    if together.rank() > 0:
        yield
        return
    with only_one(lock, f"Another training works in {str(lock.parent)!r}"):
        yield


@contextmanager
def all_processes(settings: LoopSettings, module: str, job: BaseModel) -> Iterator[None]:
    """Run the other processes of a training during the block, each the module that was called, with the same job."""
    if settings.processes == 1 or "WORLD_SIZE" in os.environ:
        yield
        return
    _check_gpus(settings)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="facetflow-")))
        (folder / "job.json").write_text(job.model_dump_json(), encoding="utf-8")
        # They meet in a folder of this user and talk on this machine only: torch would listen on all interfaces.
        loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
        common = {MEETING: str(folder / "meeting"), "MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": str(settings.processes)}
        common |= {"GLOO_SOCKET_IFNAME": loopback, "NCCL_SOCKET_IFNAME": loopback}
        # Otherwise accelerate chooses a number of threads, with a warning.
        common["OMP_NUM_THREADS"] = str(settings.threads or max(1, (os.cpu_count() or 1) // settings.processes))
        command = [sys.executable, "-m", module, "--settings", str(folder / "job.json"), "--quiet"]
        logs = [folder / f"process-{rank}.log" for rank in range(1, settings.processes)]
        others = []
        for rank, log in enumerate(logs, start=1):
            output = stack.enter_context(log.open("wb"))
            environment = {**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank), FOLLOWS: "1"}
            others.append(
                subprocess.Popen(
                    command, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
                )
            )
        stack.enter_context(exported({**common, "RANK": "0", "LOCAL_RANK": "0"}))
        try:
            yield
            _end(others, within=_AT_ONCE)
        except RuntimeError as error:
            # All that the others see of a process that dies is its closed connections.
            if not any(_failed(process) for process in others):
                raise
            texts = [log.read_text(errors="replace").strip() for log in logs]
            why = next((text.splitlines()[-1] for text in texts if text), "without output, as when memory runs out")
            raise TrainingsApart(f"another process of this training ended ({why}); start it again") from error
        finally:
            for process in others:
                process.terminate()
            _end(others, within=_ASKED)
            together.leave()


def _check_gpus(settings: LoopSettings) -> None:
    """Refuse more processes than there are GPUs: NCCL connects no two on the same one."""
    if resolve_device(settings.device) == "cpu":
        return
    import torch

    if (seen := torch.cuda.device_count()) < settings.processes:
        raise DeviceMissing(
            f"loop.processes = {settings.processes} trains on a GPU each, and there {'is' if seen == 1 else 'are'} "
            f"{seen} here; lower it, or set loop.device to 'cpu'"
        )


def _failed(process: "subprocess.Popen[bytes]") -> bool:
    try:
        return process.wait(_ASKED) != 0
    except subprocess.TimeoutExpired:
        return False


def _end(processes: list["subprocess.Popen[bytes]"], *, within: float) -> None:
    """Wait for processes that are about to end, and kill those that do not."""
    for process in processes:
        try:
            process.wait(within)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
