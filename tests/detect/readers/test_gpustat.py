"""gpustat's table in its forms, whole, cut or quoted; other brackets and bars are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import gpustat
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

TABLE = """\
$ gpustat -cpu
box                      Mon Aug 22 15:23:57 2022  515.65.01
[0] Tesla P100-PCIE-16GB | 27'C,   0 % |   103 / 16384 MB | me:python/1234(90M) root:Xorg/99(13M)
[1] Tesla P100-PCIE-16GB | 28'C,  99 % | 16000 / 16384 MB |
"""


def told(words: str) -> Machine:
    return gpustat.read(Paste(words))


def gpus(words: str) -> tuple[Gpu, ...]:
    return value_or(told(words).gpus, ())


def test_rows_are_gpus() -> None:
    first, second = gpus(TABLE)

    assert first.name == Known("Tesla P100-PCIE-16GB", "pasted gpustat, line 3")
    assert (value_or(first.index, -1), value_or(second.index, -1)) == (0, 1)
    assert (value_or(second.memory_used_bytes, 0), value_or(second.memory_total_bytes, 0)) == (16000 << 20, 16384 << 20)


def test_heading_names_the_driver() -> None:
    assert told(TABLE).driver.version == Known(Version((515, 65, 1)), "pasted gpustat, line 2")


def test_processes_have_their_memory() -> None:
    first, second = gpus(TABLE)

    assert [(one.pid, value_or(one.memory_used_bytes, 0)) for one in value_or(first.processes, ())] == [
        (1234, 90 << 20),
        (99, 13 << 20),
    ]
    assert second.processes is NOT_ASKED


@pytest.mark.parametrize(
    ("row", "name", "total"),
    [
        ("[0] GeForce GTX Titan X | 77'C,  96 % | 11848 / 12287 MB | python/52046(11821M)", "GeForce GTX Titan X", 12287),
        ("[0] NVIDIA GeForce RTX 4090 | 40°C,  30 %,   0 %,   20 / 450 W |   512 / 24564 MB |", "NVIDIA GeForce RTX 4090", 24564),
        (
            "[3] NVIDIA A100-SXM4-80GB | 31'C,   0 % (E:   0 %  D:   0 %) |     4 / 81920 MB | me(3M)",
            "NVIDIA A100-SXM4-80GB",
            81920,
        ),
        ("> [0] Tesla T4         | 30'C,  ?? % |     0 / 15360 MB | (Not Supported)", "Tesla T4", 15360),
        ("[0] Tesla K80 | 30'C,   0 % |     0 / 11441 MB", "Tesla K80", 11441),
    ],
)
def test_row_in_any_form_is_read(row: str, name: str, total: int) -> None:
    (gpu,) = gpus(f"{row}\n")

    assert (value_or(gpu.name, ""), value_or(gpu.memory_total_bytes, 0) >> 20) == (name, total)


def test_memory_that_is_not_told_stays_open() -> None:
    (gpu,) = gpus("[0] Tesla K80 | 30'C,   0 % |    ?? /    ?? MB | (Not Supported)\n")

    assert gpu.memory_total_bytes is NOT_ASKED


def test_table_that_is_drawn_again_counts_last() -> None:
    found = gpus(TABLE + TABLE.replace("16000", "17"))

    assert [value_or(gpu.memory_used_bytes, 0) >> 20 for gpu in found] == [103, 17]


def test_process_without_its_memory_is_kept() -> None:
    (gpu,) = gpus("[0] Tesla K80 | 30'C,   0 % |    10 / 11441 MB | me:python/7(?M)\n")

    assert value_or(gpu.processes, ()) == (GpuProcess(7, ""),)


@pytest.mark.parametrize(
    "words",
    [
        "[0] step 1 | loss 0.5 | 10 / 100 MB |\n",
        "[INFO] Tesla K80 | 30'C, 0 % | 0 / 11441 MB |\n",
        "[0] Tesla K80 | 30'C,   0 % |     0 / 114\n",
        "downloaded 10 / 100 MB\n",
    ],
)
def test_other_line_is_no_gpu(words: str) -> None:
    assert gpus(words) == ()


@given(st.integers(0, 5))
def test_cut_table_names_no_other_gpu(end: int) -> None:
    cut = "".join(TABLE.splitlines(keepends=True)[:end])

    assert set(gpus(cut)) <= set(gpus(TABLE))


@given(st.text(alphabet="[0] |/%C'MB12\n", max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(told(f"[0] T4 | 3'C, 1 % | {words} MB |"), Machine)
