"""Ranks that a launcher starts, by gloo on the CPU: they meet, all say the same, and whoever is missing or dies is named."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpuassist.verify.child.collectives import NAMES
from gpuassist.verify.child.place import Place, placed
from tests.torch_environment import CHILD, ReadyTorch
from tests.verify.conftest import PROJECT

Line = dict[str, Any]

_HEAD = f"""
import os, signal, threading
sys.path.insert(0, {PROJECT!r})
import torch
torch.set_num_threads(1)
import torch.distributed as dist
from gpuassist.verify.child import forks, launched_rank, main, ranks, torchrun
ranks.SECONDS, ranks._GATHER_SECONDS, ranks._GRACE_SECONDS, ranks.LEAVE_SECONDS = 1.0, 0.5, 0.5, 0.2
launched_rank._ROLL_SECONDS, torchrun._DEATH_SECONDS = 1.0, 1.0
FOLDER = __file__.rpartition("/")[0]
REQUEST = {{"devices": ["cpu"], "level": "quick", "launcher": ["env"], "joining": 2.0, "scratch": FOLDER, "script": {CHILD!r}}}
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2], GLOO_SOCKET_IFNAME="lo")

def on_rank(rank, do):
    real = dist.all_gather
    def instead(*given, **named):
        if dist.get_rank() == rank:
            do()
        return real(*given, **named)
    dist.all_gather = instead

def serve(rank, world, descriptor, **more):
    socket_name = "node" + str(rank // 2)
    launched_rank.socket.gethostname = lambda: socket_name
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank % 2))
    return launched_rank.serve(descriptor, dict(REQUEST, **more), torch)

def alone(*there, world=3):
    "The lines of each of these ranks, that srun or torchrun would have started."
    def rank(number, say):
        reading, writing = os.pipe()
        status = serve(number, world, writing)
        os.close(writing)
        with open(reading) as lines:
            for line in lines:
                say(json.loads(line))
        say({{"type": "status", "status": status}})
    own = [forks.start(lambda say, number=number: rank(number, say)) for number in there]
    found = [[] for _ in there]
    while any(one.status is None for one in own):
        for place, line in forks.hear(own, 0.2):
            found[place].append(line)
    forks.end(own)
    return found

def launched(world):
    "The report of a launcher that starts these."
    def agent(options, scratch, say):
        name, request = options.training_script_args[0], json.loads(options.training_script_args[1])
        rank = lambda number: lambda say: serve(number, world, main.opened(name), announced=True)
        own = [forks.start(rank(number)) for number in range(world)]
        while any(one.status is None for one in own):
            forks.hear(own, 0.1)
        died = {{str(number): one.death for number, one in enumerate(own) if one.death and os.WIFSIGNALED(one.status)}}
        say({{"type": "failures", "failures": died}})
    torchrun._agent = agent
    return report("--nproc_per_node", str(world))

def report(*options):
    reading, writing = os.pipe()
    torchrun.serve(writing, dict(REQUEST, launcher=["torchrun", *options]), torch)
    os.close(writing)
    with open(reading) as lines:
        return [json.loads(line) for line in lines]
"""


@pytest.fixture
def said(ready_torch: ReadyTorch, tmp_path: Path) -> Any:
    """What an expression gives where torch is."""

    def run(expression: str, before: str = "") -> Any:
        python = ready_torch.runs(tmp_path, f"{_HEAD}\n{before}\nprint(json.dumps({expression}), flush=True)")
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        done = subprocess.run([python, CHILD, "1", str(port)], capture_output=True, text=True, check=True, timeout=100)
        assert done.stdout, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def checks(lines: list[Line]) -> list[str]:
    return [line["verdict"] for line in lines if line["type"] == "check"]


PASSED = ["pass"] * len(NAMES)
BROKEN = ["pass", "pass", "pass", "error", "skipped", "skipped", "skipped"]


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, Place(3, 8, 1)),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "16", "SLURM_LOCALID": "1"}, Place(5, 16, 1)),
        # torchrun within a job of Slurm's
        ({"RANK": "0", "WORLD_SIZE": "2", "SLURM_PROCID": "1", "SLURM_NTASKS": "4"}, Place(0, 2, 0)),
        ({"RANK": "0"}, None),
        ({}, None),
    ],
)
def test_where_a_launcher_has_put_a_process(variables: dict[str, str], place: Place | None) -> None:
    assert placed(variables) == place


@pytest.mark.parametrize(("rank", "world"), [("two", "3"), ("3", "3"), ("-1", "3"), ("", "")])
def test_what_can_be_no_place(rank: str, world: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        placed({"RANK": rank, "WORLD_SIZE": world})


@pytest.mark.slow
def test_all_ranks_say_the_same(said: Any) -> None:
    first, *others = said("alone(0, 1, 2)")
    start = next(line for line in first if line["type"] == "start")
    assert start["devices"][0]["members"] == ["node0 cpu", "node0 cpu", "node1 cpu"]
    assert checks(first) == PASSED
    assert first[-2:] == [{"type": "end"}, {"type": "status", "status": 0}]
    for lines in others:
        assert [(line["type"], line.get("verdict"), line.get("error")) for line in lines] == [
            (line["type"], line.get("verdict"), line.get("error")) for line in first
        ]


_AFTER_THE_OTHER = """
launched_rank._ROLL_SECONDS = 60.0
told = ranks.Board.told
def after_the_other(board, key, seconds):
    assert board.read(key + "/2", 60.0)
    return told(board, key, seconds)
ranks.Board.told = after_the_other
"""


@pytest.mark.slow
def test_a_rank_that_never_comes_is_named_by_all(said: Any) -> None:
    for lines in said("alone(0, 2)", f"{_AFTER_THE_OTHER}\nREQUEST['joining'] = 0.3"):
        assert [line["type"] for line in lines] == ["error", "status"]
        assert lines[0]["error"] == "rank 1 of 3 did not come within 0 s; the others are on node0, node1"


@pytest.mark.slow
def test_the_others_say_which_one_was_lost(said: Any) -> None:
    lost = "lambda: os.kill(os.getpid(), signal.SIGKILL)"
    for lines in said("alone(0, 1, 2)", f"on_rank(2, {lost})")[:2]:
        (words,) = [line["error"] for line in lines if line.get("verdict") == "hung"]
        assert words == "rank 2 of 3 (node1 cpu): it said nothing while the others ended"
        assert lines[-2]["type"] == "end"


@pytest.mark.slow
def test_the_launcher_reports_what_its_ranks_say(said: Any) -> None:
    lines = said("launched(2)")
    assert [line["type"] for line in lines] == ["start", *["check-begin", "check"] * len(NAMES), "device-end", "end"]
    assert checks(lines) == PASSED


@pytest.mark.slow
def test_the_launcher_knows_how_a_rank_died(said: Any) -> None:
    lines = said("launched(2)", "on_rank(0, lambda: os.kill(os.getpid(), signal.SIGKILL))")
    assert checks(lines) == BROKEN
    (words,) = [line["error"] for line in lines if line.get("verdict") == "error"]
    assert words == "rank 0 of 2 (node0 cpu): the process was ended by SIGKILL"
    assert lines[-1]["type"] == "end"


_RANK = f"""
import json, os, sys
sys.path.insert(0, {PROJECT!r})
from gpuassist.verify.child.main import opened
place = [os.environ[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")]
if place[0] == "1":
    os.kill(os.getpid(), 9)
with open(opened(sys.argv[1]), "w") as told:
    print(json.dumps({{"type": "rank", "rank": int(place[0])}}), file=told)
    print(json.dumps({{"type": "error", "error": " ".join(place), "asked": json.loads(sys.argv[2])}}), file=told)
"""


@pytest.mark.slow
def test_torchs_own_launcher_starts_the_ranks(said: Any, tmp_path: Path) -> None:
    (tmp_path / "rank.py").write_text(_RANK, "utf-8")
    (line,) = said("report('--nproc_per_node', '2')", "REQUEST['script'] = FOLDER + '/rank.py'")
    assert (line["error"], line["asked"]["launcher"]) == ("0 2 0", ["env"])


@pytest.mark.slow
def test_what_torchrun_does_not_take(said: Any) -> None:
    wrong = ["--nodes-there 2", "train.py", "-m train", "--nproc_per_node 2 --no_python"]
    reports = said(f"[report(*options.split()) for options in {wrong!r}]")
    assert [[line["stage"] for line in lines] for lines in reports] == [["options"]] * len(wrong)
