"""Tables by line: line_profiler's and scalene's."""

from __future__ import annotations

from gpuassist.formats.profiles.line_profile import read_lines
from gpuassist.formats.profiles.scalene import read_scalene, read_scalene_page, read_scalene_text
from gpuassist.formats.profiles.tables import read_tables
from gpuassist.model.profile import ProfileForm, ProfileGap, ProfileReading, TimeKind
from tests.rows import for_each

_RULE = "=" * 62


def table(function: str, total: float, first: int, rows: str, unit: str = "") -> str:
    head = f"{unit}Total time: {total} s\nFile: train.py\nFunction: {function} at line {first}\n\n"
    return f"{head}Line #      Hits         Time  Per Hit   % Time  Line Contents\n{_RULE}\n{rows}\n"


# 8 s: 3.2 in the data set, 2.8 in torch, 2 in Python; `train` calls them all, one of them by no name.
LINES = (
    "Timer unit: 1e-06 s\n\n"
    + table(
        "Pictures.__getitem__",
        3.2,
        12,
        """\
    12                                               @profile
    13                                               def __getitem__(self, index):
    16   1651315     400000.0      0.2     12.5          while time.perf_counter() < end:
    17   1651275    2800000.0      1.6     87.5              total += sum(range(200))""",
    )
    + table(
        "forward",
        2.8,
        21,
        """\
    21                                           @profile
    22                                           def forward(weights):
    25       675    2800000.0   4283.1    100.0          weights = torch.mm(weights, weights) / 600""",
    )
    + table(
        "log_metrics",
        1.9,
        29,
        """\
    34   2233604    1900000.0      0.5    100.0          words.append("a" + str(len(words)))""",
    )
    + table(
        "train",
        8.0,
        38,
        """\
    39                                           def train():
    42        41    3200000.0  80414.9     40.0      for batch in torch.utils.data.DataLoader(Pictures()):
    43        40    2800000.0  72389.1     35.0          weights = forward(weights)
    44        40    2000000.0  51413.1     25.0          log_metrics()""",
    )
)
# `python -m line_profiler -r` where the terminal is narrow: the left half is folded, the code is not.
FOLDED = "Timer unit: 1e-06 s\n\n" + table(
    "forward",
    3.0,
    21,
    """\
    \x1b[1;36m21\x1b[0m                                   \x1b[92;49m@profile\x1b[0m
    \x1b[1;36m22\x1b[0m                                   def forward(weights):
    \x1b[1;36m23\x1b[0m        \x1b[1;36m40\x1b[0m    \x1b[1;36m1000000.0\x1b[0m      1.8       end = first(weights)
0.0                                          while True:
    24       675    2000000.0   4283.1           weights = torch.mm(weights, weights)
99.9                                         """,
)


def shares(told: ProfileReading | None) -> dict[TimeKind, float]:
    assert told is not None
    return {one.kind: round(one.seconds, 3) for one in told.shares}


def names(told: ProfileReading | None) -> dict[str, float]:
    assert told is not None
    return {one.name: round(one.seconds, 3) for one in told.entries}


def test_a_second_counts_once_however_many_tables_it_is_in() -> None:
    told = read_lines(LINES.split("\n"))
    assert shares(told) == {TimeKind.DATA: 3.2, TimeKind.OPERATORS: 2.8, TimeKind.PYTHON: 2.0}
    assert told is not None
    assert told.form is ProfileForm.LINES
    assert told.seconds == 8.0
    assert told.entries[0].name in {
        "train.py:25: weights = torch.mm(weights, weights) / 600",
        "train.py:17: total += sum(range(200))",
    }
    assert ProfileGap.CALLS_BY_CODE in told.gaps


def test_what_two_lines_call_is_taken_out_of_both() -> None:
    words = (
        "Timer unit: 1e-06 s\n\n"
        + table("busy", 3.0, 4, "     9   100    3000000.0      1.7    100.0          total += 1")
        + table("load", 2.2, 13, "    15    50    2200000.0  62615.2    100.0      return busy(0.06)")
        + table("compute", 1.1, 18, "    20    50    1100000.0  31978.2    100.0      return busy(0.03)")
    )
    assert names(read_lines(words.split("\n"))) == {
        "train.py:9: total += 1": 3.0,
        "train.py:15: return busy(0.06)": 0.2,
        "train.py:20: return busy(0.03)": 0.1,
    }


@for_each("unit", ["1e-06", "0.001", "1e-09"])
def test_times_are_in_the_unit_of_the_text(unit: str) -> None:
    words = table("f", 1.0, 4, "     9   100    2000.0      1.7    100.0      time.sleep(1)", f"Timer unit: {unit} s\n\n")
    told = read_lines(words.split("\n"))
    assert told is not None
    assert told.seconds == 2000 * float(unit)
    assert told.entries[0].kind is TimeKind.START


def test_functions_that_call_each_other_keep_their_time() -> None:
    words = table("f", 2.0, 1, "     2   9    2000000.0      1.7    100.0      g()") + table(
        "g", 1.9, 5, "     6   9    1900000.0      1.7    100.0      f()"
    )
    assert sum(names(read_lines(words.split("\n"))).values()) == 3.9


def test_code_beside_a_folded_table_is_that_of_its_own_line() -> None:
    assert names(read_lines(FOLDED.split("\n"))) == {
        "train.py:23: end = first(weights)": 1.0,
        "train.py:24: while True:": 2.0,
    }


SCALENE_TEXT = """\
               \x1b[1mtrain.py\x1b[0m: % of time =  80.00% (8.000s) out of 10.000s.
        ╷       ╷       ╷      ╷       ╷       ╷       ╷
        │\x1b[1;34mTime\x1b[0m   │–––––– │––––… │Await  │Memory │–––––– │
  Line  │Python │native │syst… │%      │Python │peak   │train.py
╺━━━━━━━┿━━━━━━━┿━━━━━━━┿━━━━━━┿━━━━━━━┿━━━━━━━┿━━━━━━━┿━━━━━━━━━━━╸
    ... │       │       │      │       │       │       │
     10 │       │       │      │       │   50% │   3M  │    def __getitem__(self, index):
     14 │   14% │    5% │  21% │       │   99% │   9M  │            total \\u003c sum(range(200))
     21 │       │   20% │  10% │       │       │       │        weights = torch.mm(weights, weights)
        ╵       ╵       ╵      ╵       ╵       ╵       ╵

Function summaries:
  Pictures.__getitem__ (line 10): 14% Python, 5% native
  forward (line 18): 0% Python, 20% native

               own.py: % of time =  20.00% (2.000s) out of 10.000s.
  Line  │Python │native │syst… │%      │Python │peak   │own.py
      3 │   10% │       │      │       │       │       │x = 1
"""
# scalene before 1.4, whose columns have other names and whose functions are summed up below their lines.
OLDER_SCALENE = """\
                tagging.py: % of time = 100.00% out of  10.00s.
       ╷       ╷        ╷     ╷       ╷      ╷              ╷       ╷
  Line │Time % │Time %  │Sys  │Mem %  │Net   │Memory usage  │Copy   │
       │Python │native  │%    │Python │(MB)  │over time / % │(MB/s) │tagging.py
╺━━━━━━┿━━━━━━━┿━━━━━━━━┿━━━━━┿━━━━━━━┿━━━━━━┿━━━━━━━━━━━━━━┿━━━━━━━┿━━━━━━━━━╸
     6 │   60% │    10% │  5% │  100% │   22 │▁▁▁▁▁▁ 60%    │     2 │import a
     8 │   20% │        │     │       │      │              │       │x = 1
       │       │        │     │       │      │              │       │function summary for tagging.py
     5 │   80% │    10% │     │       │      │              │       │main
"""


def test_the_tables_of_scalene_are_read_with_colours_and_without() -> None:
    told = read_scalene_text(SCALENE_TEXT.split("\n"))
    assert shares(told) == {TimeKind.DATA: 4.0, TimeKind.OPERATORS: 2.0, TimeKind.PYTHON: 1.0, TimeKind.REST: 3.0}
    assert names(told) == {
        "train.py:14: total < sum(range(200))": 4.0,
        "train.py:21: weights = torch.mm(weights, weights)": 3.0,
        "own.py:3: x = 1": 1.0,
    }


_TITLE = "               \x1b[1mtrain.py\x1b[0m: % of time =  80.00% (8.000s) out of 10.000s."


@for_each(
    ("title", "file"),
    [
        ("  /home/you/train.py: % of time =\n       80.00% (8.000s) out of 10.000s.  ", "/home/you/train.py"),
        ("  /home/you/train.py: % of\n time = 80.00%\n (8.000s) out of 10.000s.  ", "/home/you/train.py"),
        ("/home/you/a-long-na\n me/train.py: % of time = 80.00% (8.000s) out of 10.000s.  ", "/home/you/a-long-name/train.py"),
    ],
)
def test_a_title_that_a_long_path_has_folded_is_read(title: str, file: str) -> None:
    assert _TITLE in SCALENE_TEXT
    told = names(read_scalene_text(SCALENE_TEXT.replace(_TITLE, title).split("\n")))
    assert told[f"{file}:14: total < sum(range(200))"] == 4.0


def test_sums_of_functions_are_no_lines_in_older_scalene() -> None:
    told = read_scalene_text(OLDER_SCALENE.split("\n"))
    assert shares(told) == {TimeKind.START: 7.5, TimeKind.PYTHON: 2.0, TimeKind.REST: 0.5}


def test_a_line_of_a_data_set_and_a_pause_are_told_in_scalenes_json() -> None:
    line = {"n_cpu_percent_python": 20, "n_cpu_percent_c": 10, "n_sys_percent": 10}
    lines = [
        {"lineno": 12, "line": "total += 1\n", "start_function_line": 10, **line},
        {"lineno": 21, "line": "time.sleep(1)", "start_function_line": 20, **line},
    ]
    functions = [{"lineno": 10, "line": "Pictures.__getitem__"}, {"lineno": 20, "line": "wait"}]
    document = {"elapsed_time_sec": 10.0, "files": {"a.py": {"functions": functions, "lines": lines}}}
    assert shares(read_scalene(document)) == {TimeKind.DATA: 4.0, TimeKind.START: 4.0, TimeKind.REST: 2.0}


def test_a_page_of_scalene_holds_its_json() -> None:
    page = """<html><script>const profile = {"elapsed_time_sec": 2.0, "files": {"a.py": {"lines":
    [{"lineno": 1, "line": "x", "n_cpu_percent_python": 50}]}}};</script></html>"""
    assert shares(read_scalene_page(page)) == {TimeKind.PYTHON: 1.0, TimeKind.REST: 1.0}
    assert read_scalene_page("<html>scalene</html>") is None


def test_both_are_read_where_they_stand_in_a_longer_text() -> None:
    found = read_tables(f"some output\n{LINES}\nmore\n{SCALENE_TEXT}")
    assert [one.form for one in found] == [ProfileForm.LINES, ProfileForm.SCALENE]


@for_each(
    "words",
    [
        "Total time: 1 s\nFile: a\nFunction: f at line 3\n",
        LINES.replace("100.0", "9" * 9),
        table("f", 1.0, 1, "     2   9    0.0      0.0    0.0      g()"),
        "\n".join(table(f"f{one}", 1.0, 1, "     2   9    5.0      1.0    9.0      g()") for one in range(3000)),
        "".join(table("__getitem__", 1.0, 1, "     2   9    5.0      1.0    9.0      for a in b:") for one in range(2000)),
        "x: % of time = 100.00% out of 5.0s.\n" + "│" * 20_000,
        "x: % of time = 100.00% out of 5.0s.\n" + " 3 │ 5% │\n" * 1000,
        "a" * 100_000 + ": % of time = ",
        "     " * 100_000 + "Function summaries:",
        table("f", 1.0, 1, "     2 " * 10_000),
    ],
)
def test_broken_and_long_tables_take_no_longer_than_their_length(words: str) -> None:
    read_lines(words.split("\n"))
    read_scalene_text(words.split("\n"))


@for_each("time", ["1e999", "1e99"])
def test_a_time_that_no_clock_has_is_bounded(time: str) -> None:
    reading = read_lines(table("f", 2.0, 1, f"     1         1        {time}      1.0    100.0  f()").splitlines())
    assert reading is None or reading.seconds is None or reading.seconds <= 1e9


def test_many_tables_of_one_name_do_not_look_at_every_line() -> None:
    rows = "\n".join(f"    {line}         1     400000.0      0.2     12.5          forward(x{line})" for line in range(12, 22))
    text = "Timer unit: 1e-06 s\n\n" + "".join(table(f"Part{place}.forward", 3.2, 12, rows) for place in range(300))
    reading = read_lines(text.splitlines())
    assert reading is not None
    assert reading.events == 3000


def test_scalenes_lines_may_be_of_any_kind() -> None:
    told = {"functions": [{"lineno": [], "line": "f"}], "lines": [{"lineno": 3, "line": "\ud800", "n_cpu_percent_python": 5}]}
    reading = read_scalene({"elapsed_time_sec": 5, "files": {"\ud800.py": told}})
    assert reading is not None
    assert reading.entries[0].name.encode("utf-8")
