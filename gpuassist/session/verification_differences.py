"""What is different between a verification and earlier ones of the same machine: devices, checks, and rates beyond the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from gpuassist.model.text import Text, enumerated, text, verbatim
from gpuassist.session.verifications import KeptVerification, listed_in, text_in

# A rate is another one beyond this share. GPUs run at the clocks that their temperature allows, so that one run is a few percent
# off the next; where earlier runs in the same surroundings were further apart than that, what they were apart counts. A quick run
# is over before the clocks have risen, so that one such rate alone says nothing of the next, and that of what is over soonest
# nothing at all. What a CPU computes or copies is as
# fast as whatever else runs there leaves it.
NOISE = 0.1
_RUNS_AT_LEAST = {"quick": 2}
_COMPARED_WHEN_QUICK = frozenset({("matmul", "fp32"), ("pinned-to-device", "int64"), ("pinned-from-device", "int64")})
# Half of the cores at work for others, and the CPU feeds the GPU late.
_LOAD_AT_MOST = 0.5
_BY_THE_CPU = frozenset({"copy-to-device", "copy-from-device"})
_CPU = "cpu"
_LESS_AT_MOST, _TIMES_FROM = 99, 2
_PASSED = "pass"
_BROKEN = frozenset({"fail", "error", "hung"})
_CALLED = (("torch", "torch"), ("cuda", "CUDA"), ("cudnn", "cuDNN"), ("python", "Python"))

Label = Callable[[str, str], Text]
_Check = tuple[str, str]
_Document = Mapping[str, Any]


class Change(str, Enum):
    """What is different."""

    DEVICE_GONE = "device gone"
    DEVICE_NEW = "device new"
    BROKEN = "passed, and does not now"
    MENDED = "did not pass, and does now"
    SLOWER = "slower"
    FASTER = "faster"


class Difference(Struct, frozen=True):
    """One thing that is different from the verification of `since`: of which device and check (empty of a whole device), and by
    which share a rate is (0 else; -0.12 is 12 % less).
    """

    change: Change
    device: str
    since: str
    words: Text
    name: str = ""
    dtype: str = ""
    share: float = 0.0


def differences(
    earlier: Sequence[KeptVerification],
    now: KeptVerification,
    label: Label | None = None,
    there: frozenset[str] | None = None,
) -> tuple[Difference, ...]:
    """What is different from the last verification of a device in the same environment (`earlier` is newest first); rates are
    compared with the last one of the same level, because a full run multiplies larger matrices. `label` says what a check is
    called; `there` are the UUIDs of the GPUs that the machine has, where that is known: one that was left out is not gone.
    """
    found: list[Difference] = []
    for environment in _environments(now.document):
        like = [one for one in earlier if environment in _environments(one.document)]
        if like:
            found += _Comparison(environment, tuple(like), now, label or _plain_label, there).differences()
    return tuple(found)


class _Comparison(Struct, frozen=True):
    """A verification beside earlier ones in one environment, the last of them first."""

    environment: str
    like: tuple[KeptVerification, ...]
    now: KeptVerification
    label: Label
    there: frozenset[str] | None

    def differences(self) -> Iterator[Difference]:
        last, devices = self.like[0], _devices(self.now.document, self.environment)
        before = _devices(last.document, self.environment)
        for device in (device for key, device in before.items() if key not in devices):
            uuid = text_in(device, "uuid")
            if self.there is not None and uuid and uuid not in self.there:
                words = text("{device} is not in this machine any more", device=_called(device, with_address=True))
                yield Difference(Change.DEVICE_GONE, text_in(device, "device"), last.made_at, words)
        for key, device in devices.items():
            if any(key in _devices(one.document, self.environment) for one in self.like):
                for check, outcome in _checks(device).items():
                    yield from self._of_verdict(key, device, check, outcome)
                    yield from self._of_rate(key, device, check, outcome)
            elif text_in(device, "device") != _CPU:
                words = text("{device} was not verified before", device=_called(device, with_address=True))
                yield Difference(Change.DEVICE_NEW, text_in(device, "device"), last.made_at, words)

    def _of_verdict(self, key: str, device: _Document, check: _Check, outcome: _Document) -> Iterator[Difference]:
        """Beside the last time that the check came to anything."""
        found = ((one, text_in(self._check(one, key, check), "verdict")) for one in self.like)
        last, was = next((pair for pair in found if pair[1] == _PASSED or pair[1] in _BROKEN), (self.like[0], ""))
        is_now, named = text_in(outcome, "verdict"), text_in(device, "device")
        what = text("{check} on {device}", check=self.label(*check), device=_called(device))
        came = self._what_came(last)
        behind = text(" ({came})", came=came) if came is not None else verbatim("")
        if was == _PASSED and is_now in _BROKEN:
            words = text("{what} passed before, and does not now{behind}", what=what, behind=behind)
            yield Difference(Change.BROKEN, named, last.made_at, words, *check)
        elif was in _BROKEN and is_now == _PASSED:
            words = text("{what} did not pass before, and does now{behind}", what=what, behind=behind)
            yield Difference(Change.MENDED, named, last.made_at, words, *check)

    def _check(self, one: KeptVerification, key: str, check: _Check) -> _Document:
        return _checks(_devices(one.document, self.environment).get(key, {})).get(check, {})

    def _of_rate(self, key: str, device: _Document, check: _Check, outcome: _Document) -> Iterator[Difference]:
        named = text_in(device, "device")
        if named == _CPU or check[0] in _BY_THE_CPU or (self.now.level == "quick" and check not in _COMPARED_WHEN_QUICK):
            return
        rate, history = _rate(outcome), tuple(self._rates(key, check, text_in(outcome, "rate_unit")))
        if not rate or not history or not self._undisturbed(self.now, device, check):
            return
        last, before = history[0]
        surroundings = self._surroundings(last)
        alike = [value for one, value in history if self._surroundings(one) == surroundings]
        if len(alike) < _RUNS_AT_LEAST.get(self.now.level, 1) or min(alike) <= rate <= max(alike):
            return
        share = rate / before - 1
        if abs(share) > max(NOISE, (max(alike) - min(alike)) / max(alike)):
            change = Change.SLOWER if share < 0 else Change.FASTER
            what = text("{check} on {device}", check=self.label(*check), device=_called(device))
            yield Difference(change, named, last.made_at, self._rate_words(last, share, what), *check, share)

    def _rates(self, key: str, check: _Check, unit: str) -> Iterator[tuple[KeptVerification, float]]:
        """What earlier runs of the same level and sizes measured with nothing beside them, the last first."""
        size = self._check(self.now, key, check).get("compared")
        for one in self.like:
            device = _devices(one.document, self.environment).get(key, {})
            found = _checks(device).get(check, {})
            alike = one.level == self.now.level and text_in(found, "rate_unit") == unit and found.get("compared") == size
            if alike and self._undisturbed(one, device, check) and (value := _rate(found)):
                yield one, value

    def _undisturbed(self, one: KeptVerification, device: _Document, check: _Check) -> bool:
        """Whether neither the computer's other work nor what holds the GPU back decided on a rate of that run."""
        load = _environments(one.document).get(self.environment, {}).get("load_per_core")
        if isinstance(load, bool) or not isinstance(load, (int, float)) or not load <= _LOAD_AT_MOST:
            return False
        which = (text_in(device, "device"), *check)
        rates = (rate for rate in listed_in(one.document, "rates") if rate.get("held_back") is True)
        return which not in {tuple(text_in(rate, name) for name in ("device", "check", "dtype")) for rate in rates}

    def _rate_words(self, last: KeptVerification, share: float, what: Text) -> Text:
        came, day = self._what_came(last), last.made_at[:10]
        if day == self.now.made_at[:10]:
            day = last.made_at[:16].replace("T", " ")
        percent, times = f"{min(abs(share) * 100, _LESS_AT_MOST):.0f}", share + 1
        if share < 0:
            if came is not None:
                return text("{came} came with {percent} % less in {what}", came=came, percent=percent, what=what)
            return text("{what} is {percent} % slower than on {day}", what=what, percent=percent, day=day)
        if times >= _TIMES_FROM:
            if came is not None:
                return text("{came} came with {times:.1f} times the rate in {what}", came=came, times=times, what=what)
            return text("{what} is {times:.1f} times as fast as on {day}", what=what, times=times, day=day)
        if came is not None:
            return text("{came} came with {percent} % more in {what}", came=came, percent=percent, what=what)
        return text("{what} is {percent} % faster than on {day}", what=what, percent=percent, day=day)

    def _what_came(self, last: KeptVerification) -> Text | None:
        """What was exchanged since: `the driver update (570.86 -> 580.95)`; None where nothing is known to have been."""
        old, fresh = self._surroundings(last), self._surroundings(self.now)
        driver = bool(last.driver and self.now.driver and last.driver != self.now.driver)
        others = [(called, old[key], fresh[key]) for key, called in _CALLED if old[key] and fresh[key] and old[key] != fresh[key]]
        if driver and not others:
            return text("the driver update ({before} -> {now})", before=last.driver, now=self.now.driver)
        named = [f"driver {last.driver} -> {self.now.driver}"] if driver else []
        named += [f"{called} {before} -> {after}" for called, before, after in others]
        return text("the change of {what}", what=enumerated(named)) if named else None

    def _surroundings(self, one: KeptVerification) -> dict[str, str]:
        about = _environments(one.document).get(self.environment, {})
        return {"driver": one.driver, **{key: text_in(about, key) for key, _ in _CALLED}}


def _environments(document: _Document) -> dict[str, _Document]:
    """By their interpreter."""
    return {interpreter: one for one in listed_in(document, "environments") if (interpreter := text_in(one, "interpreter"))}


def _devices(document: _Document, environment: str) -> dict[str, _Document]:
    """The devices of an environment by what they are, and not by an index that another GPU may have the next time."""
    found = (one for one in listed_in(document, "devices") if text_in(one, "interpreter") == environment)
    return {text_in(one, "uuid") or text_in(one, "pci") or f"{text_in(one, 'device')} {text_in(one, 'name')}": one for one in found}


def _called(device: _Document, *, with_address: bool = False) -> Text:
    """By NVML's number, which tells two equal cards apart; of one that may not be there any more with its place."""
    index, name, pci = device.get("index"), text_in(device, "name"), text_in(device, "pci")
    if text_in(device, "device") == _CPU:
        return text("CPU")
    about = f"{name}, {pci}" if with_address and pci else name
    if isinstance(index, int) and not isinstance(index, bool):
        return text("GPU {index} ({name})", index=index, name=about)
    return text("{device} ({name})", device=text_in(device, "device"), name=about)


def _checks(device: _Document) -> dict[_Check, _Document]:
    return {(text_in(one, "name"), text_in(one, "dtype")): one for one in listed_in(device, "checks")}


def _rate(check: _Document) -> float:
    """The rate of a check that passed; 0 where there is none."""
    rate = check.get("rate")
    if text_in(check, "verdict") != _PASSED or isinstance(rate, bool) or not isinstance(rate, (int, float)):
        return 0.0
    return max(float(rate), 0.0)


def _plain_label(name: str, dtype: str) -> Text:
    return verbatim(f"{name} {dtype}".strip())
