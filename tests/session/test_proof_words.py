"""What a run proves of the GPUs: the sentence names what it leaves open."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import FIRST_KERNEL, Cause, Check, DeviceVerdict, Verdict, Verification, device_verdict
from gpuassist.model.words import ENGLISH
from gpuassist.session.proof_words import verdict_on_accelerators
from gpuassist.session.verify import judged
from tests.rows import for_each

LATE = {"verdict": Verdict.SKIPPED, "error": verbatim("not run: time"), "cause": Cause.TIME}
GPUS = tuple(
    Gpu(Known(f"0000:0{place}:00.0", "test"), index=Known(place, "NVML"), uuid=Known(f"GPU-{place}", "NVML")) for place in (0, 1)
)


def checks(*names: str, late: tuple[str, ...] = ()) -> tuple[Check, ...]:
    found = tuple(Check(name, "fp32", Verdict.PASS) for name in names)
    return (*found, *(replace(Check(name, "fp32", Verdict.PASS), **LATE) for name in late))


def run(*devices: tuple[Check, ...], visible: int = 1) -> Verification:
    told = tuple(
        DeviceVerdict(f"cuda:{place}", "RTX 3090", device_verdict(one), one, uuid=f"GPU-{place}")
        for place, one in enumerate(devices)
    )
    return Verification("python", (("torch", "2.6.0"), ("cuda", "12.4")), told, visible=visible, verdict=Verdict.PASS)


@for_each(
    "late, verdict",
    [
        ((), Verdict.PASS),
        (("sort", "fft"), Verdict.PASS),
        (("copy-from-device", "sort"), Verdict.SKIPPED),
        (("matmul",), Verdict.SKIPPED),
    ],
)
def test_some_checks_a_pass_cannot_do_without(late: tuple[str, ...], verdict: Verdict) -> None:
    least = (FIRST_KERNEL, "matmul", "copy-to-device", "copy-from-device")
    assert device_verdict(checks(*(one for one in least if one not in late), late=late)) is verdict


def test_a_kernel_alone_proves_nothing() -> None:
    assert device_verdict(checks(FIRST_KERNEL)) is Verdict.SKIPPED


@for_each("late", [("sort", "fft"), ("matmul", "sort")])
def test_what_was_not_run_for_time_is_named(late: tuple[str, ...]) -> None:
    told = ENGLISH(verdict_on_accelerators(judged(run(checks(FIRST_KERNEL, "convolution", late=late)), GPUS[:1], {}, ("all",))))
    assert "Every GPU" not in told
    assert "sort fp32" in told
    assert "--level full" in told


def test_a_gpu_that_was_not_asked_for_is_named() -> None:
    asked = replace(run(checks("matmul")), devices=(replace(run(checks("matmul")).devices[0], uuid="GPU-1"),))
    result = judged(asked, GPUS, {}, ("GPU-1",))
    assert result.not_asked == (0,)
    told = ENGLISH(verdict_on_accelerators(result))
    assert told == "GPU 1 computed the right results. GPU 0 was not asked for."
    assert judged(asked, GPUS, {}, ("all",)).not_asked == ()


@for_each(
    ("uuids", "told"),
    [
        (("MIG-3",), "1 of 7 instances"),
        (("GPU-0",), "1 of 7 instances"),  # as a torch that does not tell the instance's name has it
        (("MIG-0", "MIG-3"), "2 of 7 instances"),
        (tuple(f"MIG-{place}" for place in range(7)), ""),
    ],
)
def test_of_a_divided_gpu_the_instances_that_were_verified_are_told(uuids: tuple[str, ...], told: str) -> None:
    instances = Known(tuple(f"MIG-{place}" for place in range(7)), "NVML")
    divided = replace(GPUS[0], mig_enabled=Known(True, "NVML"), mig_uuids=instances)
    result = run(*(checks(FIRST_KERNEL, "matmul") for _ in uuids), visible=len(uuids))
    named = tuple(replace(device, uuid=uuid, verdict=Verdict.PASS) for device, uuid in zip(result.devices, uuids, strict=True))
    said = ENGLISH(verdict_on_accelerators(judged(replace(result, devices=named), (divided, GPUS[1]), {}, ("all",))))
    assert told in said
    assert ("GPU 0" in said and "instances" in said) is bool(told)
