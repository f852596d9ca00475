"""Why a driver that is there does not run, where the facts name it: forbidden, its key not confirmed, a kernel that it refuses."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import Case
from gpuassist.diagnose.verdicts import Verdict, finding, named, proof
from gpuassist.model.driver import Bar
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Evidence
from gpuassist.model.text import Text, text, verbatim


def named_cause(case: Case) -> Iterator[Verdict]:
    """At most one, for a driver that is there and not loaded."""
    if not value_or(case.machine.driver.on_disk, ()):
        host, driver = case.machine.host, case.machine.driver
        if value_or(host.realtime, False) and isinstance(driver.on_disk, Known) and value_or(driver.libcuda, ()):  # noqa: FBT003
            yield finding(
                "dkms-build-failed",
                proof(text("real-time kernel"), host.realtime, text("yes")),
                proof(text("module for this kernel"), driver.on_disk, text("none")),
                driver="",
                kernel=value_or(host.kernel, ""),
                flavour="PREEMPT_RT",
                realtime="yes",
            )
    elif bars(case, "nvidia"):
        yield _barred(case, bars(case, "nvidia")[0])
    else:
        host = case.machine.host
        if value_or(host.key_pending, False) and value_or(host.secure_boot, False):  # noqa: FBT003 -- the facts' defaults
            yield finding(
                "secure-boot-mok-pending",
                proof(text("loaded NVIDIA module"), case.machine.driver.loaded, text("none")),
                proof(text("Secure Boot"), host.secure_boot, text("on")),
                proof(text("key that waits to be confirmed"), host.key_pending, text("there is one")),
                gpu=_names(case),
            )


def bars(case: Case, module: str) -> tuple[Bar, ...]:
    """The settings that forbid the module."""
    return tuple(bar for bar in value_or(case.machine.driver.bars, ()) if bar.module == module)


def bar_proof(case: Case, bar: Bar) -> Evidence | None:
    """A setting as evidence."""
    return proof(text("setting in {place}", place=bar.place), case.machine.driver.bars, verbatim(bar.words))


def _barred(case: Case, bar: Bar) -> Verdict:
    return finding(
        "driver-module-blacklisted",
        proof(text("loaded NVIDIA module"), case.machine.driver.loaded, text("none")),
        bar_proof(case, bar),
        gpu=_names(case),
        place=bar.place,
        line=bar.words,
        command_line="yes" if bar.place == "/proc/cmdline" else "",
    )


def _names(case: Case) -> Text | str:
    return named(card.name for card in case.cards)
