"""What a GPU should reach, how much of it a measured rate is, and what was seen that held it back; values in, values out.

**The peak** is NVIDIA's own figure of the product; else its multiprocessors times their operations in a clock times the boost clock
that its maker gives; else, for a GPU that is in no table or a laptop's, the same with the highest clock at which it was seen under
load, or which NVML allows: an upper bound, and said to be one. A GPU may run above its boost clock: a share above 1 is no mistake.

**A finding** (`held_back`) needs two things: something was seen, while the checks ran, that keeps the GPU below what it is made for
and that somebody can change (a narrow or slow link, a lowered power limit or clocks, heat, a missing power plug, other programs at
work), and the rate is below what others measured: below the lowest share that is published for this sort of GPU and format, or,
where none is, below the lowest that is published for the format on any. For copies over PCIe the link itself is the evidence.
A slow rate without such a reason is a number, and so is a reason without a slow rate: nobody can act on either. What belongs to the
GPU (a laptop's, a part of a GPU, ECC) explains a number, and is never a finding. No slow rate fails a verification.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from gpuassist.knowledge.rates import GpuRates, ReachedRate, SmRates
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, counted, text
from gpuassist.verify.load import DeviceLoad

PCIE, MEMORY = "pcie", "memory"
"""The rates that are no arithmetic: copies between host and device, and within the device; in GB a second."""

# Of a lane, in GB a second and direction, after the coding of the line (8b/10b, 128b/130b; PCI Express Base Specification).
_LANE = {1: 0.25, 2: 0.5, 3: 8 * 128 / 130 / 8, 4: 16 * 128 / 130 / 8, 5: 32 * 128 / 130 / 8}
# What a step in the limit may be without anybody having lowered it: NVML tells it in whole milliwatts.
_SAME_WATTS = 1.0


class PeakKind(str, Enum):
    """Where a peak is from."""

    NVIDIA = "nvidia"
    BOOST_CLOCK = "boost clock"
    CLOCK_SEEN = "clock seen"
    CLOCK_ALLOWED = "clock allowed"
    LINK = "link"


class HeldBackBy(str, Enum):
    """What was seen of the GPU that makes a rate smaller."""

    LINK_WIDTH = "link width"
    LINK_GENERATION = "link generation"
    SLOT = "slot"
    POWER_LIMIT = "power limit"
    CLOCKS_SET = "clocks set"
    HEAT = "heat"
    POWER_BRAKE = "power brake"
    POWER_DRAW = "power draw"
    OTHER_PROGRAMS = "other programs"
    SHORT = "short"
    ECC = "ecc"
    PART = "part"
    LAPTOP = "laptop"


# What somebody can change; the others belong to the GPU or to the measurement.
CHANGEABLE = frozenset(
    {
        HeldBackBy.LINK_WIDTH,
        HeldBackBy.LINK_GENERATION,
        HeldBackBy.POWER_LIMIT,
        HeldBackBy.CLOCKS_SET,
        HeldBackBy.HEAT,
        HeldBackBy.POWER_BRAKE,
        HeldBackBy.OTHER_PROGRAMS,
    }
)
_OF_THE_LINK = frozenset({HeldBackBy.LINK_WIDTH, HeldBackBy.LINK_GENERATION, HeldBackBy.SLOT})


class Hindrance(Struct, frozen=True):
    """A cause with what was seen of it, in words that stand in a list (`power limit 150 W of 450 W`)."""

    cause: HeldBackBy
    words: Text


class Peak(Struct, frozen=True):
    """What should be reached, in tera-operations or GB a second; `of` is the whole GPU that a part of a GPU is computed from."""

    rate: float
    kind: PeakKind
    source: str


class MeasuredRate(Struct, frozen=True):
    """A rate in tera-operations a second of a format (`knowledge.rates.FORMATS`), or in GB a second of PCIE or MEMORY; how many
    seconds one repetition took, and how many an empty one takes, which only starts and waits (0: not measured).
    """

    kind: str
    rate: float
    seconds: float = 0.0
    starting: float = 0.0

    @property
    def without_start(self) -> float:
        """What the rate would be if a repetition began at once."""
        rest = self.seconds - self.starting
        return self.rate * self.seconds / rest if 0 < rest < self.seconds else self.rate


class GpuMeant(Struct, frozen=True):
    """The GPU that was measured: its name for the user, what the tables know of it, what torch (`multiprocessors`, of a part of a
    GPU those of the part; 0: not known) and NVML (`load`) saw. `part` is true of a MIG device, `laptop` of a laptop's GPU.
    """

    name: str
    rates: GpuRates | None = None
    operations: SmRates | None = None
    multiprocessors: int = 0
    load: DeviceLoad | None = None
    part: bool = False
    laptop: bool = False


class Expectation(Struct, frozen=True):
    """`share` is what was reached of the peak; `usual` the shares that others measured of this sort of GPU and format, where any
    are published; `words` the sentence, `held_back` whether it is a finding.
    """

    measured: MeasuredRate
    peak: Fact[Peak]
    share: Fact[float]
    reasons: tuple[Hindrance, ...]
    words: Text
    held_back: bool = False
    usual: ReachedRate | None = None


def expect(
    measured: MeasuredRate, gpu: GpuMeant, usual: ReachedRate | None = None, published: tuple[ReachedRate, ...] = ()
) -> Expectation:
    """What a rate means; `usual` is published of this sort of GPU and format, `published` everything that is (for the lowest)."""
    peak, reasons = peak_of(measured.kind, gpu), tuple(_reasons(measured, gpu))
    if isinstance(peak, Unknown):
        return Expectation(measured, peak, peak, reasons, _without_peak(gpu, peak, reasons), usual=usual)
    share = measured.rate / peak.value.rate
    lowest = usual.low if usual is not None else min((one.low for one in published if one.format == measured.kind), default=0.0)
    changeable = any(reason.cause in CHANGEABLE for reason in reasons)
    if measured.kind == PCIE:
        slow = any(reason.cause in CHANGEABLE & _OF_THE_LINK for reason in reasons)
    else:
        slow = changeable and measured.without_start / peak.value.rate < lowest
    return Expectation(
        measured, peak, Known(share, peak.value.source), reasons, _sentence(share, gpu, peak.value, reasons), slow, usual
    )


def peak_of(kind: str, gpu: GpuMeant) -> Fact[Peak]:
    """What the GPU should reach, or why nobody can say."""
    if kind == PCIE:
        return _peak_of_link(gpu)
    if kind == MEMORY:
        bandwidth = gpu.rates.bandwidth_gb if gpu.rates is not None else 0.0
        if not bandwidth or gpu.part:
            return Unknown(text("how fast the memory of this GPU is, is not known"))
        return Known(Peak(bandwidth, PeakKind.NVIDIA, _source(gpu)), _source(gpu))
    told = gpu.rates.rate(kind) if gpu.rates is not None else None
    if told == 0:
        return _NOT_PUBLISHED
    whole = gpu.rates.multiprocessors if gpu.rates is not None else 0
    if told and not gpu.part:
        return Known(Peak(told, PeakKind.NVIDIA, _source(gpu)), _source(gpu))
    if told and whole and gpu.multiprocessors:  # of a part of a GPU the part
        return Known(Peak(told * gpu.multiprocessors / whole, PeakKind.NVIDIA, _source(gpu)), _source(gpu))
    return _computed(kind, gpu)


def link_words(generation: int, width: int) -> Text:
    """`PCIe 4.0 x16`."""
    return text("PCIe {generation}.0 x{width}", generation=generation, width=width)


def _computed(kind: str, gpu: GpuMeant) -> Fact[Peak]:
    """Multiprocessors, times their operations in a clock, times a clock."""
    operations = gpu.operations.of(kind) if gpu.operations is not None else 0
    count = gpu.multiprocessors or (gpu.rates.multiprocessors if gpu.rates is not None else 0)
    if not operations or not count:
        return _NOT_PUBLISHED
    boost = gpu.rates.boost_mhz if gpu.rates is not None and not gpu.laptop else 0
    seen = gpu.load.clock if gpu.load is not None else _NOT_PUBLISHED
    allowed = gpu.load.device.clock_most if gpu.load is not None else _NOT_PUBLISHED
    if boost:
        clock, way = float(boost), PeakKind.BOOST_CLOCK
    elif isinstance(seen, Known):
        clock, way = seen.value.most, PeakKind.CLOCK_SEEN
    elif isinstance(allowed, Known):
        clock, way = float(allowed.value), PeakKind.CLOCK_ALLOWED
    else:
        return Unknown(text("neither the boost clock of this GPU is known nor the clock at which it ran"))
    assert gpu.operations is not None
    source = f"{gpu.operations.source}; {_source(gpu)}" if gpu.rates is not None else gpu.operations.source
    return Known(Peak(operations * count * clock / 1e6, way, source), source)


def _peak_of_link(gpu: GpuMeant) -> Fact[Peak]:
    """The link as GPU and slot allow together; the slot that the GPU is made for where NVML tells neither."""
    told = gpu.load.device if gpu.load is not None else None
    if told is not None and isinstance(told.generation_most, Known) and isinstance(told.width_most, Known):
        generation, width, source = told.generation_most.value, told.width_most.value, told.generation_most.source
    elif gpu.rates is not None and gpu.rates.pcie:
        (generation, width), source = gpu.rates.pcie, _source(gpu)
    else:
        return Unknown(text("what the slot of this GPU can is not known"))
    if generation not in _LANE:
        return Unknown(text("what the slot of this GPU can is not known"))
    return Known(Peak(_LANE[generation] * width, PeakKind.LINK, source), source)


def _reasons(measured: MeasuredRate, gpu: GpuMeant) -> Iterator[Hindrance]:
    """What was seen, what bears on this rate first; nothing that was not seen."""
    found = [*_of_gpu(gpu)]
    if gpu.load is not None:
        # Copies that are faster than the link was ever seen show that it was faster between two looks.
        faster = measured.kind == PCIE and measured.rate > _link_seen(gpu.load)
        found += [*([] if faster else _of_link(gpu.load)), *_of_power(gpu.load), *_of_clocks(gpu.load), *_of_others(gpu.load)]
    if measured.starting > _TO_MENTION * measured.seconds:
        percent = min(measured.starting / measured.seconds, 1.0) * 100
        found.append(Hindrance(HeldBackBy.SHORT, text("{percent:.0f} % of the time went into starting it", percent=percent)))
    of_link = measured.kind == PCIE
    yield from sorted(found, key=lambda reason: ((reason.cause in _OF_THE_LINK) is not of_link, reason.cause not in CHANGEABLE))


_TO_MENTION = 0.05  # a start that is less of a repetition than that is no reason for anything


def _link_seen(load: DeviceLoad) -> float:
    """What the link can as it was seen, in GB a second; no limit where it was not."""
    generation, width = load.generation, load.width
    if not isinstance(generation, Known) or not isinstance(width, Known) or generation.value not in _LANE:
        return math.inf
    return _LANE[generation.value] * width.value


def _of_link(load: DeviceLoad) -> Iterator[Hindrance]:
    told = load.device
    width, most = load.width, told.width_most
    if isinstance(width, Known) and isinstance(most, Known) and width.value < most.value:
        words = text("PCIe x{width} of x{most}", width=width.value, most=most.value)
        yield Hindrance(HeldBackBy.LINK_WIDTH, words)
    generation, both = load.generation, told.generation_most
    if isinstance(generation, Known) and isinstance(both, Known) and generation.value < both.value:
        words = text("PCIe {generation}.0 of {most}.0", generation=generation.value, most=both.value)
        yield Hindrance(HeldBackBy.LINK_GENERATION, words)
    alone = told.gpu_generation_most
    if isinstance(both, Known) and isinstance(alone, Known) and both.value < alone.value:
        words = text("a slot of PCIe {generation}.0 for a GPU of {most}.0", generation=both.value, most=alone.value)
        yield Hindrance(HeldBackBy.SLOT, words)


def _of_power(load: DeviceLoad) -> Iterator[Hindrance]:
    limit, default = load.power_limit, load.device.power_default
    if isinstance(limit, Known) and isinstance(default, Known) and limit.value < default.value - _SAME_WATTS:
        words = text("power limit {limit:.0f} W of {default:.0f} W", limit=limit.value, default=default.value)
        yield Hindrance(HeldBackBy.POWER_LIMIT, words)


_SLOWED = {
    "application clocks": (HeldBackBy.CLOCKS_SET, text("clocks that somebody has set")),
    "sync boost": (HeldBackBy.CLOCKS_SET, text("clocks that are kept at those of another GPU (sync boost)")),
    "heat": (HeldBackBy.HEAT, text("slowed down by heat")),
    "heat, by the hardware": (HeldBackBy.HEAT, text("slowed down by its hardware, for heat")),
    "hardware slowdown": (HeldBackBy.POWER_BRAKE, text("slowed down by its hardware, for heat or power")),
    "power brake": (HeldBackBy.POWER_BRAKE, text("slowed down by the power supply (power brake)")),
    "power limit": (HeldBackBy.POWER_DRAW, text("at its power limit")),
}


def _of_clocks(load: DeviceLoad) -> Iterator[Hindrance]:
    seen = load.slowdowns.value if isinstance(load.slowdowns, Known) else ()
    named = {slowdown.reason for slowdown in seen}
    for slowdown in seen:
        if slowdown.reason not in _SLOWED or (slowdown.reason == "hardware slowdown" and named & {"power brake", _BY_HARDWARE}):
            continue
        cause, words = _SLOWED[slowdown.reason]
        hot = f", {load.celsius.value.most:.0f} °C" if cause is HeldBackBy.HEAT and isinstance(load.celsius, Known) else ""
        share = text("{what} ({percent} % of the time{hot})", what=words, percent=_percent(slowdown.share), hot=hot)
        yield Hindrance(cause, share)


_BY_HARDWARE = "heat, by the hardware"


def _of_others(load: DeviceLoad) -> Iterator[Hindrance]:
    # Who holds memory need not compute; a GPU tells of neither which of them is at work.
    others = load.others.value if isinstance(load.others, Known) else ()
    memory = sum(one.memory_bytes.value for one in others if isinstance(one.memory_bytes, Known))
    if memory > _MEMORY_OF_A_DESKTOP:
        words = counted(
            "{count} other program on it, with {gib:.1f} GiB",
            "{count} other programs on it, with {gib:.1f} GiB",
            len(others),
            gib=memory / 2**30,
        )
        yield Hindrance(HeldBackBy.OTHER_PROGRAMS, words)


_MEMORY_OF_A_DESKTOP = 2 << 30  # what screens, a browser and a desktop hold of a GPU says nothing of work


def _of_gpu(gpu: GpuMeant) -> Iterator[Hindrance]:
    if gpu.part:
        whole = gpu.rates.multiprocessors if gpu.rates is not None else 0
        share = text("{count} of {whole} multiprocessors", count=gpu.multiprocessors, whole=whole)
        yield Hindrance(HeldBackBy.PART, share if gpu.multiprocessors and whole else text("a part of a GPU (MIG)"))
    if gpu.laptop:
        yield Hindrance(HeldBackBy.LAPTOP, text("a laptop's GPU, whose power and clocks its maker sets"))
    if gpu.load is not None and gpu.load.device.ecc.is_true:
        yield Hindrance(HeldBackBy.ECC, text("ECC on"))


def _sentence(share: float, gpu: GpuMeant, peak: Peak, reasons: tuple[Hindrance, ...]) -> Text:
    percent = _percent(share)
    what = {
        PeakKind.CLOCK_SEEN: text(
            "{percent} % of what the {name} can at the clock at which it ran", percent=percent, name=gpu.name
        ),
        PeakKind.CLOCK_ALLOWED: text("{percent} % of what the {name} can at its highest clock", percent=percent, name=gpu.name),
        PeakKind.LINK: text("{percent} % of what the slot of the {name} can", percent=percent, name=gpu.name),
    }
    should = text("{percent} % of what the {name} should reach", percent=percent, name=gpu.name)
    return _with(what.get(peak.kind, should), reasons)


def _percent(share: float) -> str | Text:
    """Never `0`, which nothing that was seen is."""
    return text("less than 1") if share < _HALF_A_PERCENT else f"{share * 100:.0f}"


_HALF_A_PERCENT = 0.005


def _without_peak(gpu: GpuMeant, why: Unknown, reasons: tuple[Hindrance, ...]) -> Text:
    return _with(text("what the {name} should reach is not known: {reason}", name=gpu.name, reason=why.reason), reasons)


def _with(what: Text, reasons: tuple[Hindrance, ...]) -> Text:
    listed = [reason.words for reason in reasons if reason.cause is not HeldBackBy.POWER_DRAW or len(reasons) == 1]
    if not listed:
        return what
    joined = listed[0]
    for words in listed[1:]:
        joined = text("{first}, {second}", first=joined, second=words)
    return text("{what}: {reasons}", what=what, reasons=joined)


def _source(gpu: GpuMeant) -> str:
    return gpu.rates.source if gpu.rates is not None else ""


_NOT_PUBLISHED = Unknown(text("nothing is published for this GPU and format"))
