"""Kills programs that record, at random moments, and reads what is left; then fills real disks while they record.

After each kill every sample that its writer saw committed must be there, in order and unchanged, and the next writer goes on in
the same file. `python tools/soak_recording.py [--runs N] [--seed N] [--directory DIR]` from the project's root prints what it
counted, and exits with 1 where anything was wrong. As root it also records to a small tmpfs until that is full, makes room, and
looks for every sample.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpuassist.model.sample import Sample
from gpuassist.monitor.sample_file import SampleFileError, SampleReader
from gpuassist.monitor.sample_writer import SampleWriter
from tests.monitor.samples import gpu, process, sample

LONGEST = 0.25
ROTATE_BYTES = 600_000
_FULL_BYTES = "600k"


def main() -> int:
    """Runs what was asked for and prints the report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="so many kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", default=None, help="where to make the recordings (default: the system's)")
    parser.add_argument("--act", nargs=2, metavar=("FILE", "FIRST"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.act:
        _record(options.act[0], int(options.act[1]))
    began, report, wrong = time.monotonic(), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(dir=options.directory) as scratch:
        _kills(Path(scratch), options.runs, chance=random.Random(options.seed), report=report, wrong=wrong)
        if os.geteuid() == 0:
            _full_disk(Path(scratch), report, wrong)
    print(json.dumps({**report, "wrong": wrong, "seconds": round(time.monotonic() - began)}, indent=1))
    return 1 if wrong else 0


def made(number: int) -> Sample:
    """The sample of that number: it can be told whether it is whole."""
    chance = random.Random(number)
    held = tuple(process(pid, chance.getrandbits(36), f"train.py {pid}") for pid in range(1 + number % 9))
    return sample(float(number), *(gpu(chance.getrandbits(36), *held, index=index) for index in range(2)))


def _record(path: str, first: int) -> None:
    """The child: tells each number once it is on the disk, until it is killed."""
    writer = SampleWriter(path, 1.0, rotate_bytes=ROTATE_BYTES)
    chance = random.Random(first)
    while True:
        count = chance.choice((1, 1, 1, 10, 100))
        writer.write([made(number) for number in range(first, first + count)])
        first += count
        os.write(1, f"{first}\n".encode())


def _kills(scratch: Path, runs: int, *, chance: random.Random, report: Counter[str], wrong: list[str]) -> None:
    path, first, place = "", 0, -1
    for number in range(runs):
        if number % 20 == 0:  # and so many runs one after the other in one file
            place, first = place + 1, 0
            path = str(scratch / f"{place}.db")
        command = [sys.executable, __file__, "--act", path, str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            begun = child.stdout.readline() if chance.random() < 0.7 else b""
            time.sleep(chance.random() * (LONGEST if begun else 2 * LONGEST))
            child.kill()
            told = (begun + child.stdout.read()).decode().split("\n")[:-1]
            said = child.stderr.read().decode()
        if said:
            wrong.append(f"run {number}: {said.strip().splitlines()[-1]}")
        committed = int(told[-1]) if told else first
        first = _judged(path, number, committed, report=report, wrong=wrong)
        report["kills"] += 1


def _judged(path: str, number: int, committed: int, *, report: Counter[str], wrong: list[str]) -> int:
    """The number of the sample that comes next."""
    if not os.path.exists(path):
        if committed:
            wrong.append(f"run {number}: the file is gone")
        return committed
    try:
        reader = SampleReader(path)
        found = list(reader.samples())
    except SampleFileError as error:
        wrong.append(f"run {number}: {error.reason.message}")
        return committed
    report["samples read"] = report["samples read"] + len(found)
    report["files"] = max(report["files"], len(reader.parts))
    if reader.damage or len(found) < committed or found != [made(one) for one in range(len(found))]:
        wrong.append(f"run {number}: {len(found)} of {committed} samples, {[one.message for one in reader.damage]}")
    return len(found)


def _full_disk(scratch: Path, report: Counter[str], wrong: list[str]) -> None:
    """A disk that fills up while it is recorded to, and gets room again."""
    disk = scratch / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_FULL_BYTES}", "tmpfs", str(disk)], check=True)
    try:
        (disk / "ballast").write_bytes(bytes(300_000))
        writer = SampleWriter(str(disk / "run.db"), 1.0)
        for number in range(3000):
            if not _written(writer, number):
                report["refused by a full disk"] += 1
                if report["refused by a full disk"] == 500:
                    (disk / "ballast").unlink()
                if report["refused by a full disk"] == 1000:
                    subprocess.run(["mount", "-o", "remount,size=64M", str(disk)], check=True)
        writer.close(2.0)
        found = list(SampleReader(str(disk / "run.db")).samples())
        if found != [made(number) for number in range(3000)]:
            wrong.append(f"full disk: {len(found)} of 3000 samples")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def _written(writer: SampleWriter, number: int) -> bool:
    try:
        writer.write([made(number)])
    except SampleFileError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
