"""What is asked: the model, whether it is trained or answers, and how; each choice has what is usual in front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuassist.model.estimate import (
    AttentionKernel,
    EstimateSetting,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Task,
)
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.estimate import OFFLOADS, OPTIMIZERS, PRECISIONS, QUANTIZATIONS, SHARDINGS
from gpuassist.ui.widgets.buttons import PartChoice, Tick, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import EvenColumns, FlowLayout, add_layout, bare, by_text
from gpuassist.ui.widgets.segments import Segments
from gpuassist.ui.widgets.text_fields import TextLine
from gpuassist.ui.wording import as_tip

_LEAST_MODEL = 120  # pixels at the usual size of text
_TASKS = (Task.TRAIN, Task.INFER)
_NUMBERS = {
    "batch": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "sequence": (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072),
    "sequences": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "gpus": (1, 2, 4, 8, 16, 32, 64),
    "lora": (0, 4, 8, 16, 32, 64, 128),
    "kv_bits": (16, 8, 4),
}
_ENUMS: dict[str, Mapping[Any, Text]] = {
    "precision": PRECISIONS,
    "optimizer": OPTIMIZERS,
    "quantization": QUANTIZATIONS,
    "offload": OFFLOADS,
    "sharding": SHARDINGS,
}
_KINDS = {
    "precision": Precision,
    "optimizer": Optimizer,
    "quantization": Quantization,
    "offload": Offload,
    "sharding": Sharding,
}
_TITLES: dict[str, Text] = {
    "batch": text("Batch"),
    "sequence": text("Sequence length"),
    "sequences": text("Concurrent sequences"),
    "precision": text("Precision"),
    "optimizer": text("Optimizer"),
    "lora": text("LoRA rank"),
    "quantization": text("Weights"),
    "offload": text("Offload"),
    "gpus": text("GPUs"),
    "sharding": text("Sharding"),
    "kv_bits": text("KV cache bits"),
}
_OF_TASK = {
    Task.TRAIN: ("batch", "sequence", "precision", "optimizer", "lora", "quantization", "offload", "gpus", "sharding"),
    Task.INFER: ("sequence", "sequences", "precision", "quantization", "kv_bits", "offload", "gpus"),
}


class EstimateForm(Card):
    """Emits `changed` whenever the question is another, `browse` when a file is to be chosen."""

    changed = Signal()
    browse = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self.setting = EstimateSetting()
        self.model = TextLine(self)
        self.model.setPlaceholderText(words(text("7B, hidden=4096,layers=32, or the path of a config.json")))
        self.model.setAccessibleName(words(text("Model")))
        self.model.setToolTip(as_tip(self.model.placeholderText()))
        self.model.setMaxLength(4096)
        self.model.setMinimumWidth(by_text(_LEAST_MODEL))
        self.model.textEdited.connect(self._tell)
        self.choose = small(words(text("Choose a file…")), self)
        self.choose.clicked.connect(self.browse)
        self.task = Segments((words(text("Training")), words(text("Inference"))), words(text("What it is to do")), self)
        self.task.chosen.connect(self._choose_task)
        self._choices = {name: PartChoice(words(title), self) for name, title in _TITLES.items()}
        for choice in self._choices.values():
            choice.box.activated.connect(self._choose)
        self.checkpointing = Tick(words(text("Checkpoint activations")), self)
        self.accumulates = Tick(words(text("Accumulate gradients")), self)
        self.eager = Tick(words(text("Attention is not fused (eager)")), self)
        for tick in (self.checkpointing, self.accumulates, self.eager):
            tick.toggled.connect(self._tick)
        self._lay_out()
        self._show_setting()

    def choice(self, name: str) -> PartChoice:
        return self._choices[name]

    def show_question(self, model: str, setting: EstimateSetting | None) -> None:
        """Shows a question; one without a setting keeps that which stands there."""
        self.model.setText(model)
        if setting is not None:
            self.setting = setting
        self._show_setting()
        self.changed.emit()

    def show_below_model(self, said: QWidget) -> None:
        """What is wrong with the model stands below its line, in sight of who types there."""
        self.body.insertWidget(1, said)

    def _lay_out(self) -> None:
        first = bare(QHBoxLayout(), 10)
        first.addWidget(label(self._words(text("Model")), "muted", self))
        first.addWidget(self.model, 1)
        first.addWidget(self.choose)
        self._grid = EvenColumns(self, least=150)
        self._grid.add(*self._choices.values())
        self._ticks = QWidget(self)
        flow = FlowLayout(self._ticks, gap=16)
        for tick in (self.checkpointing, self.accumulates, self.eager):
            flow.addWidget(tick)
        self.body.setSpacing(12)
        add_layout(self.body, first)
        self.body.addWidget(self.task)
        self.body.addWidget(self._grid)
        self.body.addWidget(self._ticks)

    def _show_setting(self) -> None:
        setting = self.setting
        self.task.show_chosen(_TASKS.index(setting.task))
        for name, choice in self._choices.items():
            value = _plain(setting, name)
            choice.show_rows(self._rows(name), "" if value == _plain(_usual(setting.task), name) else value)
        self._grid.show_only([self._choices[name] for name in _OF_TASK[setting.task]])
        self._ticks.setVisible(setting.task is Task.TRAIN)
        for tick, on in (
            (self.checkpointing, setting.checkpointing),
            (self.accumulates, setting.accumulates),
            (self.eager, setting.attention is AttentionKernel.EAGER),
        ):
            with QSignalBlocker(tick):
                tick.setChecked(on)

    def _rows(self, name: str) -> tuple[tuple[str, str], ...]:
        """The values of a choice with their words; one that a lever has set stands among them."""
        if name in _ENUMS:
            return self._usual_first(name, [(str(one.value), self._words(said)) for one, said in _ENUMS[name].items()])
        numbers = sorted({*_NUMBERS[name], int(getattr(self.setting, name))}, reverse=name == "kv_bits")
        return self._usual_first(name, [(str(one), self._number(name, one)) for one in numbers])

    def _usual_first(self, name: str, rows: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """What is usual has no value of its own, so that it is told from what was chosen."""
        usual = str(_plain(_usual(self.setting.task), name))
        return tuple(("" if value == usual else value, said) for value, said in rows)

    def _number(self, name: str, number: int) -> str:
        return self._words(text("no adapters")) if name == "lora" and not number else str(number)

    @Slot()
    def _tell(self) -> None:
        self.changed.emit()

    @Slot(int)
    def _choose_task(self, place: int) -> None:
        task = _TASKS[place]
        precision = _usual(task).precision
        quantization = Quantization.NONE if task is Task.TRAIN else self.setting.quantization
        self._take(replace(self.setting, task=task, precision=precision, quantization=quantization, lora=0))

    @Slot(int)
    def _choose(self, _place: int) -> None:
        chosen: dict[str, object] = {}
        for name in _OF_TASK[self.setting.task]:
            value = self._choices[name].value or _plain(_usual(self.setting.task), name)
            chosen[name] = _KINDS[name](value) if name in _KINDS else int(value)
        self._take(_consistent(replace(self.setting, **chosen), self.setting))

    @Slot(bool)
    def _tick(self, _on: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        attention = AttentionKernel.EAGER if self.eager.isChecked() else AttentionKernel.FUSED
        self._take(
            replace(
                self.setting,
                checkpointing=self.checkpointing.isChecked(),
                accumulates=self.accumulates.isChecked(),
                attention=attention,
            )
        )

    def _take(self, setting: EstimateSetting) -> None:
        self.setting = setting
        self._show_setting()
        self.changed.emit()


def _usual(task: Task) -> EstimateSetting:
    return EstimateSetting(task=task, precision=Precision.BF16 if task is Task.INFER else Precision.AUTOCAST)


def _plain(setting: EstimateSetting, name: str) -> str:
    found = getattr(setting, name)
    return str(getattr(found, "value", found))


def _consistent(now: EstimateSetting, before: EstimateSetting) -> EstimateSetting:
    """What goes together: quantized weights are trained by adapters alone, and what is shared needs somebody to share it with."""
    if now.task is Task.TRAIN and now.quantization is not Quantization.NONE and not now.lora:
        adapted = replace(now, lora=16, precision=Precision.BF16)
        now = replace(now, quantization=Quantization.NONE) if before.lora else adapted
    if now.sharding is not Sharding.NONE and now.gpus < 2:
        now = replace(now, gpus=2) if before.sharding is Sharding.NONE else replace(now, sharding=Sharding.NONE)
    return now
