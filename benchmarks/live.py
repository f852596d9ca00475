"""The live page: its CPU beside `nvitop` on the same eight GPUs, its longest gap while NVML hangs, and a soak at 50 Hz."""

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
from pathlib import Path

from benchmarks.timing import not_run, report

USAGE_LIMIT = 1.0
GAP_LIMIT = 50.0
SOAK_LIMIT = 50.0
USAGE_SECONDS, GAP_SECONDS, SOAK_SECONDS, SETTLE_SECONDS = 15.0, 10.0, 60.0, 5.0
GAP_ROUNDS = 3
_CHILD = str(Path(__file__).with_name("live_child.py"))
_PEER = Path(__file__).resolve().parent.parent / ".cache" / "peers" / "bin" / "nvitop"


def main(soak_seconds: float = SOAK_SECONDS) -> bool:
    """All three, on the tests' scripted NVML."""
    if shutil.which("gcc") is None:
        not_run("the live page's CPU, gap and soak", "needs gcc for the scripted NVML")
        return True
    from benchmarks.nvml import EIGHT_GPUS, variables

    with tempfile.TemporaryDirectory() as directory:
        ground = {**os.environ, "HOME": directory, "QT_QPA_PLATFORM": "offscreen", "PYQTGRAPH_QT_LIB": "PySide6"}
        eight = {**ground, **variables(Path(directory) / "eight", EIGHT_GPUS)}
        hanging = "fault = * 0 delay=4000\n[gpu]\n"
        slow = {**ground, **variables(Path(directory) / "slow", hanging)}
        kept = [_usage(eight), _gap(slow), _soak(eight, soak_seconds)]
    return all(kept)


def _usage(environment: Mapping[str, str]) -> bool:
    if not _PEER.exists():
        not_run("CPU of the live page at 1 Hz / nvitop", "needs nvitop (make bench installs it)")
        return True
    theirs = _share_on_a_terminal([str(_PEER), "--monitor", "full", "--interval", "1"], environment)
    ours = _figure("usage", USAGE_SECONDS, environment)
    detail = f"{ours:.2%} of {theirs:.2%} of a core, 8 GPUs"
    return report("CPU of the live page at 1 Hz / nvitop", ours / theirs, USAGE_LIMIT, detail)


def _gap(environment: Mapping[str, str]) -> bool:
    # What else this machine does can only lengthen a gap: the shortest of the longest is ours.
    gap = min(_figure("gap", GAP_SECONDS, environment) for _ in range(GAP_ROUNDS))
    return report("longest gap of the GUI thread in ms while every NVML call takes 4 s", gap, GAP_LIMIT)


def _soak(environment: Mapping[str, str], seconds: float) -> bool:
    fallen = _figure("soak", seconds, environment)
    return report(f"references lost in {seconds:.0f} s at 50 Hz", fallen, SOAK_LIMIT)


def _figure(way: str, seconds: float, environment: Mapping[str, str]) -> float:
    command = [sys.executable, _CHILD, way, str(seconds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=seconds + 120, check=True)
    return float(done.stdout)


def _share_on_a_terminal(command: list[str], environment: Mapping[str, str]) -> float:
    """The share of a core that a full-screen program uses once it has settled; it gets a terminal of its own."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    child = subprocess.Popen(
        command, stdin=its, stdout=its, stderr=its, env={**environment, "TERM": "xterm-256color"}, start_new_session=True
    )
    os.close(its)
    threading.Thread(target=_drain, args=(ours,), daemon=True).start()
    try:
        time.sleep(SETTLE_SECONDS)
        assert child.poll() is None, f"{command[0]} ended by itself"
        before, began = _ticks(child.pid), time.monotonic()
        time.sleep(USAGE_SECONDS)
        return (_ticks(child.pid) - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 1 << 16):
            pass
    except OSError:  # the program is gone, and its terminal with it
        os.close(descriptor)


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
