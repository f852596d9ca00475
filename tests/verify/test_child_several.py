"""What several devices and processes do together, by gloo on the CPU: right, and whoever is wrong, dies or hangs is named."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.torch_environment import CHILD, ReadyTorch
from tests.verify.conftest import PROJECT

pytestmark = pytest.mark.slow

Line = dict[str, Any]

_HEAD = f"""
import os, signal, threading
sys.path.insert(0, {PROJECT!r})
import torch
torch.set_num_threads(1)
import torch.distributed as dist
from gpuassist.verify.child import forks, ranks, several
from gpuassist.verify.child.bench import QUICK, Bench
ranks.SECONDS, ranks._GATHER_SECONDS, ranks._GRACE_SECONDS = 1.0, 0.5, 0.5
several._START_SECONDS = 5.0
bench = Bench(torch, torch.device("cpu"), 64, 1, QUICK)

def on_rank(rank, do, name="all_gather"):
    real = getattr(dist, name)
    def instead(*given, **named):
        if dist.get_rank() == rank:
            do()
        return real(*given, **named)
    setattr(dist, name, instead)

def together(world):
    several._CPU_RANKS = world
    joint = [one for one in several.joints(["cpu"]) if one.kind == several.GROUP][0]
    return list(several.verify(torch, joint, bench))
"""


@pytest.fixture
def said(ready_torch: ReadyTorch, tmp_path: Path) -> Any:
    """The lines that code leaves in `lines`; it runs where torch is."""

    def run(code: str) -> list[Line]:
        head = f"{_HEAD}\nFOLDER = {str(tmp_path)!r}\nbench = bench._replace(scratch=FOLDER)\n"
        python = ready_torch.runs(tmp_path, f"{head}\n{code}\nprint(json.dumps(lines), flush=True)")
        done = subprocess.run([python, CHILD, "1"], capture_output=True, text=True, check=True, timeout=100)
        assert done.stdout, done.stderr
        found: list[Line] = json.loads(done.stdout.splitlines()[-1])
        return found

    return run


def verdicts(lines: list[Line]) -> dict[str, str]:
    return {f"{line['name']} {line['dtype']}": line["verdict"] for line in lines if line["type"] == "check"}


COLLECTIVES = (
    "all-reduce int64",
    "all-reduce fp32",
    "all-reduce bf16",
    "all-gather int64",
    "broadcast int64",
    "reduce-scatter int64",
    "send-receive int64",
)
UNTIL_GATHER = dict.fromkeys(COLLECTIVES[:3], "pass")
AFTER_GATHER = dict.fromkeys(COLLECTIVES[4:], "skipped")


def told_of(lines: list[Line], name: str) -> str:
    words: str = next(line["error"] for line in lines if line["type"] == "check" and line["name"] == name)
    return words


@pytest.mark.parametrize("world", [2, 4])
def test_ranks_that_are_sound_pass(said: Any, world: int) -> None:
    lines = said(f"lines = together({world})")
    assert verdicts(lines) == dict.fromkeys(COLLECTIVES, "pass")
    assert [line["type"] for line in lines] == ["check-begin", "check"] * len(COLLECTIVES) + ["device-end"]
    assert {line["device"] for line in lines} == {f"{world} ranks"}
    # each rank compares its result of all three runs: 64 * 64 elements, of gathering as many from each rank
    assert [line["compared"] for line in lines if line.get("name") == "broadcast" and "compared" in line] == [world * 3 * 64 * 64]
    assert [line["compared"] for line in lines if line.get("name") == "all-gather" and "compared" in line] == [
        world**2 * 3 * 64 * 64
    ]


CORRUPT = """
def corrupt(name, wrong):
    real, calls = getattr(dist, name), [0]
    def instead(*given, **named):
        done = real(*given, **named)
        calls[0] += 1
        if dist.get_rank() == 1 and calls[0] == 2:
            wrong(given[0])
        return done
    setattr(dist, name, instead)
def turn(tensor):
    tensor.view(-1)[-1] += 1
real_wait = dist.batch_isend_irecv
def received(operations):
    for work in real_wait(operations):
        work.wait()
    if dist.get_rank() == 1:
        turn(operations[1].tensor)
    return []
"""


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ("corrupt('all_reduce', turn)", "all-reduce int64"),
        ("corrupt('all_gather', lambda held: turn(held[0]))", "all-gather int64"),
        ("corrupt('broadcast', turn)", "broadcast int64"),
        ("corrupt('reduce_scatter', turn)", "reduce-scatter int64"),
        ("dist.batch_isend_irecv = received", "send-receive int64"),
    ],
)
def test_one_wrong_element_on_one_rank_fails_that_check_alone(said: Any, how: str, name: str) -> None:
    lines = said(f"{CORRUPT}\n{how}\nlines = together(2)")
    assert verdicts(lines) == {**dict.fromkeys(COLLECTIVES, "pass"), name: "fail"}
    assert told_of([line for line in lines if line.get("verdict") == "fail"], name.split()[0]).startswith("rank 1 of 2 (cpu): ")


@pytest.mark.parametrize(
    ("rank", "do", "verdict", "named"),
    [
        (2, "os.kill(os.getpid(), signal.SIGSEGV)", "error", "rank 2 of 3 (cpu): the process was ended by SIGSEGV"),
        (0, "os._exit(7)", "error", "rank 0 of 3 (cpu): the process ended with status 7"),
        (1, "threading.Event().wait()", "hung", "rank 1 of 3 (cpu): "),
        (0, "threading.Event().wait()", "hung", "rank 0 of 3 (cpu): "),
        (2, "[][1]", "error", "rank 2 of 3 (cpu) (and 2 more ranks): IndexError"),
    ],
)
def test_the_rank_that_dies_or_hangs_or_breaks_ends_the_group_and_is_named(
    said: Any, rank: int, do: str, verdict: str, named: str
) -> None:
    lines = said(f"on_rank({rank}, lambda: {do})\nlines = together(3)")
    assert verdicts(lines) == {**UNTIL_GATHER, "all-gather int64": verdict, **AFTER_GATHER}
    assert told_of(lines, "all-gather").startswith(named)


def test_two_processes_on_one_device(said: Any) -> None:
    lines = said("lines = list(several.verify(torch, several.joints(['cpu'])[0], bench))")
    (check,) = [line for line in lines if line["type"] == "check"]
    assert (check["verdict"], check["device"]) == ("pass", "cpu twice")
    assert check["compared"] > 0


@pytest.mark.parametrize(
    ("code", "verdict", "words"),
    [
        ("done.view(-1)[-1] += counts[0] == 3", "fail", "of 2: in run "),
        ("os.kill(os.getpid(), signal.SIGKILL)", "error", "of 2: the process was ended by SIGKILL"),
        ("raise RuntimeError('CUDA error: all CUDA-capable devices are busy or unavailable')", "skipped", "busy or unavailable"),
    ],
)
def test_one_of_two_processes_that_is_wrong_or_dies(said: Any, code: str, verdict: str, words: str) -> None:
    lines = said(
        f"""
real, counts = several.exact, [0]
def instead(*given):
    product = real(*given)
    def multiply():
        done = product.multiply()
        counts[0] += 1
        {code}
        return done
    return product._replace(multiply=multiply)
several.exact = instead
lines = list(several.verify(torch, several.joints(["cpu"])[0], bench))
"""
    )
    (check,) = [line for line in lines if line["type"] == "check"]
    assert check["verdict"] == verdict
    assert words in check["error"]


def test_what_there_is_for_each_number_of_devices(said: Any) -> None:
    names = said(
        "lines = [[one.device for one in several.joints(them)] for them in (['cpu'], ['cuda:0'], ['cuda:0', 'cuda:1', 'cpu'])]"
    )
    assert names == [
        ["cpu twice", "2 ranks"],
        ["cuda:0 twice"],
        ["cuda:0+cuda:1", "cuda:0 twice", "cuda:1 twice", "cpu twice", "2 ranks"],
    ]


PEERS = """
sys.path.insert(0, PROJECT)
from tests.verify.corrupting import emulated
joint = several.joints(["cpu:0", "cpu:1"])[0]
bench = bench._replace(device=torch.device("cpu:0"))
"""


def test_copies_between_two_gpus_in_both_directions(said: Any) -> None:
    lines = said(
        PEERS.replace("PROJECT", repr(PROJECT))
        + """
def verify():
    with emulated():
        return list(several.verify(torch, joint, bench))
lines = verify()
real, calls = torch.Tensor.copy_, [0]
def copy(self, other, *given):
    done = real(self, other, *given)
    calls[0] += 1
    if calls[0] == 4:
        done.view(-1)[1] ^= 1 << 40
    return done
torch.Tensor.copy_ = copy
lines += verify()
"""
    )
    assert [line["verdict"] for line in lines if line["type"] == "check"] == ["pass", "pass", "pass", "fail"]


def test_a_rank_that_its_launcher_ends_says_so(said: Any) -> None:
    lines = said(
        """
ranks.SECONDS = 60.0
on_rank(1, lambda: os.kill(os.getppid(), signal.SIGUSR1) or threading.Event().wait())
own = []
signal.signal(signal.SIGUSR1, lambda *_: os.kill(own[0].pid, signal.SIGTERM))
import tempfile
place = "file://" + os.path.join(tempfile.mkdtemp(dir=FOLDER), "store")
def rank(number, say):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    members = ranks.Members(number, 2)
    store, told = lambda: several._store(torch, place, members), say if number == 0 else lambda line: None
    ranks.rank_main(torch, members, device="cpu", store=store, report=told, level=QUICK)
own += [forks.start(lambda say, number=number: rank(number, say)) for number in range(2)]
lines = []
while own[0].status is None:
    lines += [line for _, line in forks.hear(own, 0.2)]
forks.end(own)
"""
    )
    assert verdicts(lines) == {**UNTIL_GATHER, "all-gather int64": "error", **AFTER_GATHER}
