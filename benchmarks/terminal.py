"""The live table in a terminal: its CPU beside `nvitop`'s on the same eight GPUs with twenty processes, at 1 Hz."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from benchmarks.timing import not_run, report

LIMIT = 0.8
GPUS, PROCESSES = 8, 20
SECONDS, SETTLE_SECONDS = 20.0, 6.0
NAME = "CPU of the live table at 1 Hz / nvitop"
_PEER = Path(__file__).resolve().parent.parent / ".cache" / "peers" / "bin" / "nvitop"


def main() -> bool:
    """Processor time of both, whatever they started included; they run side by side, so that a busy machine slows both."""
    if not _PEER.exists() or shutil.which("gcc") is None:
        not_run(NAME, "needs gcc, and nvitop (make bench installs it)")
        return True
    from benchmarks.nvml import variables

    with tempfile.TemporaryDirectory() as directory, ExitStack() as ends:
        pids = [_process(ends) for _ in range(PROCESSES)]
        environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": directory}
        environment |= variables(Path(directory), _scenario(pids))
        ours = _on_a_terminal([sys.executable, "-m", "gpuassist", "monitor"], environment, ends)
        theirs = _on_a_terminal([str(_PEER), "--monitor", "full", "--interval", "1"], environment, ends)
        time.sleep(SETTLE_SECONDS)
        before = _seconds(ours), _seconds(theirs)
        time.sleep(SECONDS)
        used = _seconds(ours) - before[0], _seconds(theirs) - before[1]
    detail = f"{used[0] / SECONDS:.2%} of {used[1] / SECONDS:.2%} of a core, {GPUS} GPUs, {PROCESSES} processes"
    return report(NAME, used[0] / used[1], LIMIT, detail)


def _process(ends: ExitStack) -> int:
    child = subprocess.Popen(["/bin/sleep", "600"])
    ends.callback(child.wait)
    ends.callback(child.kill)
    return child.pid


def _scenario(pids: list[int]) -> str:
    parts = []
    for index in range(GPUS):
        parts.append(
            f"[gpu]\nname = NVIDIA A100-SXM4-80GB\nuuid = GPU-a1000000-0000-4000-8000-00000000000{index}\n"
            f"pci = 00000000:1{index}:00.0\nmemory = 81920\nused = 4096..77824/{60 + index}\nutilization = 20..99/{7 + index}\n"
            f"power = 90..400/{9 + index}\n"
        )
        parts += [f"process = {pid} c {1024 + pid % 512}\n" for pid in pids[index::GPUS]]
    return "".join(parts)


def _on_a_terminal(command: list[str], environment: Mapping[str, str], ends: ExitStack) -> int:
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
    child = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment, start_new_session=True)
    os.close(its)
    threading.Thread(target=_drain, args=(ours,), daemon=True).start()

    def end() -> None:
        os.killpg(child.pid, signal.SIGTERM)
        child.wait()

    ends.callback(end)
    return child.pid


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 1 << 16):
            pass
    except OSError:  # the program is gone, and its terminal with it
        os.close(descriptor)


def _seconds(pid: int) -> float:
    """The processor time of a program and of everything that it started and that runs still."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    children = [int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text("utf-8").split()]
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(_seconds, children))
