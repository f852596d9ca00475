"""The tables of Python's profiler and of torch's."""

from __future__ import annotations

import pytest

from gpuassist.formats.profile import of_start, read_profile
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


def test_functions_are_read_with_their_own_time() -> None:
    told = read_profile(PYTHON.splitlines())
    assert told is not None
    assert told.seconds == pytest.approx(11.302)
    assert [(row.calls, row.seconds) for row in told.rows] == [(1, 3.003), (64, 4.911), (2349, 1.402)]
    assert [of_start(row) for row in told.rows] == [True, False, True]


def test_operators_are_summed_by_name() -> None:
    told = read_profile(TORCH.splitlines())
    assert told is not None
    assert {one.name: round((one.gpu or 0) * 1e6) for one in told.operators} == {"aten::addmm": 1500, "aten::relu": 90}
    assert [round((one or 0) * 1e6) for one in (told.cpu, told.gpu)] == [1000, 1967]


@for_each("words", ["", "12 function calls in a minute", "Name  Self CPU\n---\nnothing here", TORCH.replace("Self CPU", "Own CPU")])
def test_what_is_no_profile_is_none(words: str) -> None:
    assert read_profile(words.splitlines()) is None
