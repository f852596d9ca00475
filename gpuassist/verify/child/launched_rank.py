"""This process as one rank of many, that torch's own launcher, Slurm or Kubernetes has started on one or more machines.

The ranks meet in the store at MASTER_ADDR, tell each other who they are, and go through the collectives; each reports all of it, so
that whoever started it knows the verdict, wherever the first rank runs.
"""

from __future__ import annotations

import os
import signal
import socket
from datetime import timedelta
from typing import Any, Dict, List, Tuple

from . import forks, ranks, worker
from .collectives import NAMES
from .devices import identify
from .place import Place, placed

NAME = "ranks"
ALONE = "there is only one rank, which has no other to exchange data with: start two or more"
NO_DISTRIBUTED = "this torch has no torch.distributed"
_ROLL_SECONDS = 10.0  # for the first rank's word of who is there, once the last one has come
_LAUNCHED_AGAIN = "TORCHELASTIC_RESTART_COUNT"


class NoGroupError(Exception):
    """Why the ranks are no group."""


class Reporter:
    """Whatever a rank says goes to one descriptor, line by line, with the device's name where it is about the checks."""

    def __init__(self, descriptor: int, world: int) -> None:
        self._descriptor, self.device = descriptor, "{} ranks".format(world)

    def say(self, line: Dict[str, Any]) -> None:
        """One line."""
        about_checks = line["type"] in ("check-begin", "check", "device-end")
        forks.write(self._descriptor, dict(line, device=self.device) if about_checks else line)

    def over(self) -> None:
        """The last two."""
        self.say({"type": "device-end"})
        self.say({"type": "end"})


def serve(descriptor: int, request: Dict[str, Any], torch: Any) -> int:
    """One rank from its start to its end; the exit status."""
    place = placed(os.environ)
    if place is None:
        raise LookupError("no launcher has started this process")
    reporter = Reporter(descriptor, place.world)
    if request.get("announced"):
        reporter.say({"type": "rank", "rank": place.rank})

    def refuse(words: str) -> None:
        reporter.say(dict(worker.about(torch), type="error", stage=NAME, error=words))

    own: Dict[str, Any] = {"host": socket.gethostname()}

    def last(why: str) -> None:
        refuse("rank {} of {} ({}): {}".format(place.rank, place.world, own["host"], why))

    joining = float(request["joining"])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # but for the watches, which tell of it: what is said is said to the end
    try:
        if not torch.distributed.is_available():
            raise NoGroupError(NO_DISTRIBUTED)
        if place.world == 1:
            raise NoGroupError(ALONE)
        with ranks.Watch(joining + 3 * _ROLL_SECONDS, last):
            own.update(_device(torch, place, request["devices"]))
            store = _meet(torch, place, own["host"], joining)
            board = ranks.Board(torch.distributed.PrefixStore("roll", store), place.rank, place.world)
            roll = _roll(board, own, joining)
    except NoGroupError as error:
        refuse(str(error))
        return 1
    reporter.say(_start(torch, reporter.device, roll))
    members = ranks.Members(place.rank, place.world, [_called(one) for one in roll])
    if own["device"] == "cpu":
        torch.set_num_threads(1)
    status = ranks.rank_main(
        torch, members, device=own["device"], store=lambda: store, report=reporter.say, level=request["level"], over=reporter.over
    )
    reporter.over()
    return status


def _device(torch: Any, place: Place, wishes: List[str]) -> Dict[str, Any]:
    """The one that is this rank's own: the only GPU that it sees, or that of its number on its machine."""
    nobody = {"device": "cpu", "pci": "", "accelerators": 0, "no_accelerator": ""}
    if wishes == ["cpu"]:
        return nobody
    count, reason = worker.accelerators(torch)
    if not count:
        return dict(nobody, no_accelerator=reason)
    index = 0 if count == 1 else place.local
    pci = identify(torch, index)["pci"] if index < count else ""
    return {"device": "cuda:{}".format(index), "pci": pci, "accelerators": count, "no_accelerator": ""}


def _meet(torch: Any, place: Place, host: str, seconds: float) -> Any:
    """The store at MASTER_ADDR, which torchrun keeps, or else the first rank. It waits for nobody: who is missing shall be told."""
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    kept_by_launcher = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    keeps, dist = place.rank == 0 and not kept_by_launcher, torch.distributed
    try:
        limit = timedelta(seconds=seconds)
        store = dist.TCPStore(address, port, place.world, keeps, timeout=limit, wait_for_workers=False)
    except (RuntimeError, OSError, ValueError) as error:
        words = str(error).strip().partition("\n")[0]
        who = "rank {} of {} ({})".format(place.rank, place.world, host)
        if keeps:
            raise NoGroupError("{}: it cannot listen at {}:{}: {}".format(who, address, port, words)) from error
        raise NoGroupError("{}: nobody answers at {}:{} within {:.0f} s: {}".format(who, address, port, seconds, words)) from error
    return dist.PrefixStore("gpuassist/{}".format(os.environ.get(_LAUNCHED_AGAIN, "0")), store)


def _roll(board: ranks.Board, own: Dict[str, Any], seconds: float) -> List[Dict[str, Any]]:
    """Who all of them are, by the first rank's word; raises `NoGroupError` where they cannot work together."""
    board.tell("here", own)
    if board.rank:
        told = board.read("roll", seconds + _ROLL_SECONDS)
        if told is None:
            raise NoGroupError("rank 0 of {}: no word of who is there for {:.0f} s".format(board.world, seconds))
    else:
        there = board.told("here", seconds)
        told = {"members": there, "error": _why_not(there, seconds)}
        board.publish("roll", told)
    if told["error"]:
        board.leave(ranks.LEAVE_SECONDS)
        raise NoGroupError(told["error"])
    members: List[Dict[str, Any]] = told["members"]
    return members


def _why_not(there: List[Any], seconds: float) -> str:
    """Why these cannot work together; empty where they can."""
    world = len(there)
    missing = [rank for rank, one in enumerate(there) if one is None]
    if missing:
        machines = ", ".join(sorted({one["host"] for one in there if one is not None}))
        which = "rank{} {}".format("s" if len(missing) > 1 else "", ", ".join(str(rank) for rank in missing))
        return "{} of {} did not come within {:.0f} s; the others are on {}".format(which, world, seconds, machines)
    for rank, one in enumerate(there):
        index = one["device"].partition(":")[2]
        if index and int(index) >= one["accelerators"]:
            words = "rank {} of {} ({}): it is the {}. of its machine, where torch sees {} GPUs"
            return words.format(rank, world, one["host"], int(index) + 1, one["accelerators"])
    without = [rank for rank, one in enumerate(there) if one["device"] == "cpu"]
    if without and len(without) < world:
        rank = without[0]
        words = "rank {} of {} ({}) has no GPU, and others have one: {}"
        return words.format(rank, world, there[rank]["host"], there[rank]["no_accelerator"].partition("\n")[0])
    return ""


def _called(one: Dict[str, Any]) -> str:
    return " ".join(words for words in (one["host"], one["device"], one["pci"]) if words)


def _start(torch: Any, device: str, roll: List[Dict[str, Any]]) -> Dict[str, Any]:
    checks = [{"name": name, "dtype": kind} for name, kind in NAMES]
    empty = {"uuid": "", "pci": "", "capability": "", "memory_total_bytes": 0, "code": worker.BINARY}
    joint = dict(empty, device=device, name=NAME, members=[_called(one) for one in roll], checks=checks)
    first, more = roll[0], worker.about(torch)
    return dict(more, type="start", devices=[joint], accelerators=first["accelerators"], no_accelerator=first["no_accelerator"])


def dead(rank: int, roll: Tuple[str, ...], words: str) -> str:
    """What is said of a rank that is no more."""
    return "{}: {}".format(ranks.Members(rank, len(roll), roll).called([rank]), words)
