"""Ranks that torch's own launcher starts on this machine, and perhaps on others that run the same.

The launcher runs in a fork, as `torchrun` itself would with these options; each rank on this machine tells its own lines to this
process through a socket that has no file. All ranks say the same, so that the first one that lives is heard; one whose socket
closes before its last word has died, and is named with what the launcher knows of its end.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import secrets
import select
import socket
import struct
import tempfile
import time
from functools import partial
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import forks, launched_rank, ranks, worker
from .collectives import NAMES

_OPTIONS = "options"
_RENDEZVOUS = ("nnodes", "rdzv", "master", "node-rank", "standalone", "local-addr")
_PLACES = ("PET_NNODES", "PET_RDZV_ENDPOINT", "PET_MASTER_ADDR", "PET_STANDALONE")
_RANKS = ("--nproc", "PET_NPROC_PER_NODE")
_CPU_RANKS = 2
_LOOK_SECONDS = 0.2
_PIECE = 1 << 16
_DEATH_SECONDS = 15.0  # torchrun looks after its ranks every 5 s, in older releases, and then ends the others
_SILENT_SECONDS = 40.0  # more than a rank needs to say which of them does not answer
_START_SECONDS = 60.0  # for the driver to say how many GPUs there are
_LAST_SECONDS = 10.0  # for the launcher to end after its ranks
_ENDS = ("end", "error")


class Heard:
    """What one rank on this machine has said."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.rank: Optional[int] = None
        self.lines: List[Dict[str, Any]] = []
        self.pending = b""
        self.closed = False

    @property
    def complete(self) -> bool:
        """Whether it said its last word."""
        return bool(self.lines) and self.lines[-1]["type"] in _ENDS

    @property
    def dead(self) -> bool:
        return self.closed and not self.complete

    def hear(self) -> bool:
        """Takes what there is, and whether that was anything new."""
        try:
            piece = self.connection.recv(_PIECE)
        except OSError:
            piece = b""
        if not piece:
            self.closed = True
            self.connection.close()
        *lines, self.pending = (self.pending + piece).split(b"\n")
        for told in map(json.loads, lines):
            if told["type"] == "rank":
                self.rank = told["rank"]
            elif told["type"] != "imported":
                self.lines.append(told)
        return bool(lines)


class Launch:
    """One launch: what its ranks on this machine say, made into one report."""

    def __init__(self, descriptor: int, joining: float, agent: forks.Fork, listener: socket.socket) -> None:
        self._descriptor, self._joining, self._agent, self._listener = descriptor, joining, agent, listener
        self._ranks: List[Heard] = []
        self._sent: List[Dict[str, Any]] = []
        self._failures: Dict[int, str] = {}  # how ranks ended, by the launcher's word
        self._words = ""  # why the launcher itself broke down
        self._heard = time.monotonic()

    @property
    def dead(self) -> bool:
        """Whether a rank on this machine ended before its last word."""
        return any(one.dead for one in self._ranks)

    def run(self) -> None:
        """To the end of all ranks here, or as long as there is hope."""
        began, death = time.monotonic(), 0.0
        while not self._over():
            ended = self._agent.status is not None
            self._listen()
            dead = self.dead
            if dead:
                death = death or time.monotonic()
            else:
                self._pass_on()
            now = time.monotonic()
            if ended and all(one.closed for one in self._ranks):
                break
            if dead and now - death >= _DEATH_SECONDS:
                break
            if not self._ranks and now - began >= self._joining + _SILENT_SECONDS:
                break
            if self._sent and now - self._heard >= ranks.SECONDS + _SILENT_SECONDS:
                break
        self._close()

    def _over(self) -> bool:
        return bool(self._sent) and self._sent[-1]["type"] in _ENDS and all(one.complete or one.closed for one in self._ranks)

    def _listen(self) -> None:
        agent = [self._agent.pipe] if self._agent.pipe >= 0 else []
        there = {one.connection.fileno(): one for one in self._ranks if not one.closed}
        ready, _, _ = select.select([self._listener.fileno(), *agent, *there], [], [], _LOOK_SECONDS)
        if self._listener.fileno() in ready:
            connection, _ = self._listener.accept()
            if _user_of(connection) == os.getuid():
                self._ranks.append(Heard(connection))
            else:
                connection.close()  # anybody can speak to a socket that has no file
        for number in ready:
            if number in there and there[number].hear():
                self._heard = time.monotonic()
        for _, told in forks.hear([self._agent], 0.0):
            if told["type"] == "failures":
                self._failures = {int(rank): words for rank, words in told["failures"].items()}
            self._words = told.get("error", "")

    def _pass_on(self) -> None:
        """What the first rank that lives says, from where the one before it fell silent."""
        there = sorted((one for one in self._ranks if one.rank is not None and not one.dead), key=lambda one: one.rank or 0)
        for told in there[0].lines[len(self._sent) :] if there else ():
            self._say(told)

    def _say(self, told: Dict[str, Any]) -> None:
        self._sent.append(told)
        forks.write(self._descriptor, told)

    # The end

    def _close(self) -> None:
        """Says what is left to say when no rank here will say it."""
        if self._sent and self._sent[-1]["type"] in _ENDS:
            return
        started = next((told for told in self._sent if told["type"] == "start"), None)
        if started is None:
            # a rank that refuses says why; it is heard where another died before
            refused = next((one.lines[-1] for one in self._ranks if one.lines and one.lines[-1]["type"] == "error"), None)
            self._say(refused or {"type": "error", "stage": launched_rank.NAME, "python": worker.python(), "error": self._why(())})
            return
        (joint,) = started["devices"]
        why, done = self._why(tuple(joint["members"])), sum(told["type"] == "check" for told in self._sent)
        report = partial(self._about, joint["device"])
        if done < len(NAMES):
            name, kind = NAMES[done]
            if self._sent[-1]["type"] != "check-begin":
                report({"type": "check-begin", "name": name, "dtype": kind})
            ranks.line(report, done, {"verdict": "error", "error": why})
            ranks.leave_out(report, done + 1, "the ranks are not together any more")
        report({"type": "device-end"})
        self._say({"type": "end"})

    def _about(self, device: str, told: Dict[str, Any]) -> None:
        self._say(told if told["type"] == "end" else dict(told, device=device))

    def _why(self, members: Tuple[str, ...]) -> str:
        dead = [one.rank for one in self._ranks if one.dead and one.rank is not None]
        # whom the launcher ended because of another one has no failure of its own to it
        first = next((rank for rank in dead if rank in self._failures), dead[0] if dead else None)
        if first is not None:
            words = self._failures.get(first, "the process ended before it was done")
            return launched_rank.dead(first, members, words) if members else "rank {}: {}".format(first, words)
        if self._failures:
            rank, words = next(iter(self._failures.items()))
            return "rank {}: {}".format(rank, words)
        if self._words:
            return "torchrun: {}".format(self._words)
        if self._agent.status is not None:
            return "torchrun: {}".format(self._agent.death or "it ended before its ranks were done")
        if self._ranks:
            return "no rank on this machine said anything for {:.0f} s".format(ranks.SECONDS + _SILENT_SECONDS)
        return "torchrun started no rank within {:.0f} s: the machines did not find each other".format(self._joining)


def serve(descriptor: int, request: Dict[str, Any], torch: Any) -> int:
    """Launches the ranks of this machine and reports what comes of them; the exit status."""
    refuse = partial(_refuse, descriptor, torch)
    if not torch.distributed.is_available():
        return refuse(launched_rank.NAME, launched_rank.NO_DISTRIBUTED)
    name = "gpuassist-{}".format(secrets.token_hex(16))
    given, own = request["launcher"][1:], dict(request, launcher=["env"], announced=True)
    program = [request["script"], "@" + name, json.dumps(own)]
    options, words = _read([*given, *_usual(torch, given, request["devices"]), *program])
    if options is None:
        return refuse(_OPTIONS, words)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind("\0" + name)
        listener.listen(256)
        agent = forks.start(partial(_agent, options, request["scratch"]))
        try:
            launch = Launch(descriptor, float(request["joining"]), agent, listener)
            launch.run()
            # it may keep the store that ranks on other machines still read
            until = time.monotonic() + (0.0 if launch.dead else _LAST_SECONDS)
            while agent.status is None and time.monotonic() < until:
                forks.hear([agent], _LOOK_SECONDS)
        finally:
            forks.end([agent])
    return 0


def _refuse(descriptor: int, torch: Any, stage: str, words: str) -> int:
    forks.write(descriptor, dict(worker.about(torch), type="error", stage=stage, error=words))
    return 1


def _usual(torch: Any, given: Sequence[str], devices: Sequence[str]) -> List[str]:
    """What is meant where nothing is said: a rank for each GPU, on this machine alone, at a port that is free."""
    names = [word.lstrip("-").partition("=")[0].replace("_", "-") for word in given if word.startswith("--")]
    added = []
    if not any(name.startswith("nproc") for name in names) and "PET_NPROC_PER_NODE" not in os.environ:
        count = _count(torch) if list(devices) != ["cpu"] else 0
        added.append("--nproc_per_node={}".format(count or _CPU_RANKS))
    if not any(name.startswith(_RENDEZVOUS) for name in names) and not any(place in os.environ for place in _PLACES):
        added.append("--standalone")
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all of them are here, and there may be no other network
    return added


def _count(torch: Any) -> int:
    """How many GPUs torch sees, asked in a fork: this process must not start CUDA, or no fork of it could use it."""
    own, found, until = (
        [forks.start(lambda say: say({"count": worker.accelerators(torch)[0]}))],
        0,
        time.monotonic() + _START_SECONDS,
    )
    while own[0].status is None and time.monotonic() < until:
        for _, told in forks.hear(own, _LOOK_SECONDS):
            found = told.get("count", 0)
    forks.end(own)
    return int(found)


def _read(arguments: List[str]) -> Tuple[Any, str]:
    """The options as torchrun itself reads them; none, and what it says of them, where it does not take them."""
    run, said = importlib.import_module("torch.distributed.run"), io.StringIO()
    script = arguments[-3]
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            options = run.parse_args(arguments)
    except SystemExit:
        lines = said.getvalue().strip().splitlines()
        return None, lines[-1].partition("error: ")[2] or lines[-1] if lines else "it takes no such options"
    if options.training_script != script:
        return None, "{} is no option: the program to run is gpuassist's own".format(options.training_script)
    for name in ("module", "no_python", "run_path"):
        if getattr(options, name, False):
            return None, "--{}: the program to run is gpuassist's own".format(name.replace("_", "-"))
    return options, ""


def _agent(options: Any, scratch: str, say: forks.Say) -> None:
    """In a fork: torch's own launcher, to its end. It leaves the directory of its logs behind."""
    tempfile.tempdir = scratch or None
    run, errors = (importlib.import_module("torch.distributed." + name) for name in ("run", "elastic.multiprocessing.errors"))
    try:
        run.run(options)
    except errors.ChildFailedError as error:
        failures = sorted(error.failures.items(), key=lambda one: float(one[1].timestamp))
        say({"type": "failures", "failures": {str(rank): _ended(one.exitcode) for rank, one in failures}})


def _ended(status: int) -> str:
    """As `forks.death`, of a status of Python's own."""
    return forks.death(-status if status < 0 else status << 8)


def _user_of(connection: socket.socket) -> int:
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", told)[1])
