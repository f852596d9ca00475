"""The ranks of a group: each goes through the collectives, and all of them know in the end what came of each.

Ranks agree on nothing by what they verify: outcomes, and what the first rank makes of them, pass through the store that brought
them together. The first rank decides, so that all say the same; a rank that loses the first one says that.
"""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
from datetime import timedelta
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import worker
from .bench import FULL, QUICK, Bench, Check, Skipped
from .collectives import COLLECTIVES, NAMES, Group, checked

SECONDS = 60.0  # for one check; NCCL takes some for eight GPUs to find each other
_GATHER_SECONDS = 5.0  # after that, all the others have said what came of it
_GRACE_SECONDS = 5.0
LEAVE_SECONDS = 1.0  # for those that wait for the first one's word to read it, where others never will
_LOOK_SECONDS = 0.1
_MEMORY_BYTES = 4 << 30  # at most, of what a rank holds in a check: it holds what every rank has
_ENDED = "the launcher ended the ranks, as it does when one of them dies; its own output names that one"

Report = Callable[[Dict[str, Any]], None]


class Watch:
    """Ends the rank that does not get on, or that its launcher ends; `last` says what is to be said then.

    A thread, since the rank itself may wait within NCCL, where no signal of Python's reaches it.
    """

    def __init__(self, seconds: float, last: Callable[[str], None]) -> None:
        self._seconds, self._last = seconds, last
        self.until = time.monotonic() + seconds
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._over = False
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Watch:
        if self._main:
            self._handler = signal.signal(signal.SIGTERM, lambda *_: None)
            self._descriptor = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.join()
        if self._main:
            signal.set_wakeup_fd(self._descriptor)
            signal.signal(signal.SIGTERM, self._handler)
        os.close(self._reading)
        os.close(self._writing)

    def again(self) -> None:
        """The rank got on."""
        self.until = time.monotonic() + self._seconds

    def _look(self) -> None:
        while not self._over:
            ready, _, _ = select.select([self._reading], [], [], _LOOK_SECONDS)
            ended = bool(ready) and signal.SIGTERM in os.read(self._reading, 64)
            if not ended and time.monotonic() < self.until:
                continue
            self._last(_ENDED if ended else "no answer for {:.0f} s".format(self._seconds))
            os._exit(1)


class Members(NamedTuple):
    """The place of this rank among all, and what each of them is called (empty: by its number alone)."""

    rank: int
    world: int
    names: Sequence[str] = ()

    def called(self, ranks: Sequence[int]) -> str:
        """These ranks, for a person who has to find them."""
        if len(ranks) == self.world > 1:
            return "all {} ranks".format(self.world)
        names = " ({})".format(", ".join(self.names[rank] for rank in ranks)) if self.names else ""
        return "rank{} {} of {}{}".format("s" if len(ranks) > 1 else "", _listed(ranks), self.world, names)


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(str(rank) for rank in ranks)


class Board:
    """What the ranks tell each other through a store. A store that is gone says nothing, and takes nothing."""

    def __init__(self, store: Any, rank: int, world: int) -> None:
        self._store, self.rank, self.world = store, rank, world

    def tell(self, key: str, told: Any) -> None:
        """Under this rank's name."""
        self.publish("{}/{}".format(key, self.rank), told)

    def publish(self, key: str, told: Any) -> None:
        """For all."""
        try:
            self._store.set(key, json.dumps(told))
        except RuntimeError:
            pass  # whoever waits for it will miss it

    def told(self, key: str, seconds: float) -> List[Any]:
        """What each rank has told; none of one that says nothing in that time."""
        until = time.monotonic() + seconds
        return [self.read("{}/{}".format(key, rank), max(until - time.monotonic(), 0.01)) for rank in range(self.world)]

    def read(self, key: str, seconds: float) -> Any:
        """None where nobody published it in that time."""
        try:
            self._store.wait([key], timedelta(seconds=seconds))
            return json.loads(self._store.get(key))
        except RuntimeError:  # also torch's own DistStoreError and DistNetworkError
            return None

    def leave(self, seconds: float) -> None:
        """The first rank, which may hold the store, leaves last."""
        self.tell("left", told=True)
        if not self.rank:
            self.told("left", seconds)


class _Rank(NamedTuple):
    """One rank at work: what it has, whom it tells, and the seconds that a check may take."""

    board: Board
    members: Members
    report: Report
    seconds: float

    def outcome(self, number: int, own: Dict[str, Any], began: float) -> Dict[str, Any]:
        """What came of that check over all ranks, by the first one's word."""
        self.board.tell("outcome/{}".format(number), dict(own, after=time.perf_counter() - began))
        if self.members.rank:
            found = self.board.read("found/{}".format(number), self.seconds + 2 * _GATHER_SECONDS)
            lost = "it does not answer, nor does the store that the ranks meet in"
            return found or {"verdict": "error", "error": "{}: {}".format(self.members.called([0]), lost)}
        said = self.board.told("outcome/{}".format(number), _GATHER_SECONDS)
        found = _together(said, self.members, "it said nothing while the others ended")
        self.board.publish("found/{}".format(number), found)
        return found

    def last(self, number: int, why: str) -> None:
        """Says what there is to say of a rank that ends in the middle."""
        if self.members.rank:
            found = _together([None], self.members, why, [self.members.rank])
        else:
            found = _together(self.board.told("outcome/{}".format(number), 0.0), self.members, why)
            self.board.publish("found/{}".format(number), found)
        line(self.report, number, found)
        leave_out(self.report, number + 1, why)
        if not self.members.rank and why != _ENDED:
            self.board.leave(LEAVE_SECONDS)


def rank_main(torch: Any, members: Members, *, device: str, store: Callable[[], Any], report: Report, **settings: Any) -> int:
    """One rank's part; each reports the same `check-begin` and `check` lines. 0 unless they could not go to the end.

    `settings`: `level`, `seconds` for one check, `tick`, and `over`, which is called last where the rank is ended.
    """
    seconds, over = float(settings.get("seconds", 0.0)) or SECONDS, settings.get("over", lambda: None)
    bench = _bench(torch, members, device, settings)
    if bench.on_gpu:
        torch.cuda.set_device(bench.device)
    joined, error = worker.attempt(lambda: _join(bench, members, store, seconds))
    if error is not None:
        causes = {"verdict": "skipped", "cause": error.cause} if isinstance(error, Skipped) else {"verdict": "error"}
        for number in range(len(NAMES)):
            line(report, number, dict(causes, error=worker.said(error)))
        return 1
    group, board = joined
    one, telling, told = _Rank(board, members, report, seconds), threading.Lock(), [0, 0]  # begun and done

    def last(why: str) -> None:
        with telling:
            if told[1] < len(NAMES):
                if told[0] == told[1]:
                    name, kind = NAMES[told[1]]
                    report({"type": "check-begin", "name": name, "dtype": kind})
                one.last(told[1], why)
            over()

    # longer than gloo itself waits, and the first rank the shortest, since it is the one to tell
    with Watch(seconds + _GATHER_SECONDS + _GRACE_SECONDS * (4 if members.rank else 1), last) as watch:
        for number, (name, kind, make) in enumerate(COLLECTIVES):
            watch.again()
            with telling:
                report({"type": "check-begin", "name": name, "dtype": kind})
                told[0] += 1
            began = time.perf_counter()
            own = worker.outcome_of(bench, Check(name, kind, checked(group, make)))
            found = one.outcome(number, own, began)
            broken = found["verdict"] in ("error", "hung")
            with telling:
                line(report, number, dict(found, seconds=time.perf_counter() - began))
                if broken:
                    leave_out(report, number + 1, "the ranks are not together any more")
                told[1] = len(NAMES) if broken else number + 1
            if broken:
                board.leave(LEAVE_SECONDS)
                return 1
        board.leave(_GATHER_SECONDS)
        if not bench.on_gpu:
            group.dist.destroy_process_group()  # NCCL's may wait for ever, and the process ends anyway
    return 0


def _bench(torch: Any, members: Members, device: str, settings: Dict[str, Any]) -> Bench:
    level, on_gpu = settings.get("level", FULL), device != "cpu"
    size = {(True, FULL): 4096, (True, QUICK): 1024, (False, FULL): 256, (False, QUICK): 64}[(on_gpu, level)]
    while 2 * members.world * size * size * 8 > _MEMORY_BYTES and size > 64:
        size //= 2
    return Bench(torch, torch.device(device), size, 10 if on_gpu else 2, level, settings.get("tick", lambda: None))


def _join(bench: Bench, members: Members, store: Callable[[], Any], seconds: float) -> Tuple[Group, Board]:
    dist, rank, world = bench.torch.distributed, members.rank, members.world
    if not dist.is_available():
        raise Skipped("this torch has no torch.distributed", "absent")
    if bench.on_gpu and not dist.is_nccl_available():
        raise Skipped("this torch has no NCCL", "absent")
    backend, limit, met = "nccl" if bench.on_gpu else "gloo", timedelta(seconds=seconds), store()
    # NCCL ends the whole process when it waited too long: the watch is to be first, since it says who was missing
    waits = limit * 10 if bench.on_gpu else limit
    dist.init_process_group(backend, store=dist.PrefixStore("group", met), rank=rank, world_size=world, timeout=waits)
    return Group(dist, rank, world, bench), Board(dist.PrefixStore("ranks", met), rank, world)


def _together(
    outcomes: List[Optional[Dict[str, Any]]], members: Members, why: str, ranks: Optional[Sequence[int]] = None
) -> Dict[str, Any]:
    """What came of a check over all ranks, or these: the worst of them, and which it was."""
    ranks = range(members.world) if ranks is None else ranks
    silent = [rank for rank, outcome in zip(ranks, outcomes) if outcome is None]
    there = [(rank, outcome) for rank, outcome in zip(ranks, outcomes) if outcome is not None]
    for verdict in ("fail", "error", "skipped"):
        those = [(rank, outcome) for rank, outcome in there if outcome["verdict"] == verdict]
        if verdict == "error" and silent:  # the others' errors are that they waited for it
            break
        if those:
            # whoever gave up last only waited for the first one
            rank, outcome = min(those, key=lambda one: float(one[1].pop("after")))
            others = len(those) - 1
            more = " (and {} more rank{})".format(others, "s" if others > 1 else "") if others else ""
            return dict(outcome, error="{}{}: {}".format(members.called([rank]), more, outcome["error"]))
    if silent:
        return {"verdict": "error" if why == _ENDED else "hung", "error": "{}: {}".format(members.called(silent), why)}
    for _, outcome in there:
        del outcome["after"]
    slowest = min((outcome for _, outcome in there), key=lambda outcome: float(outcome.get("rate", 0.0)))
    return dict(slowest, compared=sum(outcome["compared"] for _, outcome in there), notes={"ranks": str(members.world)})


def line(report: Report, number: int, outcome: Dict[str, Any]) -> None:
    """Tells what came of a check."""
    name, kind = NAMES[number]
    report(dict({"seconds": 0.0}, **dict(outcome, type="check", name=name, dtype=kind)))


def leave_out(report: Report, first: int, why: str) -> None:
    """Tells that the checks from the first one on are not run."""
    for number in range(first, len(NAMES)):
        line(report, number, {"verdict": "skipped", "cause": "lost", "error": "not run: {}".format(why)})
