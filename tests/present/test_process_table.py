"""The processes of a sample as rows."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.process_table import (
    ORDERS,
    UNTOLD,
    Grouping,
    LiveRow,
    ProcessColumn,
    cell,
    duration,
    process_details,
    table_rows,
    why_no_processes,
)
from tests.monitor.samples import gpu, process
from tests.rows import for_each

GIB = 1 << 30
TRAIN = replace(
    process(10, 4 * GIB, "/usr/bin/python3 -u /home/x/train.py --lr 3"),
    user=Known("ann", "test"),
    kind=Known(ProcessKind.COMPUTE, "test"),
    gpu_percent=Known(90, "test"),
    started=Known(1000.0, "test"),
    torch=Known(TorchMemory(GIB, 2 * GIB, 3 * GIB, 3 * GIB, GIB, 0, 1, 2), "test"),
)
OTHER = replace(TRAIN, pid=11, memory_used_bytes=Known(GIB, "test"), user=Known("bob", "test"), gpu_percent=Known(5, "test"))
DESKTOP = replace(process(12, None, "/usr/lib/xorg/Xorg :0"), kind=Known(ProcessKind.GRAPHICS, "test"), user=Known("root", "test"))
GPUS = (
    gpu(9 * GIB, OTHER, DESKTOP),
    gpu(9 * GIB, TRAIN, index=1),
    gpu(9 * GIB, replace(TRAIN, memory_used_bytes=Known(GIB, "test")), index=2),
)


def pids(rows: tuple[LiveRow, ...]) -> list[int]:
    return [part.process.pid for row in rows for part in row.parts]


def told(row: LiveRow, column: ProcessColumn) -> str:
    return ENGLISH(cell(row, column, 1000.0))


def test_the_largest_comes_first_and_what_is_not_known_last() -> None:
    rows = table_rows(GPUS)
    assert [(row.parts[0].gpu, row.parts[0].process.pid) for row in rows] == [(1, 10), (0, 11), (2, 10), (0, 12)]


@for_each("order", ORDERS)
def test_every_order_keeps_every_row(order: ProcessColumn) -> None:
    assert sorted(pids(table_rows(GPUS, order=order))) == [10, 10, 11, 12]


@for_each(
    ("words", "found"),
    (("train", [10, 11, 10]), ("graphics", [12]), ("compute bob", [11]), ("TRAIN.py ann", [10, 10]), ("12", [12]), ("nobody", [])),
)
def test_a_filter_finds_every_word_wherever_it_stands(words: str, found: list[int]) -> None:
    assert pids(table_rows(GPUS, wanted=words)) == found


def test_a_group_is_summed_up_over_gpus() -> None:
    rows = table_rows(GPUS, grouping=Grouping.USER)
    assert [row.title for row in rows] == [verbatim("ann"), verbatim("bob"), verbatim("root")]
    ann = rows[0]
    assert (told(ann, ProcessColumn.MEMORY), told(ann, ProcessColumn.GPU), told(ann, ProcessColumn.PID)) == ("5.0 GiB", "1,2", "10")
    assert told(ann, ProcessColumn.GPU_PERCENT) == "180 %"
    assert rows[2].single is not None
    assert len(table_rows(GPUS, grouping=Grouping.SCRIPT)) == 2
    assert len(table_rows(GPUS, grouping=Grouping.CONTAINER)) == 1


def test_what_belongs_to_a_process_is_not_added_up_over_its_gpus() -> None:
    busy = replace(TRAIN, cpu_percent=Known(80.0, "test"), resident_bytes=Known(GIB, "test"))
    (row,) = table_rows((gpu(1, busy), gpu(1, busy, index=1)), grouping=Grouping.SCRIPT)
    assert (told(row, ProcessColumn.CPU_PERCENT), told(row, ProcessColumn.RESIDENT)) == ("80 %", "1.0 GiB")


def test_a_cell_says_what_is_known_and_nothing_else() -> None:
    rows = table_rows(GPUS)
    assert told(rows[0], ProcessColumn.NAME) == "train.py"
    assert told(rows[0], ProcessColumn.TORCH) == "1.0 of 3.0 GiB"
    assert cell(rows[-1], ProcessColumn.MEMORY, 0.0) == UNTOLD
    assert cell(rows[-1], ProcessColumn.SINCE, 0.0) == UNTOLD


def test_a_notebook_is_known_by_its_name() -> None:
    kernel = replace(process(1, 1, "/usr/bin/python -m ipykernel_launcher"), notebook=Known("work/attention.ipynb", "test"))
    (row,) = table_rows((gpu(1, kernel),))
    assert told(row, ProcessColumn.NAME) == "attention.ipynb"


def test_the_details_have_every_figure_and_the_reason_of_what_is_not_known() -> None:
    refused = Unknown(text("this user may not read it"))
    (row,) = table_rows((gpu(1, replace(TRAIN, container=refused)),))
    assert row.single is not None
    lines = [f"{ENGLISH(label)}: {ENGLISH(words)}" for label, words in process_details(row.single, 2000.0)]
    assert "command: /usr/bin/python3 -u /home/x/train.py --lr 3" in lines
    assert "container: this user may not read it" in lines
    assert "torch, reserved: 3.0 GiB, peak 3.0 GiB" in lines
    assert not any(line.startswith("notebook") for line in lines)  # nobody looked


def test_gpus_that_hide_their_processes_for_one_reason_are_told_of_once() -> None:
    hidden = Unknown(text("this user may not read it"))
    gpus = tuple(GpuSample(index, memory_used_bytes=Known(1, "test"), processes=hidden) for index in range(3))
    sample = Sample(0.0, 0.0, (*gpus, gpu(None)))
    (told,) = why_no_processes(sample)
    assert ENGLISH(told) == "Processes of GPU 0, 1, 2 are not listed: this user may not read it"
    assert why_no_processes(sample, 3) == ()


@for_each(
    ("seconds", "words"),
    ((0.4, "0 s"), (59.9, "59 s"), (61.0, "1 min"), (3600.0 * 3 + 720, "3 h 12 min"), (4 * 86400.0 + 7300, "4 d 2 h")),
)
def test_a_duration_has_two_figures_at_most(seconds: float, words: str) -> None:
    assert ENGLISH(duration(seconds)) == words


def test_processes_of_one_size_stand_by_number() -> None:
    same = [ProcessSample(pid, memory_used_bytes=Known(1, "test")) for pid in (30, 10, 20)]
    assert pids(table_rows((gpu(1, *same),))) == [10, 20, 30]


def test_a_process_on_an_instance_of_mig_is_listed_and_added_up_once() -> None:
    whole = gpu(9 * GIB, TRAIN, OTHER)
    instance = replace(gpu(4 * GIB, TRAIN, index=1001), parent=0)
    rows = table_rows((whole, instance))
    assert [(told(row, ProcessColumn.GPU), row.parts[0].process.pid) for row in rows] == [("0:1", 10), ("0", 11)]
    ann, _ = table_rows((whole, instance), grouping=Grouping.USER)
    assert told(ann, ProcessColumn.MEMORY) == "4.0 GiB"
