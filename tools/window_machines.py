"""The machines that the walk through the window looks at, and what is measured on them: long names, lost and many GPUs."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.fact import Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.sample import Sample
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.session.inspect import open_example
from tests.ui.made import gpu, known, process, sample

LONG = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"
LOST = "the GPU is lost: it has fallen off the bus, and only a reboot brings it back"
_CHECKS = (
    Check("matmul", "fp32", Verdict.PASS, None, known(3.1e-7), known(4.2e-6), known(0.01), known(58.2), "TFLOP/s"),
    Check("matmul", "bf16", Verdict.FAIL, verbatim("the result is too far off"), known(0.5), known(0.01)),
    Check("functions-of-each-element", "fp32", Verdict.HUNG, verbatim("no answer within 60 s")),
    Check("memory-returned", "fp32", Verdict.SKIPPED, verbatim("torch counts GPUs only")),
)


def machines(session: Session) -> dict[str, Callable[[], Machine]]:
    """Those that are walked, by name."""

    def example(name: str) -> Machine:
        return open_example(session, name).machine

    return {
        "02-too-old": lambda: example("02-rtx-4090-cuda-11-7-first"),
        "05-two-gpus": lambda: example("05-gtx-1080-ti-and-rtx-5090"),
        "06-mismatch": lambda: example("06-driver-library-mismatch"),
        "no-gpu": lambda: replace(example("01-new-rtx-5090-nouveau"), gpus=Known((), "/sys")),
        "long-names": lambda: many(example("08-healthy"), 2, LONG),
        "eight-gpus": lambda: many(example("08-healthy"), 8, "NVIDIA H100 80GB HBM3"),
    }


def many(machine: Machine, count: int, name: str) -> Machine:
    """The machine with so many of its GPU, the second of them lost where there are many."""
    one = value_or(machine.gpus, ())[0]
    gpus = [
        replace(
            one,
            name=Known(name, "nvmlDeviceGetName"),
            index=Known(place, "nvmlDeviceGetIndex"),
            pci_address=Known(f"0000:{place + 1:02x}:00.0", "/sys/bus/pci/devices"),
            uuid=Known(f"GPU-{place:08x}-1111-2222-3333-444444444444", "nvmlDeviceGetUUID"),
        )
        for place in range(count)
    ]
    if count > 2:
        gpus[1] = Gpu(pci_address=gpus[1].pci_address, pci_id=one.pci_id, name=gpus[1].name, kernel_driver=one.kernel_driver)
    return replace(machine, gpus=Known(tuple(gpus), "made up"))


def made_sample(second: int, count: int, name: str) -> Sample:
    made = [
        gpu(
            place,
            process(100 + place, 3 + place, "/home/somebody/.pyenv/versions/3.11.7/bin/python3 train.py --batch 24"),
            total=80,
        )
        for place in range(count)
    ]
    made = [replace(one, name=known(name)) for one in made]
    if count > 2:
        made[1] = replace(gpu(1, lost=LOST), name=known(name))
    return sample(float(second), *made)


def failed_verification() -> Verification:
    """Two devices whose checks ended in every way."""
    devices = tuple(DeviceVerdict(f"cuda:{place}", LONG, Verdict.FAIL, _CHECKS) for place in range(2))
    return Verification(
        "/a/rather/long/place/of/an/environment/train/bin/python",
        (("python", "3.11.9"), ("torch", "2.5.1+cu124"), ("cuda", "12.4")),
        devices,
        visible=2,
        verdict=Verdict.FAIL,
    )
