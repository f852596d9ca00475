"""The tables that profilers print: Python's, torch's of every version, Nsight Systems', and stacks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpuassist.formats.profiles.names import is_own_function
from gpuassist.formats.profiles.samples import read_begins_and_ends, read_speedscope
from gpuassist.formats.profiles.scalene import read_scalene
from gpuassist.formats.profiles.tables import read_any_text, read_tables
from gpuassist.model.profile import ProfileForm, ShareBasis, TimeKind
from tests.rows import for_each

PYTHON = """\
         3321 function calls (3195 primitive calls) in 11.302 seconds

   ncalls  tottime  percall  cumtime  percall filename:lineno(function)
        1    3.003    3.003    3.003    3.003 {built-in method time.sleep}
       64    4.911    0.077    4.911    0.077 dataset.py:31(__getitem__)
   2349/1    1.402    0.000    1.402    1.402 {built-in method torch._C._cudart.cudaProfilerStart}
"""
TORCH = """\
---------------  ------------  ------------  ------------  ------------  ------------
           Name    Self CPU %      Self CPU     Self CUDA   Self CUDA %    # of Calls
---------------  ------------  ------------  ------------  ------------  ------------
    aten::addmm        21.00%     210.000us       1.200ms        61.00%             1
    aten::addmm         2.00%      20.000us     300.000us        15.00%             1
     aten::relu         2.00%      20.000us      90.000us         5.00%             1
---------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 1.000ms
Self CUDA time total: 1.967ms
"""
# As torch 2.x prints them: operators, the calls that they make, and the kernels that these start, one below the other.
WITH_KERNELS = """\
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------
                                                   Name    Self CPU %      Self CPU     Self CUDA   Self CUDA %    # of Calls
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------
                                       cudaLaunchKernel        60.00%     600.000ms       0.000us         0.00%         40000
                                            aten::addmm        20.00%     200.000ms      80.000ms        80.00%         20000
                                              Memcpy HtoD         0.00%       0.000us      20.000ms        20.00%           100
                                 ampere_sgemm_128x64_tn         0.00%       0.000us      80.000ms        80.00%         20000
                                  cudaDeviceSynchronize         1.00%      10.000ms       0.000us         0.00%             2
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 1.000s
Self CUDA time total: 100.000ms
"""
BEFORE_1_7 = """\
-----------------------  ---------------  ---------------  ---------------  ---------------  ---------------
Name                     Self CPU total %  Self CPU total   CPU total %      CPU total        Number of Calls
-----------------------  ---------------  ---------------  ---------------  ---------------  ---------------
conv2d                   75.00%           3.000ms          80.00%           3.200ms          2
relu                     25.00%           1.000ms          25.00%           1.000ms          2
-----------------------  ---------------  ---------------  ---------------  ---------------  ---------------
Self CPU time total: 4.000ms
"""
NSYS = """\
 ** CUDA API Summary (cuda_api_sum):

 Time (%)  Total Time (ns)  Num Calls   Avg (ns)     Med (ns)    Min (ns)  Max (ns)              Name
 --------  ---------------  ---------  -----------  -----------  --------  ---------  -------------  ----------------------
     71.2        512000000        120    4269547.3    3912345.0      1234   20123456      1234567.8  cudaStreamSynchronize
     28.8        144000000      40000       3615.0       3300.0      2100     412345         5123.4  cudaLaunchKernel

 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)            Name
 --------  ---------------  ---------  --------  --------  --------  --------  -----------  ------------------------
     61.0      300,000,000      20000   15250.0   15000.0      9000     90000  ampere_sgemm_128x64_tn
     39.0      100,000,000      20000    9750.0    9700.0      2000     20000  void at::native::elementwise<(int)4>(int, T2)

 ** CUDA GPU MemOps Summary (by Time) (cuda_gpu_mem_time_sum):

 Time (%)  Total Time (ns)  Count  Avg (ns)  Med (ns)  Min (ns)  Max (ns)           Operation
 --------  ---------------  -----  --------  --------  --------  --------  -----------  ----------------------------
     92.0         46000000    400  115000.0  114000.0      1000    900000      20000.0  [CUDA memcpy Host-to-Device]
"""


def spent(words: str, basis: ShareBasis) -> dict[str, Any]:
    told = next(one for one in read_any_text(words) if one.basis is basis)
    return {one.kind.value: pytest.approx(one.seconds, rel=1e-6) for one in told.shares}


def test_functions_are_read_with_their_own_time() -> None:
    (told,) = read_tables(PYTHON)
    assert told.form is ProfileForm.CPROFILE
    assert told.seconds == pytest.approx(11.302)
    assert sorted((one.calls, one.seconds) for one in told.entries) == [(1, 3.003), (64, 4.911), (2349, 1.402)]


@for_each(
    ("words", "basis", "shares"),
    [
        (PYTHON, ShareBasis.THREAD, {"start": 4.405, "data": 4.911, "rest": 1.986}),
        (TORCH, ShareBasis.DEVICE, {"kernels": 1.967e-3}),
        (WITH_KERNELS, ShareBasis.DEVICE, {"kernels": 0.08, "copies": 0.02}),
        (WITH_KERNELS, ShareBasis.THREAD, {"launches": 0.6, "operators": 0.2, "waits": 0.01, "rest": 0.19}),
        (BEFORE_1_7, ShareBasis.THREAD, {"operators": 0.004}),
        (NSYS, ShareBasis.DEVICE, {"kernels": 0.4, "copies": 0.046}),
        (NSYS, ShareBasis.THREAD, {"waits": 0.512, "launches": 0.144}),
        (PYTHON + TORCH, ShareBasis.DEVICE, {"kernels": 1.967e-3}),
        ("a.py (a.py:1);run (a.py:7) 30\na.py (a.py:1);sleep (time.py:2) 10", ShareBasis.THREAD, {"python": 40.0}),
    ],
)
def test_time_by_kind(words: str, basis: ShareBasis, shares: dict[str, float]) -> None:
    assert spent(words, basis) == shares


def test_operators_of_one_name_are_one() -> None:
    told = next(one for one in read_tables(TORCH) if one.basis is ShareBasis.DEVICE)
    assert {one.name: round(one.seconds * 1e6) for one in told.entries} == {"aten::addmm": 1500, "aten::relu": 90}


@for_each(
    "words",
    [
        "",
        "12 function calls in a minute",
        "Name  Self CPU\n---\nnothing here",
        TORCH.replace("Self CPU", "Own CPU"),
        "hello; world",
        "Time (%),Total Time (ms),Name\r61.0,3.5,add\n\n",
    ],
)
def test_what_is_no_profile_is_none(words: str) -> None:
    assert read_any_text(words) == ()


# As nsys 2022 prints them; the average tells that the copies wait and that the first call of all sets CUDA up.
_TITLES = ("Time (%)", "Total Time (ns)", "Num Calls", "Avg (ns)", "Name")
_CALLS = (("50.0", "600000000", "1", "600000000.0", "cudaFree"), ("50.0", "600000000", "100", "6000000.0", "cudaMemcpyAsync"))
_ON_GPU = ("Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "GridXYZ", "Category", "Operation")
_KERNELS = (
    ("60.0", "60000000", "10", "6000000.0", "   1    1    1", "CUDA_KERNEL", "void add<int, (bool)1>(int, T2)"),
    ("20.0", "20000000", "10", "2000000.0", " 256    1    1", "CUDA_KERNEL", "void add<int, (bool)1>(int, T2)"),
    ("20.0", "20000000", "10", "2000000.0", "             ", "MEMORY_OPER", "[CUDA memcpy HtoD]"),
)


def laid_out(layout: str, titles: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    whole = [titles, *rows]
    if layout == "json":
        return "[\n" + ",\n".join(json.dumps(dict(zip(titles, row, strict=True)), indent=2) for row in rows) + "\n]\n"
    if layout == "csv":
        return "".join(",".join(f'"{one}"' if "," in one else one for one in row) + "\n" for row in whole)
    if layout == "tsv":
        return "".join("\t".join(row) + "\n" for row in whole)
    widths = [max(len(row[place]) for row in whole) for place in range(len(titles))]
    lines = ["  ".join(one.rjust(width) for one, width in zip(row, widths, strict=True)) for row in whole]
    if layout == "columns":
        return "\n".join((f" {lines[0]}", *(f" {one}" for one in ("-" * len(lines[0]), *lines[1:])))) + "\n"
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    boxed = [f"| {' | '.join(one.rjust(width) for one, width in zip(row, widths, strict=True))} |" for row in whole]
    return "\n".join((border, boxed[0], border, *boxed[1:], border)) + "\n"


@for_each("layout", ["columns", "box", "csv", "tsv", "json"])
def test_each_layout_of_nsys_says_the_same(layout: str) -> None:
    progress = "[1/2] [========================100%] a.nsys-rep\n[2/2] Executing 'cuda_api_sum' stats report\n"
    words = f"{progress}\n{laid_out(layout, _TITLES, _CALLS)}\n[a.sqlite]\n{laid_out(layout, _ON_GPU, _KERNELS)}"
    assert spent(words, ShareBasis.THREAD) == {"start": 0.6, "waits": 0.6}
    assert spent(words, ShareBasis.DEVICE) == {"kernels": 0.08, "copies": 0.02}
    in_seconds = laid_out(layout, ("Time (%)", "Total Time (sec)", "Num Calls", "Name"), (("100.0", "0.25", "9", "cudaMalloc"),))
    assert spent(in_seconds, ShareBasis.THREAD) == {"start": 0.25}


def test_heads_of_nsys_without_end_are_read_in_one_pass() -> None:
    for words in ("[\n", "Time (%),Total Time (ns),Name\n", "| Time (%) | Total Time (ns) | Name |\n"):
        assert read_any_text(words * 30_000) == ()


IMPORTING = """\
         900 function calls in 20.000 seconds

   ncalls  tottime  percall  cumtime  percall filename:lineno(function)
       64    2.000    0.031    2.000    0.031 {built-in method time.sleep}
        1    1.000    1.000   10.000   10.000 <frozen importlib._bootstrap>:1165(_find_and_load)
      900    9.000    0.010    9.000    0.010 /usr/lib/python3.11/enum.py:5(__new__)
        1    5.000    5.000   20.000   20.000 train.py:1(<module>)
       64    3.000    0.047    5.000    0.078 train.py:31(__getitem__)
"""
_WITH_STACK = """\
-----------------------------------------  --------------  ------------  ------------  ------------  ------------
                                     Name   Overload Name      Self CPU     CPU total     Self CUDA    # of Calls
-----------------------------------------  --------------  ------------  ------------  ------------  ------------
                <built-in function sleep>                     700.000ms     700.000ms       0.000us            40
    enumerate(DataLoader)#_SingleProcess                       10.000ms     800.000ms       0.000us            40
                            ProfilerStep*                     150.000ms        1.000s       0.000us             3
                               aten::add_          Tensor      50.000ms      50.000ms      20.000ms            40
                                  forward                      40.000ms     100.000ms       0.000us            40
                                  forward                       0.000us       0.000us      60.000ms            40
                                vector_add                      0.000us       0.000us      20.000ms            40
-----------------------------------------  --------------  ------------  ------------  ------------  ------------
Self CPU time total: 1.000s
Self CUDA time total: 60.000ms
"""


def test_what_an_import_and_a_data_set_take_as_a_whole_is_theirs() -> None:
    assert spent(IMPORTING, ShareBasis.THREAD) == {"start": 10.0, "data": 5.0, "python": 5.0}
    assert spent(_WITH_STACK, ShareBasis.THREAD) == {"data": 0.71, "rest": 0.2, "operators": 0.09}


@for_each(
    ("name", "own"),
    [
        ("/home/you/test/queue.py:3(__getitem__)", True),  # named as a module of Python is
        ("train/queue.py:3(step)", True),
        ("queue.py:3(get)", False),
        ("json/decoder.py:3(decode)", False),
        ("/usr/lib64/python3.13/site.py:3(main)", False),
        ("/usr/lib/python3/dist-packages/a.py:3(f)", False),
    ],
)
def test_whose_a_function_is(name: str, own: bool) -> None:
    assert is_own_function(name) is own


def test_a_part_that_the_program_has_named_is_no_kernel() -> None:
    told = next(one for one in read_tables(_WITH_STACK) if one.basis is ShareBasis.DEVICE)
    assert {one.name: one.seconds for one in told.entries} == {"aten::add_": 0.02, "vector_add": 0.02}


STACKS = """\
<module> (train.py:1);_find_and_load (<frozen importlib._bootstrap>:1176);__new__ (enum.py:5) 30
<module> (train.py:9);__next__ (torch/utils/data/dataloader.py:700);decode (train.py:5) 20
<module> (train.py:9);step (train.py:7) 10
"""


def test_a_sample_belongs_to_the_whole_of_its_stack() -> None:
    assert spent(STACKS, ShareBasis.THREAD) == {"start": 30.0, "data": 20.0, "python": 10.0}


SPEEDSCOPE = {
    "shared": {"frames": [{"name": "main", "file": "a.py", "line": 1}, {"name": "__getitem__", "file": "data.py", "line": 5}]},
    "profiles": [{"type": "sampled", "unit": "seconds", "samples": [[0], [0, 1], [0, 1]], "weights": [0.01, 0.02, 0.03]}],
}
BEGINS = [
    {"cat": "py-spy", "ph": phase, "name": name, "ts": at, "pid": 1, "tid": 1, "args": {"filename": "data.py", "line": 5}}
    for phase, name, at in (("B", "main", 0), ("B", "__getitem__", 1), ("E", "__getitem__", 9), ("E", "main", 10))
]
SCALENE = {
    "elapsed_time_sec": 10.0,
    "files": {
        "a.py": {"lines": [{"lineno": 3, "line": "x = f()", "n_cpu_percent_python": 60, "n_cpu_percent_c": 20, "n_sys_percent": 0}]}
    },
}


@for_each(
    ("read", "document", "shares"),
    [
        (read_speedscope, SPEEDSCOPE, {TimeKind.PYTHON: 0.01, TimeKind.DATA: 0.05}),
        (read_begins_and_ends, BEGINS, {TimeKind.PYTHON: 2e-6, TimeKind.DATA: 8e-6}),
        (read_begins_and_ends, [{"ph": "E", "ts": 1}, {"ph": "B", "ts": "x"}, 3], None),
        (read_scalene, SCALENE, {TimeKind.PYTHON: 6.0, TimeKind.OPERATORS: 2.0, TimeKind.REST: 2.0}),
        (
            read_speedscope,
            {"profiles": [{"type": "sampled", "samples": [[9], "x"], "weights": ["a"]}], "shared": {"frames": []}},
            None,
        ),
        (read_scalene, {"elapsed_time_sec": "x", "files": {"a": 1}}, None),
    ],
)
def test_samples(read: Any, document: object, shares: dict[TimeKind, float] | None) -> None:
    told = read(document)
    assert (told and {one.kind: pytest.approx(one.seconds) for one in told.shares}) == shares


@for_each(
    "words",
    [
        NSYS.replace("15250.0", "9" * 20_000),
        "Name" + " " * 100_000 + "x",
        ";" * 100_000 + "\n",
        "f (" * 30_000 + ") 3",
        "Name  Self CPU\n" + "a  " * 50_000,
    ],
)
def test_long_lines_take_no_longer_than_their_length(words: str) -> None:
    read_any_text(words)  # a pattern that goes back over them would take minutes, and the suite has a limit on that
