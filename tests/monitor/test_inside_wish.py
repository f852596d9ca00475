"""torch's snapshot of a program that runs, asked for from outside: a real interpreter, with a torch that is made up."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from gpuassist.monitor.run_place import TOLD, WISH
from tests.monitor.made_torch import Program

# The program is its own other side: it puts the wish down and waits for what came of it, as `session.torch_snapshot` does.
ASKS = """
import glob, os, sys, time, torch
torch.cuda.allocate(3000)
(ring,) = glob.glob(os.environ["GPUASSIST_RUN"] + "/*.ring")
stem = ring[:-5]
with open(stem + ".new", "w") as file: file.write({words!r})
os.rename(stem + ".new", stem + {wish!r})
until = time.monotonic() + 20
while not os.path.exists(stem + {told!r}) and time.monotonic() < until: time.sleep(0.02)
with open({outcome!r}, "w") as file: file.write(open(stem + {told!r}).read())
"""


def _asked(program: Program, tmp_path: Path, words: str) -> str:
    outcome = tmp_path / "outcome"
    program.run(ASKS.format(words=words, wish=WISH, told=TOLD, outcome=str(outcome)))
    return outcome.read_text()


@pytest.mark.parametrize(("seconds", "recorded"), [("0", None), ("0.2", {"max_entries": 1_000_000, "stacks": "python"})])
def test_a_snapshot_is_taken_when_it_is_asked_for(tmp_path: Path, seconds: str, recorded: object) -> None:
    path = tmp_path / "now.pickle"
    assert _asked(Program(tmp_path), tmp_path, f"{seconds} {path}\n") == str(path)
    assert pickle.loads(path.read_bytes())["recorded"] == recorded
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_goes_wrong_is_told_and_the_program_goes_on(tmp_path: Path) -> None:
    assert _asked(Program(tmp_path), tmp_path, "0 /no/such/place\n").startswith("!FileNotFoundError")
