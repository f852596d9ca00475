"""Feeds broken and hostile input to everything that reads what others wrote, and says what came of it.

`python -m tools.fuzz [--seconds N] [--target NAME] [--seed N]` ends with 1 where there is a fault (an exception that nobody
expects), a hang, or a control character that reaches people. Each such input is kept, with the command that runs it again.
With Atheris installed, coverage leads the way; without, the inputs are made from the project's own cases by rules alone.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import multiprocessing
import os
import re
import resource
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from ctypes import c_double, c_long
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.fuzz_mutate import LARGEST, Mutator

HANG_SECONDS = 20.0
MEMORY_BYTES = 4 << 30
KEPT_OF_A_KIND = 3
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def raw_controls(words: str) -> bool:
    """The check of what people read: whether anything in it could steer a terminal, or turn the order of words round."""
    return _CONTROLS.search(words) is not None


@dataclass
class Tally:
    """What came of a target; `kinds` counts how often each fault was met, so that one cause fills no disk."""

    runs: int = 0
    faults: int = 0
    escapes: int = 0
    hangs: int = 0
    kinds: dict[str, int] = field(default_factory=dict)


class Judge:
    """Runs one input after another and keeps those that should not be."""

    def __init__(self, name: str, run: Callable[[bytes], str], keep: Callable[[str, str, bytes, str], None]) -> None:
        self._name, self._run, self._keep = name, run, keep
        self.tally = Tally()

    def take(self, data: bytes) -> None:
        """One input."""
        self.tally.runs += 1
        try:
            words = self._run(data)
        except Exception as error:  # noqa: BLE001 -- whatever comes out is what is looked for
            self.tally.faults += 1
            self._note("fault", _kind(error), data, traceback.format_exc())
            return
        if raw_controls(words):
            self.tally.escapes += 1
            self._note("escape", "escape", data, repr(_CONTROLS.search(words)))

    def _note(self, what: str, kind: str, data: bytes, words: str) -> None:
        met = self.tally.kinds[kind] = self.tally.kinds.get(kind, 0) + 1
        if met <= KEPT_OF_A_KIND:
            self._keep(self._name, what, data, words)


def _kind(error: Exception) -> str:
    """One cause is known by its exception and the place of ours that it came from."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if f"{os.sep}gpuassist{os.sep}" in one.filename]
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "tools"
    return f"{type(error).__name__} at {place}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the targets one after another, each in a process that is watched."""
    options = _options(arguments)
    if options.replay:
        return _replay(options.target, options.replay)
    results = Path(options.results)
    results.mkdir(parents=True, exist_ok=True)
    names = [options.target] if options.target else _names()
    whole = Tally()
    for name in names:
        tally = _watched(name, options.seconds / len(names), options.seed, results)
        print(f"{name}: {tally.runs} runs, {tally.faults} faults, {tally.escapes} escapes, {tally.hangs} hangs", flush=True)
        whole.faults += tally.faults + tally.hangs
        whole.escapes += tally.escapes
    return 1 if whole.faults or (whole.escapes and options.escapes == "fail") else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--target", choices=_names(), help="this one alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", default=os.path.join(tempfile.gettempdir(), "gpuassist-fuzz"), help="where inputs are kept")
    parser.add_argument(
        "--escapes", choices=("fail", "record"), default="fail", help="whether a raw control character is a failure"
    )
    parser.add_argument("--replay", metavar="FILE", help="runs one kept input of --target")
    return parser.parse_args(arguments)


def _names() -> list[str]:
    from tools.fuzz_targets import TARGETS

    return [one.name for one in TARGETS]


def _replay(name: str, file: str) -> int:
    from tools.fuzz_targets import TARGETS

    scratch = Path(tempfile.mkdtemp(prefix="gpuassist-fuzz-"))
    target = next(one for one in TARGETS if one.name == name)
    words = target.make(scratch)(Path(file).read_bytes())
    print(repr(words) if raw_controls(words) else words)
    return 1 if raw_controls(words) else 0


def _watched(name: str, seconds: float, seed: int, results: Path) -> Tally:
    """The tally of a target; its process is started anew where it hangs, or where it dies."""
    context = multiprocessing.get_context("fork")
    counts = context.Array(c_long, 4)  # runs, faults, escapes, hangs
    busy_since = context.Value(c_double, 0.0)
    scratch = Path(tempfile.mkdtemp(prefix="gpuassist-fuzz-"))
    deadline = time.monotonic() + seconds
    round_ = 0
    while time.monotonic() < deadline:
        work = _Work(name, seed + 1000 * round_, deadline, results, scratch, counts, busy_since)
        child = context.Process(target=work.go)
        child.start()
        why = _await(child, busy_since, deadline)
        if why:
            data = (scratch / "current").read_bytes() if (scratch / "current").exists() else b""
            counts[3] += 1
            _keep_in(results)(name, "hang", data, why)
        round_ += 1
    from tools.fuzz_targets import clear

    clear(scratch)
    return Tally(counts[0], counts[1], counts[2], counts[3])


def _await(child: Any, busy_since: Any, deadline: float) -> str:
    """Waits for the process; why it had to be ended, or how it died, and nothing where it went to its end."""
    while child.is_alive():
        child.join(0.2)
        since = busy_since.value
        if since and time.monotonic() - since > HANG_SECONDS:
            child.kill()
            child.join()
            return f"one input took more than {HANG_SECONDS:.0f} s"
        if (
            time.monotonic() - deadline > HANG_SECONDS
        ):  # it never came to its first input: instrumenting takes long on a busy machine
            child.kill()
            child.join()
            return ""
    return f"the process ended with {child.exitcode}" if child.exitcode and time.monotonic() < deadline else ""


@dataclass
class _Work:
    """What the watched process does: runs inputs until the time is over."""

    name: str
    seed: int
    deadline: float
    results: Path
    scratch: Path
    counts: Any
    busy_since: Any

    def go(self) -> None:
        """Never returns."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        guided = importlib.util.find_spec("atheris") is not None
        target, mutator = _prepared(self.name, self.seed, guided=guided)
        judge = Judge(self.name, target.make(self.scratch), _keep_in(self.results))
        before = list(self.counts)

        def take(data: bytes) -> None:
            (self.scratch / "current").write_bytes(data)
            self.busy_since.value = time.monotonic()
            judge.take(data[:LARGEST])
            self.busy_since.value = 0.0
            tally = judge.tally
            self.counts[:3] = [before[0] + tally.runs, before[1] + tally.faults, before[2] + tally.escapes]
            if time.monotonic() >= self.deadline:
                os._exit(0)

        for data in target.corpus():
            take(data)
        if guided:
            self._guided(take, target.corpus(), mutator)
        while True:
            take(mutator.next())

    def _guided(self, take: Callable[[bytes], None], corpus: Sequence[bytes], mutator: Mutator) -> None:
        """Never returns: libFuzzer keeps what reaches new code, and asks the mutator what to try next."""
        atheris = importlib.import_module("atheris")
        seeds = self.scratch / "corpus"
        seeds.mkdir(exist_ok=True)
        for place, data in enumerate(corpus):
            (seeds / f"{place:05d}").write_bytes(data)

        def mutate(data: bytes, most: int, _seed: int) -> bytes:
            return mutator.mutated(bytes(data))[:most]

        options = [f"-seed={self.seed + 1}", f"-max_len={LARGEST}", "-verbosity=0", "-timeout=600", "-rss_limit_mb=0"]
        atheris.Setup([sys.argv[0], str(seeds), *options], take, custom_mutator=mutate)
        atheris.Fuzz()


def _prepared(name: str, seed: int, *, guided: bool) -> tuple[Any, Mutator]:
    if guided:
        atheris = importlib.import_module("atheris")
        with atheris.instrument_imports(include=["gpuassist"], enable_loader_override=False):
            from tools.fuzz_targets import TARGETS
    else:
        from tools.fuzz_targets import TARGETS
    target = next(one for one in TARGETS if one.name == name)
    return target, Mutator(target.corpus(), seed)


def _keep_in(results: Path) -> Callable[[str, str, bytes, str], None]:
    def keep(name: str, what: str, data: bytes, words: str) -> None:
        path = results / f"{name}-{what}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(words, "utf-8", "backslashreplace")
        replay = shlex.join(["python", "-m", "tools.fuzz", "--target", name, "--replay", str(path)])
        print(f"{name}: {what}: {words.strip().rpartition(chr(10))[2][:200]!r}\n  again: {replay}", flush=True)

    return keep


if __name__ == "__main__":
    sys.exit(main())
