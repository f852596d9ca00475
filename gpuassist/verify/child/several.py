"""What needs more than one device, or one process: copies between two GPUs, two processes on one device, and all together.

Each of these runs in a process of its own that has not touched CUDA, a fork of the supervisor's. `joints` says what there is,
`verify` runs one of them and gives its lines, as a worker does for a device.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from datetime import timedelta
from functools import partial
from itertools import combinations
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from . import collectives, forks, ranks, worker
from .bench import Bench, Check, Measured, Skipped, Wrong, precision, same, tera
from .products import LARGE_K, exact
from .transfers import words

PAIR, TWICE, GROUP = "pair", "twice", "group"
_CPU_RANKS = 2
_START_SECONDS = 60.0  # for a process to start CUDA and to make its inputs
_PARENT_SECONDS = 40.0  # longer than the ranks need to say which of them does not answer
_LOOK_SECONDS = 0.2
_TOGETHER_SECONDS = 2.0
_TOGETHER_SECONDS_CPU = 0.2


class Joint(NamedTuple):
    """Several devices, or one device twice, and what is checked there; `device` names it as a device is named."""

    device: str
    kind: str
    members: Tuple[str, ...]
    checks: Tuple[Tuple[str, str], ...]  # names and formats


def joints(devices: Sequence[str]) -> Tuple[Joint, ...]:
    """What there is to verify for these devices, by torch's names."""
    gpus = [device for device in devices if device != "cpu"]
    pairs_there = [
        Joint("{}+{}".format(*pair), PAIR, pair, (("peer-copy", "int64"), ("peer-copy-back", "int64")))
        for pair in combinations(gpus, 2)
    ]
    twice = [Joint("{} twice".format(device), TWICE, (device, device), (("two-processes", "fp32"),)) for device in devices]
    members = tuple(gpus) if len(gpus) > 1 else ("cpu",) * _CPU_RANKS if not gpus and devices else ()
    together = [Joint("{} ranks".format(len(members)), GROUP, members, collectives.NAMES)] if members else []
    return (*pairs_there, *twice, *together)


def verify(torch: Any, joint: Joint, bench: Bench, first: int = 0) -> Iterator[Dict[str, Any]]:
    """The lines of its checks from the first one on; `lost` after an error, which a new process has to get over. `bench` is for
    level, size, repetitions and signs of life.
    """
    if joint.kind == GROUP:
        for line in _group(torch, joint, bench):
            yield dict(line, device=joint.device)
        yield {"type": "device-end", "device": joint.device}
        return
    for name, kind in joint.checks[first:]:
        which = {"device": joint.device, "name": name, "dtype": kind}
        yield dict(which, type="check-begin")
        target = joint.members[0] if name == "peer-copy-back" else joint.members[-1]
        run = at_once if joint.kind == TWICE else partial(peer_copy, source=next(one for one in joint.members if one != target))
        began, here = time.perf_counter(), bench._replace(torch=torch, device=torch.device(target))
        outcome = worker.outcome_of(here, Check(name, kind, run))
        yield dict(which, type="check", seconds=time.perf_counter() - began, **outcome)
        if outcome["verdict"] == "error" and joint.kind == PAIR:
            yield {"type": "lost", "device": joint.device}
            return
    yield {"type": "device-end", "device": joint.device}


def pairs(torch: Any, devices: Sequence[str], bench: Bench) -> Iterator[Dict[str, Any]]:
    """The lines of all copies between two GPUs."""
    for joint in joints(devices):
        if joint.kind == PAIR:
            yield from verify(torch, joint, bench)


# Two devices, or two processes


def peer_copy(bench: Bench, _kind: str, *, source: str) -> Measured:
    """From one GPU's memory into another's, directly where both can: each word is compared with what the other makes for itself."""
    torch, cuda, count = bench.torch, bench.torch.cuda, bench.size * bench.size // 2
    there = torch.device(source)
    direct = bool(cuda.can_device_access_peer(bench.device, there))
    values, expected = words(bench, count, there), words(bench, count, bench.device)
    target, seconds, compared = torch.empty_like(expected), 0.0, 0
    for number in range(bench.repeats + 1):
        torch.bitwise_not(expected, out=target)
        cuda.synchronize(there)
        bench.synchronize()
        began = time.perf_counter()
        target.copy_(values)
        cuda.synchronize(there)
        bench.synchronize()
        seconds += time.perf_counter() - began if number else 0.0
        compared += same(bench, target, expected, number)
    rate = count * 8 * bench.repeats / max(seconds, 1e-9) / 1e9
    return Measured(0.0, 0.0, rate, "GB/s", compared, {"peer_access": "yes" if direct else "no, through the host"})


def at_once(bench: Bench, kind: str) -> Measured:
    """Two processes on one device, each with exact products of its own while the other computes too."""
    waiting, go = os.pipe()
    own = [forks.start(partial(_one_of_two, bench, kind, (waiting, go))) for _ in range(2)]
    os.close(waiting)
    try:
        _answers(bench, own, "ready")
        os.close(go)
        go = -1
        found = _answers(bench, own, "done")
    finally:
        forks.end(own)
        if go >= 0:
            os.close(go)
    shared = min(line["ended"] for line in found) - max(line["began"] for line in found)
    if shared <= 0.0:
        raise RuntimeError("the two processes computed one after the other, not at once")
    rate, compared = sum(line["rate"] for line in found), sum(line["compared"] for line in found)
    return Measured(0.0, 0.0, rate, "TFLOP/s", compared, {"seconds_at_once": round(shared, 2)})


def _one_of_two(bench: Bench, kind: str, gate: Tuple[int, int], say: forks.Say) -> None:
    """In a fork: makes its inputs, waits for the other, multiplies."""
    waiting, go = gate
    os.close(go)
    interval = [0.0, 0.0]
    if not bench.on_gpu:
        bench.torch.set_num_threads(1)

    def run(bench: Bench, kind: str) -> Measured:
        product = exact(bench, kind, LARGE_K, lambda left, right: left @ right)
        with precision(bench.torch, tf32=False):
            compared, count = same(bench, product.multiply(), product.expected), 0
            say({"type": "ready"})
            os.read(waiting, 1)  # nothing ever comes: the other end is closed
            interval[0] = time.monotonic()
            while time.monotonic() - interval[0] < (_TOGETHER_SECONDS if bench.on_gpu else _TOGETHER_SECONDS_CPU):
                compared += same(bench, product.multiply(), product.expected, count + 1)
                count += 1
        bench.synchronize()
        interval[1] = time.monotonic()
        return Measured(0.0, 0.0, tera(product.operations * count, interval[1] - interval[0]), "TFLOP/s", compared)

    smaller = bench._replace(size=max(bench.size // 2, 64))  # two share the memory
    outcome = worker.outcome_of(smaller, Check("two-processes", kind, run))
    say(dict(outcome, type="done", began=interval[0], ended=interval[1]))


def _answers(bench: Bench, own: List[forks.Fork], wanted: str) -> List[Dict[str, Any]]:
    """A line of that type from each; raises what one of them says instead, or how it died."""
    found: Dict[int, Dict[str, Any]] = {}
    until = time.monotonic() + _START_SECONDS
    while len(found) < len(own):
        for place, line in forks.hear(own, _LOOK_SECONDS):
            _raise(place, line)
            if line["type"] == wanted:
                found[place] = line
        bench.tick()
        for place, one in enumerate(own):
            if place not in found and one.status is not None:
                raise RuntimeError("process {} of {}: {}".format(place + 1, len(own), one.death or "it ended too early"))
        if time.monotonic() >= until:
            silent = [str(place + 1) for place in range(len(own)) if place not in found]
            raise RuntimeError("process {} of {}: no answer for {:.0f} s".format(" and ".join(silent), len(own), _START_SECONDS))
    return [found[place] for place in range(len(own))]


def _raise(place: int, line: Dict[str, Any]) -> None:
    verdict, words_of_it = line.get("verdict", "pass"), "process {} of 2: {}".format(place + 1, line.get("error", ""))
    if verdict == "fail":
        raise Wrong(words_of_it)
    if verdict == "skipped":
        raise Skipped(words_of_it, line["cause"])
    if verdict != "pass":
        raise RuntimeError(words_of_it)


# All devices


def _group(torch: Any, joint: Joint, bench: Bench) -> Iterator[Dict[str, Any]]:
    """Starts a rank for each, hands on what the first one says, and ends all when one is lost or all are silent."""
    folder = tempfile.mkdtemp(dir=bench.scratch or None)
    method = "file://" + os.path.join(folder, "store")
    own = [forks.start(partial(_rank, joint, bench._replace(torch=torch), (method, rank))) for rank in range(len(joint.members))]
    begun, done, heard, why = 0, 0, time.monotonic(), ""
    try:
        while not why and any(one.status is None for one in own):
            for rank, line in forks.hear(own, _LOOK_SECONDS):
                if line["type"] == "error":
                    why = _named(joint, rank, line["error"])
                    continue
                begun, done, heard = begun + (line["type"] == "check-begin"), done + (line["type"] == "check"), time.monotonic()
                yield line
            bench.tick()
            why = why or (_trouble(joint, own, time.monotonic() - heard) if done < len(joint.checks) else "")
    finally:
        forks.end(own)
        shutil.rmtree(folder, ignore_errors=True)
    for place in range(done, len(joint.checks)):
        name, kind = joint.checks[place]
        which = {"name": name, "dtype": kind}
        if place == done and begun == done:
            yield dict(which, type="check-begin")
        words_of_it = why or "the ranks ended too early"
        broken = {"verdict": "error", "error": words_of_it}
        left = {"verdict": "skipped", "cause": "lost", "error": "not run: the ranks are not together any more"}
        yield dict(which, type="check", seconds=0.0, **(broken if place == done else left))


def _named(joint: Joint, rank: int, words_of_it: str) -> str:
    return "rank {} of {} ({}): {}".format(rank, len(joint.members), joint.members[rank], words_of_it)


def _trouble(joint: Joint, own: List[forks.Fork], silent: float) -> str:
    for rank, one in enumerate(own):
        if one.death:
            return _named(joint, rank, one.death)
    limit = ranks.SECONDS + _PARENT_SECONDS
    return "no rank said anything for {:.0f} s".format(limit) if silent >= limit else ""


def _rank(joint: Joint, bench: Bench, place: Tuple[str, int], say: forks.Say) -> None:
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all of them are here, and there may be no other network
    if not bench.on_gpu:
        bench.torch.set_num_threads(1)
    method, rank = place
    device, world = joint.members[rank], len(joint.members)
    members, told = ranks.Members(rank, world, joint.members), say if rank == 0 else lambda line: None
    store = partial(_store, bench.torch, method, members)
    ranks.rank_main(bench.torch, members, device=device, store=store, report=told, level=bench.level)


def _store(torch: Any, method: str, members: ranks.Members) -> Any:
    limit = timedelta(seconds=ranks.SECONDS)
    return next(torch.distributed.rendezvous(method, members.rank, members.world, timeout=limit))[0]
