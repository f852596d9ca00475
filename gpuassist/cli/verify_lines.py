"""What a verification says while it runs: a line a check as it is done, and what runs now on a terminal alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuassist.cli.context import Context
from gpuassist.cli.streams import DIM, GREEN, RED, Painted
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.model.verdict import Check, Verdict
from gpuassist.model.words import Words
from gpuassist.present.device_names import DeviceNames
from gpuassist.present.marks import glyph_of
from gpuassist.present.verification import VERDICT_WORDS, device_label, measured, rate_words
from gpuassist.session.checks import check_label
from gpuassist.verify.protocol import RANKS, CheckBegun, CheckDone, Device, DeviceDone, Event, Imported, Started
from gpuassist.verify.runner import LIMITS, Level
from gpuassist.verify.toolkits import ToolkitBegun, ToolkitEvent

Names = Callable[[Sequence[Device]], DeviceNames]

_COLOURS = {Verdict.PASS: GREEN, Verdict.SKIPPED: DIM}
_SIDE_BY_SIDE = 2
_LABEL_WIDTH, _DTYPE_WIDTH, _MARK_WIDTH, _ERROR_WIDTH = 30, 10, 9, 24


class Silent:
    """Says on a terminal which check runs, and nothing else."""

    def __init__(self, context: Context, names: Names, level: Level) -> None:
        self._context, self._names_of, self._level = context, names, level
        self._names = names(())
        self._imported = 0.0

    def take(self, event: Event) -> None:
        if isinstance(event, Imported):
            self._imported = self._context.session.world.clock.monotonic()
            self._context.passing(text("torch is imported; starting the driver…"))
        elif isinstance(event, Started):
            self._names = self._names_of(event.devices)
        elif isinstance(event, CheckBegun):
            self._context.passing(self._running(event))
        else:
            self._context.passing()

    def _running(self, event: CheckBegun) -> Text:
        """What runs, and how long it can take in all where that has an end."""
        name, check = self._names.name(event.device), check_label(event)
        limit = LIMITS[self._level].checks
        left = self._imported + limit - self._context.session.world.clock.monotonic()
        if not limit or left <= 0:
            return text("{device}: {check} {format}…", device=name, check=check, format=event.dtype)
        return text(
            "{device}: {check} {format}… (at most {seconds} s left)",
            device=name,
            check=check,
            format=event.dtype,
            seconds=f"{left:.0f}",
        )

    def end(self) -> None:
        """Nothing more comes."""

    def take_toolkit(self, event: ToolkitEvent) -> None:
        """What is compiled now; the results stand at the end."""
        self._context.passing(text("{name}…", name=event.name) if isinstance(event, ToolkitBegun) else "")


class Live(Silent):
    """Prints each check as it is done; with several devices, which are checked side by side, each line says whose it is."""

    def __init__(self, context: Context, names: Names, level: Level) -> None:
        super().__init__(context, names, level)
        self._several, self._width = False, 0
        self._whose: dict[str, str] = {}
        self._begun: set[tuple[str, str, str]] = set()
        self._left: dict[str, list[CheckDone]] = {}  # of a device, what never began
        self._many = False
        self._held: dict[str, list[CheckDone]] = {}  # of many GPUs, what is said of each at once

    def take(self, event: Event) -> None:
        super().take(event)
        if isinstance(event, Started):
            self._begin(event)
        elif isinstance(event, CheckBegun):
            self._begun.add((event.device, event.name, event.dtype))
        elif isinstance(event, CheckDone):
            if (event.device, event.check.name, event.check.dtype) in self._begun:
                self._say_or_hold(event)
            else:
                self._left.setdefault(event.device, []).append(event)
        elif isinstance(event, DeviceDone):
            self._say_device(event.device)
        self._context.terminal.out.flush()

    def end(self) -> None:
        """Says what was held back, where the run ended before its devices did."""
        for device in [*self._held]:
            self._say_device(device)

    def _say_or_hold(self, event: CheckDone) -> None:
        if self._many:
            self._held.setdefault(event.device, []).append(event)
        else:
            self._say_check(event)

    def _say_device(self, device: str) -> None:
        for event in self._held.pop(device, []):
            self._say_check(event)
        self._say_left(self._left.pop(device, []))

    def _begin(self, event: Started) -> None:
        self._several = len(event.devices) > 1
        # Their lines would be all mixed up; in a long run each is worth more at once.
        self._many = self._level is Level.QUICK and sum(not device.members for device in event.devices) > _SIDE_BY_SIDE
        self._whose = {device.device: self._whose_it_is(device) for device in event.devices}
        self._width = max((len(name) for name in self._whose.values()), default=0) + 2
        self._context.say(verbatim(" · ".join(f"{name} {version}" for name, version in event.environment if version)))
        for device in event.devices:
            for rank, member in enumerate(device.members if device.name == RANKS else ()):
                self._context.say(text("rank {rank}: {device}", rank=rank, device=member))
            if device.name != RANKS:
                self._context.say(device_label(device, self._names.among) if device.members else self._names.heading(device))
        self._context.say()

    def _whose_it_is(self, device: Device) -> str:
        """At the beginning of a line: the device, two that copy to each other, or all of them; what they do, the check says."""
        if device.name in {"group", RANKS}:
            return self._context.session.words(text("together"))
        return " + ".join(self._names.name(member) for member in dict.fromkeys(device.members) or (device.device,))

    def _say_left(self, left: Sequence[CheckDone]) -> None:
        """What never began, in a line for each reason: a GPU that another program holds would else fill a screen with it."""
        by_reason: dict[Text | None, list[CheckDone]] = {}
        for event in left:
            by_reason.setdefault(event.check.error, []).append(event)
        for events in by_reason.values():
            if len(events) == 1:
                self._say_check(events[0])
            else:
                self._say_check(events[0], counted("{count} check", "{count} checks", len(events)))

    def _say_check(self, event: CheckDone, several: Text | None = None) -> None:
        words, verdict = self._context.session.words, event.check.verdict
        mark = "–" if verdict is Verdict.SKIPPED else glyph_of(verdict)
        whose = self._whose.get(event.device, event.device).ljust(self._width) if self._several else ""
        name, dtype = several or check_label(event.check), "" if several is not None else event.check.dtype
        label = f"  {whose}{words(name).ljust(_LABEL_WIDTH)} {dtype.ljust(_DTYPE_WIDTH)} "
        figures = _measured(words, event.check)
        said = f"{mark} {words(VERDICT_WORDS[verdict])}".ljust(_MARK_WIDTH + 2 if figures else 0)
        self._context.say(label, Painted(said, _COLOURS.get(verdict, RED)), f" {figures}" if figures else "")


def _measured(words: Words, check: Check) -> str:
    parts = [words(check.error)] if check.error is not None else []
    figures = measured(check)
    if figures is not None:
        parts.insert(0, words(figures).ljust(_ERROR_WIDTH))
    return " ".join((*parts, rate_words(check))).rstrip()
