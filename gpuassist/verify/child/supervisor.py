"""Imports torch once, then lets a fork of itself check each device: what breaks one of them breaks that check alone.

It never touches CUDA itself, so that every fork starts it afresh: a worker that crashed, hung or lost its context is replaced
within milliseconds, and the next check goes on. Lines to the outside: `start` or `error` first; for every check of a device
`check-begin` and `check`; `device-end`; `end` last.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
import warnings
from typing import Any, Dict, List, NamedTuple, Optional

from . import forks, fresh, launched_rank, libraries, several, torchrun, worker
from .bench import FULL, Bench
from .devices import shown_by_driver

TIME = "not run: time"
_PIECE = 1 << 16
_LOOK_EVERY_SECONDS = 0.2
_LAST_WAIT_SECONDS = 2.0
_HANGS_AT_MOST = 2
_AT_LEAST = 0.5  # of the time for all checks, once the devices are known
_BREAKS_AT_MOST = 3  # deaths of workers between two checks
_ASK_NVML = "PYTORCH_NVML_BASED_CUDA_CHECK"


class Limits(NamedTuple):
    """Seconds: to start the driver and describe the devices, or a GPU, for a GPU and for a CPU to give a sign of life within a
    check, the same for a GPU whose code the driver compiles first, which may take minutes (CUDA C++ programming guide,
    just-in-time compilation), and for all checks of a device after torch was imported (0: no limit).
    """

    start: float
    gpu: float
    cpu: float
    compiling: float
    all: float


class Worker:
    """A fork that checks one device, or the one that first finds out which devices there are."""

    def __init__(self, device: Optional[str]) -> None:
        self.device = device
        self.pid = 0
        self.pipe = -1
        self.pending = b""
        self.status = 0
        self.running: Optional[Dict[str, str]] = None
        self.began = time.monotonic()  # its check
        self.done = False
        self.lost = False
        self.started = False  # it has ended a check, so the device's driver and context are there
        self.pages = 0
        self.pulse = mmap.mmap(-1, 8)
        self.live()

    def live(self) -> None:
        """A sign of life, which the supervisor sees without being told."""
        struct.pack_into("d", self.pulse, 0, time.monotonic())

    def look(self) -> None:
        """Who loads a large library from a slow disk moves on, however long that takes."""
        pages = forks.pages_loaded(self.pid)
        if pages != self.pages:
            self.pages = pages
            self.live()

    @property
    def last_seen(self) -> float:
        return float(struct.unpack_from("d", self.pulse, 0)[0])

    @property
    def silent_seconds(self) -> float:
        return time.monotonic() - self.last_seen


class Supervisor:
    """All workers of a run, and what became of each check."""

    def __init__(self, descriptor: int, request: Dict[str, Any], torch: Any) -> None:
        self._out, self._request, self._torch = descriptor, request, torch
        self._limits = Limits(**request["limits"])
        self._until = time.monotonic() + self._limits.all if self._limits.all else 0.0
        self._workers: List[Worker] = []
        self._planned: Dict[str, List[Dict[str, str]]] = {}
        self._count: Dict[str, int] = {}  # of the checks of a device that have ended
        self._hangs: Dict[str, int] = {}
        self._breaks: Dict[str, int] = {}
        self._compiling: List[str] = []  # for these torch holds code that the driver must compile first
        self._refused = False
        self._joints: Dict[str, several.Joint] = {}  # what needs several devices or processes, by its name
        self._waiting: List[str] = []  # of these, once all devices are done, one after the other

    def run(self) -> int:
        """To the end; the exit status."""
        self._fork(Worker(None))
        while self._workers and not self._refused:
            self._listen()
            for one in list(self._workers):
                self._look_at(one)
            if not self._workers and self._waiting and not self._refused:
                self._fork(Worker(self._waiting.pop(0)))
        for one in self._workers:
            self._end(one)
        if self._refused:
            return 1
        self._say({"type": "end"})
        return 0

    def _say(self, line: Dict[str, Any]) -> None:
        rest = (json.dumps(line, allow_nan=False) + "\n").encode()
        while rest:
            rest = rest[os.write(self._out, rest) :]

    # The workers

    def _fork(self, one: Worker) -> None:
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that threads of other libraries are not in the fork is known
            one.pid = os.fork()
        if one.pid:
            os.close(writing)
            one.pipe = reading
            self._workers.append(one)
            return
        error: Optional[BaseException] = None
        try:
            forks.end_with_parent()
            os.close(reading)
            os.close(self._out)
            if fresh.is_needed(self._torch) and fresh.is_possible() and one.device not in self._joints:
                alone = {device: checks for device, checks in self._planned.items() if device not in self._joints}
                fresh.become(writing, self._request, fresh.Start(one.device or "", alone, self._count, self._until))
            _, error = worker.attempt(lambda: self._work(one, worker.Report(writing, one.live)))
        finally:  # a fork never returns into its parent's code
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0 if error is None else 1)  # taking torch apart may hang on a broken driver, and proves nothing

    def work_for(self, start: fresh.Start) -> int:
        """Does what a fork of the supervisor would, in this interpreter; the exit status."""
        self._planned, self._count, self._until = start.planned, start.done, start.until
        report = worker.Report(self._out, lambda: None)
        report.alive = fresh.pulse(report.say)
        _, error = worker.attempt(lambda: self._work(Worker(start.device or None), report))
        return 0 if error is None else 1

    def _work(self, one: Worker, report: worker.Report) -> None:
        device, level = one.device, self._request["level"]
        if device is None:
            try:
                devices, count, reason = worker.wishes_to_devices(self._torch, self._request["devices"])
                told = [worker.describe(self._torch, name, level) for name in devices]
                told += [_described(joint) for joint in (several.joints(devices) if level == FULL else ())]
            except LookupError as error:
                report.say("error", stage="devices", error=str(error.args[0]), **worker.about(self._torch))
                return
            self._leave_some_time()
            there = shown_by_driver() if reason and self._torch.version.cuda else []
            found = {"devices": told, "accelerators": count, "no_accelerator": reason, "shown_by_driver": there}
            report.say("start", **found, **worker.about(self._torch))
            device, share = devices[0], len(devices)
        elif device in self._joints and fresh.is_needed(self._torch):
            report.say("left", device=device, cause="lost", error="not run: CUDA was started while torch was imported")
            return
        elif device in self._joints:
            self._work_on(self._joints[device], report)
            return
        else:
            share = len(self._planned) - len(self._joints)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = 0 if share == 1 else max(1, cores // share)
        task = worker.Task(level, self._count.get(device, 0), self._until, threads, self._request["scratch"])
        worker.verify(self._torch, report, device, task)

    def _work_on(self, joint: several.Joint, report: worker.Report) -> None:
        # Its own processes start CUDA, so it cannot ask how much is free.
        on_gpu = joint.members[0] != "cpu"
        size, repeats = (2048, 5) if on_gpu else (512, 3)
        device = self._torch.device(joint.members[0])
        bench = Bench(self._torch, device, size, repeats, FULL, report.alive, self._request["scratch"])
        for line in several.verify(self._torch, joint, bench, self._count.get(joint.device, 0)):
            report.say(line["type"], **{name: value for name, value in line.items() if name != "type"})

    def _leave_some_time(self) -> None:
        """For the checks, where the driver took long to start."""
        if self._until:
            self._until = max(self._until, time.monotonic() + self._limits.all * _AT_LEAST)

    def _listen(self) -> None:
        pipes = [one.pipe for one in self._workers]
        ready, _, _ = select.select(pipes, [], [], _LOOK_EVERY_SECONDS)
        for one in list(self._workers):
            if one.pipe not in ready:
                continue
            piece = os.read(one.pipe, _PIECE)
            one.pending += piece
            *lines, one.pending = one.pending.split(b"\n")
            for line in lines:
                self._take(one, json.loads(line))
            if not piece:
                self._bury(one)

    def _take(self, one: Worker, line: Dict[str, Any]) -> None:
        kind = line["type"]
        one.live()
        if kind == "alive":
            return
        if kind == "start":
            self._planned = {device["device"]: device["checks"] for device in line["devices"]}
            self._compiling = [device["device"] for device in line["devices"] if device["code"] == worker.PTX]
            alone = [device["device"] for device in line["devices"] if not device.get("members")]
            self._joints = {joint.device: joint for joint in several.joints(alone) if joint.device in self._planned}
            self._waiting = list(self._joints)
            one.device = alone[0]
            self._leave_some_time()
            self._say(line)
            for device in alone[1:]:
                self._fork(Worker(device))
            return
        if kind == "lost":
            one.lost = True
            return
        if kind == "left":
            one.done = True
            self._leave(line["device"], line["cause"], line["error"], line.get("figures"))
            return
        if kind == "error":
            self._refused = True
        elif kind == "check-begin":
            one.running, one.began = {name: line[name] for name in ("device", "name", "dtype")}, time.monotonic()
        elif kind == "check":
            one.running, one.started = None, True
            self._count[line["device"]] = self._count.get(line["device"], 0) + 1
        elif kind == "device-end":
            one.done = True
        self._say(line)

    # What goes wrong

    def _look_at(self, one: Worker) -> None:
        one.look()
        limit = self._limit(one)
        # A sign of life after the time was over: it goes on, so it does not hang, and need not be waited for.
        late = self._until and one.last_seen > self._until
        if one.silent_seconds >= limit:
            self._hung(one, limit)
        elif late and one.running is not None and self._count.get(one.device or "", 0):
            self._end(one)
            self._close(one, {"verdict": "skipped", "cause": "time", "error": TIME})
            self._leave(one.device or "", "time", TIME)

    def _limit(self, one: Worker) -> float:
        if one.device is None:
            return self._limits.start
        if one.device == "cpu":
            return self._limits.cpu
        if one.device in self._compiling:
            return self._limits.compiling
        if one.device in self._joints:
            return max(self._limits.start, self._limits.cpu)  # its processes watch each other, and say more than a limit here
        return self._limits.gpu if one.started else max(self._limits.start, self._limits.gpu)

    def _hung(self, one: Worker, limit: float) -> None:
        words = "no answer for {:.0f} s".format(limit)
        stuck = not self._end(one)
        if one.device is None:
            self._refused = True
            self._say(dict(worker.about(self._torch), type="error", stage="driver", hung=True, error=words))
            return
        self._hangs[one.device] = self._hangs.get(one.device, 0) + 1
        self._close(one, {"verdict": "hung", "error": words})
        if stuck:
            self._leave(one.device, "lost", "not run: the process of the check before cannot be ended, the driver holds it")
        elif not self._count.get(one.device, 0) > 1:
            self._leave(one.device, "lost", "not run: nothing runs on this GPU")
        elif self._hangs[one.device] >= _HANGS_AT_MOST:
            self._leave(one.device, "lost", "not run: {} checks of this device hung".format(_HANGS_AT_MOST))
        else:
            self._go_on(one.device)

    def _bury(self, one: Worker) -> None:
        """It closed its pipe: it is done, or it died."""
        self._end(one, patience=_LAST_WAIT_SECONDS)
        if one.done or self._refused:
            return
        if one.device is None:
            self._refused = True
            self._say(dict(worker.about(self._torch), type="error", stage="driver", error=forks.death(one.status)))
            return
        if one.running is not None:
            self._close(one, {"verdict": "error", "error": forks.death(one.status)})
        elif not one.lost:
            self._breaks[one.device] = self._breaks.get(one.device, 0) + 1
            if self._breaks[one.device] >= _BREAKS_AT_MOST:
                self._leave(one.device, "lost", "not run: {}".format(forks.death(one.status)))
                return
        self._go_on(one.device)

    def _go_on(self, device: str) -> None:
        """With the next check, in a new process; a group of ranks cannot begin in the middle."""
        group = device in self._joints and self._joints[device].kind == several.GROUP
        if group and self._count.get(device, 0) < len(self._planned[device]):
            self._leave(device, "lost", "not run: the group of ranks has ended")
            return
        if self._count.get(device, 0) == len(self._planned[device]):
            self._say({"type": "device-end", "device": device})
        elif self._until and time.monotonic() >= self._until:
            self._leave(device, "time", TIME)
        else:
            self._fork(Worker(device))

    def _leave(self, device: str, cause: str, words: str, figures: Optional[Dict[str, int]] = None) -> None:
        """Says of every check that has not run why it does not."""
        why = dict(figures or {}, seconds=0.0, verdict="skipped", cause=cause, error=words)
        for check in self._planned[device][self._count.get(device, 0) :]:
            self._say(dict(check, type="check", device=device, **why))
        self._say({"type": "device-end", "device": device})

    def _close(self, one: Worker, outcome: Dict[str, Any]) -> None:
        """Says what became of the check that it was at."""
        which = one.running or self._next(one.device or "")
        if one.running is None:
            self._say(dict(which, type="check-begin"))
        self._say(dict(which, type="check", seconds=max(0.0, time.monotonic() - one.began), **outcome))
        self._count[which["device"]] = self._count.get(which["device"], 0) + 1

    def _next(self, device: str) -> Dict[str, str]:
        return dict(self._planned[device][self._count.get(device, 0)], device=device)

    def _end(self, one: Worker, patience: float = 0.0) -> bool:
        """Ends it, and whether that was possible: a process in the hands of a driver that hangs is not even killed."""
        if one not in self._workers:
            return True
        self._workers.remove(one)
        os.close(one.pipe)
        deadline = time.monotonic() + patience
        killed = False
        while True:
            pid, status = os.waitpid(one.pid, os.WNOHANG)
            if pid:
                one.status = status
                return True
            if killed and time.monotonic() >= deadline:
                return False
            if not killed and time.monotonic() >= deadline:
                os.kill(one.pid, signal.SIGKILL)
                killed, deadline = True, time.monotonic() + _LAST_WAIT_SECONDS
            time.sleep(0.002)


def _described(joint: several.Joint) -> Dict[str, Any]:
    checks = [{"name": name, "dtype": kind} for name, kind in joint.checks]
    what = {"name": joint.kind, "uuid": "", "pci": "", "capability": "", "memory_total_bytes": 0, "code": worker.BINARY}
    return dict(what, device=joint.device, members=list(joint.members), checks=checks)


def serve(descriptor: int, request: Dict[str, Any]) -> int:
    """Imports torch, then checks the devices that the request names; the exit status."""
    forks.end_with_parent()
    if request.get("libraries"):  # what is loaded without any check, for comparing
        with os.fdopen(descriptor, "wb", 0) as channel:
            return libraries.serve(lambda line: channel.write((json.dumps(line) + "\n").encode()))
    # Where something asks for GPUs as torch is imported (a sitecustomize.py), NVML answers and not CUDA, which no fork could use
    # any more.
    given, began = os.environ.get(_ASK_NVML), time.perf_counter()
    os.environ.setdefault(_ASK_NVML, "1")
    torch, error = worker.attempt(lambda: importlib.import_module("torch"))
    if error is not None:
        line = {"type": "error", "stage": "import", "python": worker.python(), "error": worker.said(error)}
        os.write(descriptor, (json.dumps(line) + "\n").encode())
        return 1
    if given is None:
        del os.environ[_ASK_NVML]
    start = request.pop("worker", None)
    if start is None:
        imported = {"type": "imported", "seconds": time.perf_counter() - began}
        os.write(descriptor, (json.dumps(imported) + "\n").encode())
    if start is not None:
        status = Supervisor(descriptor, request, torch).work_for(fresh.Start(**start))
    elif request.get("launcher"):
        serving = launched_rank if request["launcher"] == ["env"] else torchrun
        status = serving.serve(descriptor, request, torch)
    else:
        status = Supervisor(descriptor, request, torch).run()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # as the workers do
