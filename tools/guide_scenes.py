"""The scenes of the guide's newer pages, for `guide_pictures.py`: files that torch left, an estimate, terms, other machines."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tools.kept_pictures import Shots, keep
from tools.screenshots import SETTLED_MILLISECONDS

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.session.other_machine import OtherMachine
    from gpuassist.ui.application import WindowRun
    from tests.snapshots import MadeSnapshot

ROOT = Path(__file__).resolve().parents[1]
NVCC_TOO_OLD = "02-rtx-4090-cuda-11-7-first"
MIB = 1 << 20
DAY_SECONDS = 86_400
# meta-llama/Llama-3.1-8B: what its config.json says of its size
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
# A training that waits for its data, as many do: what torch's profiler writes of it.
TRAINING = """
import sys, torch
from torch.utils.data import DataLoader, Dataset

class Pictures(Dataset):
    def __len__(self):
        return 240
    def __getitem__(self, number):
        picture = torch.rand(3, 320, 320)
        for _ in range(2):  # augmentation, one picture at a time
            picture = torch.nn.functional.avg_pool2d(picture, 3, 1, 1)
        return picture[:, ::5, ::5], number % 10

model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 62 * 62, 10))
optimizer = torch.optim.AdamW(model.parameters())
torch.set_num_threads(1)
with torch.profiler.profile(with_stack=True) as profiler:
    for pictures, labels in DataLoader(Pictures(), batch_size=16):
        loss = torch.nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
profiler.export_chrome_trace(sys.argv[1])
"""


def made(run: WindowRun, folder: Path) -> Shots:
    """What needs no program that runs: a memory snapshot, an estimate, and the terms of a page."""
    from PySide6.QtGui import QAction

    from gpuassist.model.estimate import EstimateSetting
    from gpuassist.session.navigation import GoTo, ToEstimate, ToSnapshot, WizardStep
    from gpuassist.ui.page import OpenExample
    from gpuassist.ui.pages.snapshot.page import SnapshotPage
    from gpuassist.ui.widgets.term_panel import TermPanel

    assert run.frame is not None
    home = Path(os.environ["HOME"])
    (home / "peak.pickle").write_bytes(pickle.dumps(leaking().told))
    (home / "Llama-3.1-8B").mkdir()
    (home / "Llama-3.1-8B" / "config.json").write_text(json.dumps(CONFIG))
    run.frame.pages.machine_page.asked.emit(OpenExample(NVCC_TOO_OLD))
    yield 2 * SETTLED_MILLISECONDS
    run.frame.go(GoTo(WizardStep.FOUND))
    yield SETTLED_MILLISECONDS
    (keys,) = (one for one in run.window.findChildren(QAction) if one.shortcut().toString() == "Shift+F1")
    keys.trigger()
    yield SETTLED_MILLISECONDS
    panel = run.window.findChildren(TermPanel)[0]
    yield from keep(run, folder, "terms", panel.grab)
    panel.reject()
    config = home / "Llama-3.1-8B" / "config.json"
    run.frame.go(ToEstimate(str(config), EstimateSetting(batch=2, checkpointing=True, lora=16)))
    yield 3 * SETTLED_MILLISECONDS
    yield from keep(run, folder, "estimate")
    run.frame.go(ToSnapshot(str(home / "peak.pickle")))
    yield from _until_idle(run.window.findChildren(SnapshotPage)[0])
    yield from keep(run, folder, "snapshot")


def _until_idle(page: object) -> Shots:
    yield 2 * SETTLED_MILLISECONDS
    while getattr(page, "busy", False):
        yield SETTLED_MILLISECONDS
    yield SETTLED_MILLISECONDS


def leaking() -> MadeSnapshot:
    """A training of a small transformer that keeps each step's loss with its graph."""
    from tests.snapshots import MadeSnapshot

    class Reused(MadeSnapshot):
        """What was freed is taken again, as an allocator does."""

        free_places: ClassVar[dict[int, list[int]]] = {}

        def alloc(self, size: int, *lines: tuple[str, int, str]) -> int:
            waiting, at = self.free_places.get(size, []), self._next
            if not waiting:
                return super().alloc(size, *lines)
            self._next = waiting.pop()
            address = super().alloc(size, *lines)
            self._next = at
            return address

        def free(self, address: int, *lines: tuple[str, int, str]) -> None:
            self.free_places.setdefault(self._living[address][0], []).append(address)
            super().free(address, *lines)

    made = Reused()
    module = ("/home/you/.venv/lib/python3.12/site-packages/torch/nn/modules/module.py", 1784, "_call_impl")
    adam = ("/home/you/.venv/lib/python3.12/site-packages/torch/optim/adamw.py", 174, "_init_group")
    main, build = ("/home/you/train.py", 88, "<module>"), ("/home/you/train.py", 31, "build")
    for place, size, count in (((42, "Embedding"), 260, 1), ((18, "Block"), 96, 24), ((57, "Head"), 260, 1)):
        for _ in range(count):
            made.alloc(size * MIB, ("/home/you/model.py", place[0], place[1]), build, main)
    step = ("/home/you/train.py", 64, "step")
    kept: list[int] = []
    for number in range(36):
        batch = made.alloc(48 * MIB, ("/home/you/data.py", 23, "collate"), step, main)
        forward = [made.alloc(170 * MIB, module, ("/home/you/model.py", 26, "forward"), step, main) for _ in range(24)]
        forward.append(made.alloc(640 * MIB, module, ("/home/you/model.py", 61, "logits"), step, main))
        kept.append(made.alloc(210 * MIB, ("/home/you/train.py", 70, "remember"), step, main))
        for one in reversed(forward):
            made.free(one, step, main)
        if number == 0:
            for _ in range(26):
                made.alloc(200 * MIB, adam, ("/home/you/train.py", 66, "step"), main)
        made.free(batch, step, main)
    for number, event in enumerate(made.events):
        event["time_us"] += number * 9000  # a step takes half a second
    return made


def trace(home: Path) -> None:
    """Has torch's profiler write one in that home."""
    (home / "train.py").write_text(TRAINING)
    python = ROOT / ".venv-torch" / "bin" / "python"
    subprocess.run([python, home / "train.py", home / "trace.json"], check=True, cwd=home, stderr=subprocess.DEVNULL)


def traced(run: WindowRun, folder: Path) -> Shots:
    """What that trace says."""
    from PySide6.QtWidgets import QAbstractButton

    from gpuassist.session.navigation import ToProfile
    from gpuassist.ui.pages.profile.page import ProfilePage

    assert run.frame is not None
    while not run.frame.flow.inspected:
        yield SETTLED_MILLISECONDS
    run.frame.go(ToProfile(str(Path(os.environ["HOME"], "trace.json"))))
    yield SETTLED_MILLISECONDS
    page = run.window.findChildren(ProfilePage)[0]
    yield from _until_idle(page)
    less = (one for one in page.findChildren(QAbstractButton) if one.isVisible() and one.text() == "Less")
    for button in less:  # so that the shares below it are seen
        button.click()
    yield SETTLED_MILLISECONDS
    yield from keep(run, folder, "profile")


def served(run: WindowRun, folder: Path) -> Shots:
    """Four GPUs of two machines, as a Prometheus server tells of them: the last day of each."""
    from PySide6.QtWidgets import QComboBox

    from gpuassist.session.navigation import ToServer
    from tests.monitor.scripted_prometheus import ScriptedPrometheus, card
    from tests.scripted_http import serving

    class Day(ScriptedPrometheus):
        def _values(self, labels: Mapping[str, str], value: Mapping[str, str], begin: float, end: float) -> list[list[object]]:
            if not labels["__name__"].endswith(("USED", "FREE")):
                return [[at, value["value"]] for at in _times(begin, end, self.ranges[-1][2])]
            used = [(at, _used(labels["Hostname"], int(labels["gpu"]), at)) for at in _times(begin, end, self.ranges[-1][2])]
            return [[at, str(one if labels["__name__"].endswith("USED") else 80_000 - one)] for at, one in used]

    assert run.frame is not None
    now = time.time()
    cards = [card(host, gpu, _used(host, gpu, now)) for host in ("node1", "node2") for gpu in (0, 1)]
    while not run.frame.flow.inspected:
        yield SETTLED_MILLISECONDS
    with serving(Day(cards, now=now)) as server:
        run.frame.go(ToServer(server.address))
        yield 4 * SETTLED_MILLISECONDS
        shown = (one for one in run.window.findChildren(QComboBox) if one.accessibleName() == "Time range" and one.isVisible())
        for choice in shown:
            choice.setCurrentIndex(choice.findData(DAY_SECONDS))
            choice.activated.emit(choice.currentIndex())
        yield 2 * SETTLED_MILLISECONDS
        yield from keep(run, folder, "fleet")


def _times(begin: float, end: float, step: float) -> list[float]:
    return [begin + step * number for number in range(int((end - begin) / step) + 1)]


def _used(host: str, gpu: int, at: float) -> int:
    """MiB: trainings of some hours with pauses, and one that grows."""
    hours = at / 3600 + 5 * gpu + (3 if host == "node2" else 0)
    if (host, gpu) == ("node2", 1):
        return 18_000 + int(2400 * (hours % 24))
    works = hours % 8 < 6.4
    return int(61_000 + 4000 * math.sin(hours * 9)) if works else 900


def another_of(session: Session) -> OtherMachine:
    """A recorded machine in the place of one that ssh reaches."""
    from gpuassist.model.machine import Machine, decode_machine
    from gpuassist.model.text import Text
    from gpuassist.session.other_machine import OtherMachine

    class Recorded(OtherMachine):
        def machine(self, *, tell: Callable[[Text], None] = print, ends: Callable[[], bool] = bool) -> Machine:
            return decode_machine(json.loads((ROOT / "resources" / "machines" / f"{NVCC_TOO_OLD}.json").read_text()))

    return Recorded(session, "server")


def another(run: WindowRun, folder: Path) -> Shots:
    """What the window of another machine says."""
    from gpuassist.session.navigation import GoTo, WizardStep

    assert run.frame is not None
    while not run.frame.flow.inspected:
        yield SETTLED_MILLISECONDS
    run.frame.go(GoTo(WizardStep.FOUND))
    yield 2 * SETTLED_MILLISECONDS
    yield from keep(run, folder, "server")
