"""What is different from earlier verifications: devices, checks, and rates beyond the noise, with what was exchanged meanwhile."""

from __future__ import annotations

from typing import Any

from gpuassist.model.words import ENGLISH
from gpuassist.session.verification_differences import Change, Difference, differences
from gpuassist.session.verifications import KeptVerification
from tests.rows import for_each

PYTHON = "/home/you/env/bin/python"


def check(dtype: str = "fp16", verdict: str = "pass", rate: float | None = 100.0, unit: str = "TFLOP/s") -> dict[str, Any]:
    return {"name": "matmul", "dtype": dtype, "verdict": verdict, "rate": rate, "rate_unit": unit}


def device(
    *checks: dict[str, Any], index: int = 0, uuid: str = "GPU-1", python: str = PYTHON, kind: str = "cuda"
) -> dict[str, Any]:
    return {
        "device": f"{kind}:{index}".removesuffix(":0") if kind == "cpu" else f"{kind}:{index}",
        "index": index,
        "name": "NVIDIA GeForce RTX 4090",
        "uuid": uuid,
        "interpreter": python,
        "checks": list(checks),
    }


def verification(
    *devices: dict[str, Any], driver: str = "570.86", day: int = 1, level: str = "full", **about: Any
) -> KeptVerification:
    environment: dict[str, Any] = {"interpreter": PYTHON, "torch": "2.6.0", "cuda": "12.4", "cudnn": "9.1.0", "python": "3.11.9"}
    environment |= {"load_per_core": 0.1, **about}
    return KeptVerification(f"2026-11-{day:02}T09:00:00", driver, level, {"environments": [environment], "devices": list(devices)})


def between(*both: KeptVerification) -> tuple[Difference, ...]:
    """Of the last one to those before it, which are given oldest first."""
    *earlier, now = both
    there = frozenset(one["uuid"] for one in now.document["devices"])
    return differences(tuple(reversed(earlier)), now, there=there)


def changes(*both: KeptVerification) -> list[Change]:
    return [one.change for one in between(*both)]


def test_the_same_is_no_difference() -> None:
    assert between(verification(device(check())), verification(device(check()))) == ()
    assert differences((), verification(device(check()))) == ()


def test_a_driver_update_that_made_it_slower_is_named() -> None:
    (found,) = between(verification(device(check())), verification(device(check(rate=88.0)), driver="580.95"))
    assert (found.change, found.name, found.dtype, round(found.share, 2)) == (Change.SLOWER, "matmul", "fp16", -0.12)
    assert (
        ENGLISH(found.words)
        == "the driver update (570.86 -> 580.95) came with 12 % less in matmul fp16 on GPU 0 (NVIDIA GeForce RTX 4090)"
    )


def test_everything_that_was_exchanged_is_named() -> None:
    later = verification(device(check(rate=50.0)), driver="580.95", torch="2.10.0", cuda="12.8")
    (found,) = between(verification(device(check())), later)
    words = ENGLISH(found.words)
    assert [piece in words for piece in ("570.86 -> 580.95", "2.6.0 -> 2.10.0", "12.4 -> 12.8", "cuDNN")] == [
        True,
        True,
        True,
        False,
    ]


@for_each(
    "rate, change",
    [(100.0, []), (91.0, []), (109.0, []), (89.0, [Change.SLOWER]), (112.0, [Change.FASTER]), (None, []), (0.0, [])],
)
def test_a_rate_differs_beyond_the_noise_alone(rate: float | None, change: list[Change]) -> None:
    assert changes(verification(device(check())), verification(device(check(rate=rate)))) == change


def test_what_earlier_runs_were_apart_is_noise() -> None:
    before = [verification(device(check(rate=rate)), day=day) for day, rate in enumerate((100.0, 70.0, 90.0), 1)]
    assert changes(*before, verification(device(check(rate=72.0)))) == []
    assert changes(*before, verification(device(check(rate=60.0)))) == [Change.SLOWER]


def test_what_runs_with_another_driver_were_apart_is_none() -> None:
    before = [verification(device(check(rate=50.0)), driver="550.54"), verification(device(check(rate=100.0)), day=2)]
    assert changes(*before, verification(device(check(rate=80.0)))) == [Change.SLOWER]


def test_rates_are_compared_with_the_last_run_of_the_same_level() -> None:
    full, quick = verification(device(check(rate=100.0)), day=1), verification(device(check(rate=150.0)), day=2, level="quick")
    (found,) = between(full, quick, verification(device(check(rate=80.0))))
    assert (found.since[:10], round(found.share, 2)) == ("2026-11-01", -0.2)
    assert changes(quick, verification(device(check(rate=80.0)))) == []


@for_each(
    "before, now",
    [
        ({"load_per_core": 0.9}, {}),
        ({}, {"load_per_core": 0.9}),
        ({"load_per_core": None}, {}),
        ({}, {"compared": 512 * 512}),
        ({}, {"held_back": True}),
        ({"held_back": True}, {}),
    ],
)
def test_only_like_is_compared_with_like(before: dict[str, Any], now: dict[str, Any]) -> None:
    def run(rate: float, day: int, about: dict[str, Any]) -> KeptVerification:
        made = {**check(rate=rate), "compared": about.get("compared", 4096 * 4096)}
        found = verification(device(made), day=day, **{name: about[name] for name in about if name == "load_per_core"})
        rates = [{"device": "cuda:0", "check": "matmul", "dtype": "fp16", "held_back": about.get("held_back", False)}]
        return KeptVerification(found.made_at, found.driver, found.level, {**found.document, "rates": rates})

    assert changes(run(100.0, 1, {}), run(50.0, 2, {})) == [Change.SLOWER]
    assert changes(run(100.0, 1, before), run(50.0, 2, now)) == []


def test_one_quick_run_says_nothing_of_the_next() -> None:
    rates = tuple(enumerate((100.0, 98.0, 60.0), 1))
    quick = [verification(device(check("fp32", rate=rate)), day=day, level="quick") for day, rate in rates]
    assert changes(quick[0], quick[2]) == []
    assert changes(*quick) == [Change.SLOWER]
    soonest = [verification(device(check("fp16", rate=rate)), day=day, level="quick") for day, rate in rates]
    assert changes(*soonest) == []


def test_what_lies_within_earlier_runs_is_no_difference() -> None:
    before = [verification(device(check(rate=rate)), day=day) for day, rate in enumerate((120.0, 103.0), 1)]
    assert changes(*before, verification(device(check(rate=119.0)))) == []


def test_what_the_cpu_does_is_not_compared() -> None:
    before, now = ([device({**check(rate=rate), "name": "copy-back"}, kind="cpu")] for rate in (100.0, 10.0))
    assert changes(verification(*before), verification(*now)) == []
    before, now = ([device({**check(rate=rate), "name": "copy-from-device"})] for rate in (100.0, 10.0))
    assert changes(verification(*before), verification(*now)) == []


@for_each("rate, piece", [(0.1, "99 % slower"), (250.0, "2.5 times as fast"), (150.0, "50 % faster")])
def test_a_rate_is_told_in_figures_that_can_be(rate: float, piece: str) -> None:
    (found,) = between(verification(device(check())), verification(device(check(rate=rate)), day=2))
    assert piece in ENGLISH(found.words)
    assert "GPU 0 (NVIDIA GeForce RTX 4090)" in ENGLISH(found.words)


def test_a_check_is_compared_with_the_last_time_that_it_ran() -> None:
    ran, left = verification(device(check()), day=1), verification(device(check(verdict="skipped")), day=2)
    (found,) = between(ran, left, verification(device(check(verdict="fail")), day=3))
    assert (found.change, found.since[:10]) == (Change.BROKEN, "2026-11-01")


def test_rates_of_other_units_are_not_compared() -> None:
    assert changes(verification(device(check())), verification(device(check(rate=1.0, unit="GB/s")))) == []


@for_each(
    "before, now, change",
    [
        ("pass", "fail", [Change.BROKEN]),
        ("pass", "hung", [Change.BROKEN]),
        ("pass", "error", [Change.BROKEN]),
        ("fail", "pass", [Change.MENDED]),
        ("pass", "skipped", []),
        ("skipped", "fail", []),
        ("fail", "error", []),
    ],
)
def test_checks_that_passed_and_do_not_now(before: str, now: str, change: list[Change]) -> None:
    assert changes(verification(device(check(verdict=before))), verification(device(check(verdict=now)))) == change


def test_a_device_is_known_by_its_uuid_and_not_by_its_index() -> None:
    first, second = device(check(), uuid="GPU-1"), device(check(rate=50.0), index=1, uuid="GPU-2")
    exchanged = (device(check(rate=50.0), uuid="GPU-2"), device(check(), index=1, uuid="GPU-1"))
    assert changes(verification(first, second), verification(*exchanged)) == []


def test_devices_that_are_gone_or_new_are_told() -> None:
    one, other = device(check(), uuid="GPU-1"), device(check(), uuid="GPU-2")
    assert changes(verification(one), verification(other)) == [Change.DEVICE_GONE, Change.DEVICE_NEW]


def test_a_gpu_that_was_left_out_is_neither_gone_nor_new() -> None:
    one, other = device(check(), uuid="GPU-1"), device(check(), uuid="GPU-2", index=1)
    both, alone = verification(one, other), verification(one)
    assert differences((both,), alone, there=frozenset({"GPU-1", "GPU-2"})) == ()
    assert differences((both,), alone) == ()
    assert changes(both, alone, both) == []
    assert changes(verification(one), verification(device(check(), uuid="", kind="cpu"))) == [Change.DEVICE_GONE]


def test_another_environment_is_another_matter() -> None:
    other = verification(device(check(rate=10.0), python="/other/python"), interpreter="/other/python")
    assert changes(other, verification(device(check()))) == []


@for_each(
    "document",
    [{}, {"environments": 3, "devices": "x"}, {"environments": [3], "devices": [{"interpreter": PYTHON, "checks": [1]}]}],
)
def test_a_document_of_any_shape_is_read(document: dict[str, Any]) -> None:
    strange = KeptVerification("2026-11-01T09:00:00", "570", "quick", document)
    assert differences((strange,), verification(device(check()))) == ()
    assert differences((verification(device(check())),), strange) == ()


def test_a_device_goes_by_nvmls_number_where_it_is_known() -> None:
    slower = {**device(check(rate=50.0)), "index": 3}
    (found,) = between(verification(device(check())), verification(slower))
    words = "matmul fp16 on GPU 3 (NVIDIA GeForce RTX 4090) is 50 % slower than on 2026-11-01 09:00"
    assert (found.device, ENGLISH(found.words)) == ("cuda:0", words)


def test_that_the_cpu_was_verified_once_says_nothing() -> None:
    cpu = {**device(check(rate=1.0)), "device": "cpu", "uuid": ""}
    assert changes(verification(cpu), verification(device(check()))) == [Change.DEVICE_NEW]
    assert changes(verification(device(check())), verification(cpu)) == [Change.DEVICE_GONE]
