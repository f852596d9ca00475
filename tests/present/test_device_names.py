"""One name for a GPU throughout: NVML's number, and torch's once where that is another."""

from __future__ import annotations

from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.words import ENGLISH
from gpuassist.present.device_names import DeviceNames
from gpuassist.verify.protocol import Device
from tests.rows import for_each

GPUS = tuple(
    Gpu(
        Known(f"0000:0{place + 1}:00.0", "test"),
        index=Known(place, "NVML"),
        name=Known("RTX 3090", "NVML"),
        uuid=Known(f"GPU-{place}", "NVML"),
    )
    for place in (0, 1)
)


def names(*uuids: str, asked: tuple[str, ...] = ("all",), visible: str | None = None) -> tuple[DeviceNames, tuple[Device, ...]]:
    devices = tuple(Device(f"cuda:{place}", "RTX 3090", (), uuid=uuid) for place, uuid in enumerate(uuids))
    variables = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    return DeviceNames(devices, gpus=GPUS, asked=asked, variables=variables), devices


@for_each(
    "uuid, asked, visible, end",
    [
        ("GPU-0", ("all",), None, "GPU-0"),
        ("GPU-1", ("all",), "1", "torch calls it cuda:0"),
        ("GPU-0", ("GPU-0",), "1,0", "torch calls it cuda:1"),
        ("GPU-1", ("GPU-1",), None, "GPU-1"),
        ("GPU-0", ("GPU-0",), "1", "hidden from torch by CUDA_VISIBLE_DEVICES"),
    ],
)
def test_the_heading_says_what_torch_calls_it(uuid: str, asked: tuple[str, ...], visible: str | None, end: str) -> None:
    made, (device,) = names(uuid, asked=asked, visible=visible)
    assert made.name("cuda:0") == f"GPU {uuid[-1]}"
    assert ENGLISH(made.heading(device)).startswith(f"GPU {uuid[-1]} · RTX 3090")
    assert ENGLISH(made.heading(device)).endswith(end)


def test_what_nvml_does_not_list_keeps_torchs_name() -> None:
    made, (device,) = names("GPU-7")
    assert (made.name("cuda:0"), made.name("cpu")) == ("cuda:0", "cpu")
    assert ENGLISH(made.heading(device)) == "cuda:0 · RTX 3090 · GPU-7"
