"""Which devices the child chooses, with a made-up torch in its place: no interpreter starts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpuassist.verify.child import worker
from gpuassist.verify.child.bench import Bench

UUIDS = ("5090aaaa-0000-4000-8000-000000000000", "4090bbbb-0000-4000-8000-000000000000")


def torch(count: int = 0, *, cuda: str | None = "12.4", hip: str | None = None, trouble: str = "", uuids: bool = True) -> Any:
    """What the child asks of torch before the first check."""

    def init() -> None:
        if trouble:
            raise RuntimeError(trouble)

    known = {"name": "A", "major": 8, "minor": 9, "total_memory": 1 << 30}
    properties = [SimpleNamespace(**known, **({"uuid": uuid} if uuids else {})) for uuid in UUIDS]
    return SimpleNamespace(
        version=SimpleNamespace(cuda=cuda, hip=hip),
        cuda=SimpleNamespace(
            is_available=lambda: count > 0,
            device_count=lambda: count,
            init=init,
            get_device_properties=lambda index: properties[index],
        ),
    )


def chosen(made: Any, devices: str) -> list[str]:
    return worker.wishes_to_devices(made, devices.split(","))[0]


def refused(made: Any, devices: str) -> str:
    with pytest.raises(LookupError) as caught:
        chosen(made, devices)
    return str(caught.value)


def test_all_is_every_gpu() -> None:
    assert chosen(torch(2), "all") == ["cuda:0", "cuda:1"]


def test_all_without_a_gpu_is_the_cpu() -> None:
    assert chosen(torch(0), "all") == ["cpu"]


def test_gpus_without_a_gpu_are_an_error() -> None:
    assert refused(torch(0, trouble="Found no NVIDIA driver on your system."), "cuda").endswith(
        "Found no NVIDIA driver on your system."
    )


@pytest.mark.parametrize(
    ("wish", "device"), [("0", "cuda:0"), ("1", "cuda:1"), (f"GPU-{UUIDS[1]}", "cuda:1"), (UUIDS[0], "cuda:0")]
)
def test_one_is_found_by_number_or_uuid(wish: str, device: str) -> None:
    assert chosen(torch(2), wish) == [device]


def test_several_are_checked_in_the_order_asked_for() -> None:
    assert chosen(torch(2), "cpu,1,0") == ["cpu", "cuda:1", "cuda:0"]


@pytest.mark.parametrize("wish", ["2", "GPU-00000000", "x"])
def test_one_that_torch_does_not_see_is_an_error(wish: str) -> None:
    assert refused(torch(2), wish) == f"torch sees 2 GPUs, and {wish} is none of them"


def test_a_torch_that_tells_no_uuids_finds_numbers_alone() -> None:
    assert chosen(torch(2, uuids=False), "1") == ["cuda:1"]
    assert "is none of them" in refused(torch(2, uuids=False), f"GPU-{UUIDS[0]}")


def test_a_torch_for_the_cpu_says_so() -> None:
    assert refused(torch(cuda=None), "0") == "this torch is built for the CPU only"


def test_a_driver_that_torch_cannot_use_is_the_reason() -> None:
    assert "driver too old" in refused(torch(trouble="driver too old"), "0")


def test_a_hidden_gpu_is_none() -> None:
    assert worker.wishes_to_devices(torch(0), ["all"]) == (["cpu"], 0, "torch sees no GPU")


def test_a_torch_for_amd_counts_its_gpus() -> None:
    assert chosen(torch(1, cuda=None, hip="6.2"), "all") == ["cuda:0"]


@pytest.mark.parametrize(("number", "words"), [(8902, "8.9.2"), (90100, "9.1.0"), (91002, "9.10.2"), (7605, "7.6.5")])
def test_the_number_of_cudnn_is_read(number: int, words: str) -> None:
    cudnn = SimpleNamespace(is_available=lambda: True, version=lambda: number)
    assert worker._cudnn(SimpleNamespace(backends=SimpleNamespace(cudnn=cudnn))) == words


def test_no_cudnn_is_empty() -> None:
    assert worker._cudnn(SimpleNamespace(backends=SimpleNamespace(cudnn=SimpleNamespace(is_available=lambda: False)))) == ""


def busy(free: int) -> Any:
    made = torch(1)
    made.cuda.mem_get_info = lambda device: (free, free)
    made.cuda.memory_reserved = lambda device: 0
    return made


@pytest.mark.parametrize(
    ("free", "level", "size"), [(20 << 30, "quick", 4096), (20 << 30, "full", 8192), (100 << 20, "quick", 1024)]
)
def test_a_busy_card_gets_smaller_products(free: int, level: str, size: int) -> None:
    assert worker._sized(Bench(busy(free), "cuda:0", 0, 0, level)).size == size


def test_a_full_card_gets_the_smallest() -> None:
    assert worker._sized(Bench(busy(0), "cuda:0", 0, 0)).size == 512


@pytest.mark.parametrize(
    ("architectures", "capability", "code"),
    [
        (["sm_80", "sm_86", "sm_90"], "8.9", "binary"),
        (["sm_80", "sm_90", "compute_90"], "12.0", "ptx"),
        (["sm_80", "sm_90"], "12.0", "none"),
        (["sm_90a"], "9.0", "binary"),
        (["sm_50", "sm_60"], "3.7", "none"),
        (["sm_100", "sm_120"], "12.1", "binary"),
        (["gfx1100"], "11.0", "binary"),
        ([], "8.9", "binary"),
    ],
)
def test_what_torch_holds_for_a_gpu(architectures: list[str], capability: str, code: str) -> None:
    assert worker.code_for(architectures, capability) == code


def test_a_failure_is_one_line_and_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ValueError

    _, error = worker.attempt(fail)
    assert error is not None
    assert worker.said(error) == "ValueError: no message"
    assert "Traceback" in capsys.readouterr().err
