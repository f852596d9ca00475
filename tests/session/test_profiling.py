"""Profiles read in a child, whatever they are and whoever made them; and which profiler next."""

from __future__ import annotations

import gzip
import marshal
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.environment import PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known, Unknown
from gpuassist.model.profile import ProfileForm, TimeKind
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.bottleneck import Bound
from gpuassist.session.profiling.answers import NotRead, ReadNothing, ReadWhole
from gpuassist.session.profiling.child import read
from gpuassist.session.profiling.next_tool import (
    ProfilerAdvice,
    ProfilerQuestion,
    ToolState,
    environment_of_programs,
    next_tools,
    question_of,
)
from gpuassist.session.profiling.profile_file import CancelledError, profile
from gpuassist.session.profiling.refusals import ProfileError, importer_of, refusal
from tests.cli.made_session import live_session
from tests.fakes import put, world_under
from tests.formats.made_traces import steps, trace
from tests.formats.test_flame_graph import PY_SPY
from tests.formats.test_line_profiles import LINES, SCALENE_TEXT
from tests.formats.test_marshal_values import STATISTICS
from tests.formats.test_profile_tables import NSYS, PYTHON
from tests.rows import for_each
from tests.values import knowledge

SCHEMA = """
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, demangledName INTEGER, shortName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, bytes INTEGER, copyKind INTEGER);
INSERT INTO StringIds VALUES (1, 'ampere_sgemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'cudaStreamSynchronize_v3020');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 1000, 7, 2), (6000, 9000, 7, 3);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 5000, 1, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5000, 6000, 4, 1);
"""


SCALENE_PAGE = (
    b'<!DOCTYPE html><html><title>Scalene</title><script>const profile = {"elapsed_time_sec": 2.0, "files": {"a.py": {"lines":'
    b' [{"lineno": 1, "line": "x", "n_cpu_percent_python": 50}]}}};</script></html>'
)


def export(path: Path, schema: str = SCHEMA) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(schema)
    return path


def told(path: Path, content: bytes = b"") -> ReadWhole | ReadNothing:
    if content:
        path.write_bytes(content)
    return read(str(path), lambda done, of: None)


@for_each(
    ("name", "content", "form"),
    [
        ("a.json", trace(steps(3)), ProfileForm.TORCH_TRACE),
        ("a.json.gz", gzip.compress(trace(steps(3))), ProfileForm.TORCH_TRACE),
        ("two.json.gz", gzip.compress(trace(steps(3))[:500]) + gzip.compress(trace(steps(3))[500:]), ProfileForm.TORCH_TRACE),
        ("a.prof", marshal.dumps(STATISTICS), ProfileForm.CPROFILE),
        ("a.txt", PYTHON.encode(), ProfileForm.CPROFILE),
        ("a.log", f"[1/8] [=====100%] a.nsys-rep\n\n{NSYS}".encode(), ProfileForm.NSYS_STATS),
        ("a.svg", PY_SPY.encode(), ProfileForm.FLAME_GRAPH),
        ("a.txt", PY_SPY.encode(), ProfileForm.FLAME_GRAPH),
        ("a.txt", LINES.encode(), ProfileForm.LINES),
        ("a.txt", SCALENE_TEXT.encode(), ProfileForm.SCALENE),
        ("a.html", SCALENE_PAGE, ProfileForm.SCALENE),
        ("a.json", b'[{"Total Time (ns)": 5, "Instances": 1, "Name": "add"}]', ProfileForm.NSYS_STATS),
    ],
)
def test_a_file_is_known_by_what_it_holds(name: str, content: bytes, form: ProfileForm, tmp_path: Path) -> None:
    found = told(tmp_path / name, content)
    assert isinstance(found, ReadWhole)
    assert found.readings[0].form is form


@for_each(
    ("name", "content", "why"),
    [
        ("a.nsys-rep", b"\1\2\3", NotRead.NSYS_REPORT),
        ("a.qdstrm", b"\1\2\3", NotRead.NSYS_STREAM),
        ("a.html", b"<!DOCTYPE html>\n<html><title>memray - flamegraph report</title>", NotRead.MEMRAY_PAGE),
        ("b.html", b"<html>pyinstrument", NotRead.PAGE),
        ("c.html", b"<html>Scalene", NotRead.PAGE),
        ("d.html", b"<html>Scalene const profile = {", NotRead.DAMAGED),
        ("a.svg", b"<svg><circle/></svg>", NotRead.PICTURE),
        ("a.xml", b"<?xml version='1.0'?><a/>", NotRead.NOTHING_KNOWN),
        ("a.lprof", b"\x80\x05\x95\1\0\0\0\0\0\0\0\x8c\x1cline_profiler.line_profiler", NotRead.LINE_PROFILE),
        ("a.ncu-rep", b"\1\2\3", NotRead.NCU_REPORT),
        ("a.bin", b"\x04\x22\x4d\x18\x40\x40\0\0memray\0", NotRead.MEMRAY),
        ("a.pickle", b"\x80\x04\x95", NotRead.SNAPSHOT),
        ("a", b"SQLite format 3\0" + b"\7" * 5000, NotRead.DAMAGED),
        ("b", b"\x1f\x8b" + b"\7" * 50, NotRead.DAMAGED),
        ("c", b"\x7f\x45\0\0", NotRead.NOTHING_KNOWN),
        ("d", b"nothing of a profile", NotRead.NOTHING_KNOWN),
        ("e", b"[1, 2]", NotRead.NO_EVENTS),
        ("f", b'{"a": "speedscope"}', NotRead.NO_EVENTS),
    ],
)
def test_what_is_none_is_named(name: str, content: bytes, why: NotRead, tmp_path: Path) -> None:
    found = told(tmp_path / name, content)
    assert isinstance(found, ReadNothing)
    assert found.why is why


def test_a_trace_needs_numpy_and_a_table_does_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """gpuassist.pyz has none."""
    for module in [one for one in sys.modules if one.startswith("gpuassist.formats.profiles.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "numpy", None)
    (tmp_path / "trace").write_bytes(trace(steps(3)))
    (tmp_path / "table").write_text(PYTHON)
    assert read(str(tmp_path / "trace"), lambda *_: None) == ReadNothing(NotRead.NUMPY)
    assert isinstance(read(str(tmp_path / "table"), lambda *_: None), ReadWhole)


def test_nothing_but_regular_files_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for path, why in ((tmp_path, NotRead.NO_FILE), (tmp_path / "pipe", NotRead.NO_FILE), (tmp_path / "empty", NotRead.EMPTY)):
        found = told(path)
        assert isinstance(found, ReadNothing)
        assert found.why is why


def test_an_export_of_nsight_systems(tmp_path: Path) -> None:
    found = told(export(tmp_path / "odd name?#%.sqlite"))
    assert isinstance(found, ReadWhole)
    (reading,) = found.readings
    assert reading.form is ProfileForm.NSYS_EXPORT
    spent = {one.kind: round(one.seconds * 1e9) for one in reading.shares}
    assert spent == {TimeKind.KERNELS: 4000, TimeKind.COPIES: 1000, TimeKind.LAUNCHES: 1000, TimeKind.WAITS: 3000}
    assert {one.name for one in reading.entries} == {"ampere_sgemm", "cudaLaunchKernel", "cudaStreamSynchronize", "Memcpy HtoD"}


def test_graphs_and_the_memory_of_copies_are_told(tmp_path: Path) -> None:
    schema = """
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, graphId INTEGER, graphExecId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 5000, 1, 4);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5000, 6000, 1, 0, 2), (6000, 7000, 2, NULL, NULL);
    """
    found = told(export(tmp_path / "a.sqlite", schema))
    assert isinstance(found, ReadWhole)
    named = {one.name: round(one.seconds * 1e9) for one in found.readings[0].entries}
    assert named == {"CUDA graph 4": 5000, "Memcpy HtoD (Pageable -> Device)": 1000, "Memcpy DtoH": 1000}


_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS start, x AS end, 1 AS demangledName FROM n"


@for_each(
    "schema",
    [
        f"CREATE TABLE a(b); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS {_ENDLESS};",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER AS (length(hex(zeroblob(2000000)))));"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start) VALUES (1);",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start TEXT, end BLOB);INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('a', x'00');",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(a);",
    ],
)
def test_a_hostile_export_is_refused(schema: str, tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.unlink(missing_ok=True)
    assert isinstance(told(export(path, schema)), ReadNothing)


# In the child.


@pytest.fixture
def session() -> Session:
    return Session(live_session().world, knowledge(), ENGLISH)


def test_the_child_reads_and_says_how_far_it_is(session: Session, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(trace(steps(900)))
    seen = list[tuple[int, int]]()
    answer = profile(session, str(tmp_path / "a.json"), on_progress=lambda done, of: seen.append((done, of)))
    assert answer.main.events == 6_301
    assert answer.change is not None
    assert answer.answer is not None
    assert answer.answer.id == "program-profile"
    assert all(0 < done <= of for done, of in seen)


def test_what_the_child_refuses_is_told_with_what_to_type(session: Session, tmp_path: Path) -> None:
    (tmp_path / "a.nsys-rep").write_bytes(b"\1")
    with pytest.raises(ProfileError) as error:
        profile(session, str(tmp_path / "a.nsys-rep"))
    assert [line.rpartition(" ")[0] for line in error.value.lines] == ["nsys export --type sqlite", "gpuassist profile"]


@for_each(
    ("name", "content", "lines"),
    [
        (
            "a.qdstrm",
            b"\1",
            ("{importer} -i {stem}.qdstrm", "nsys export --type sqlite {stem}.nsys-rep", "gpuassist profile {stem}.sqlite"),
        ),
        (
            "a.lprof",
            b"\x80\x05line_profiler",
            ("python3 -m line_profiler {stem}.lprof > {stem}.txt", "gpuassist profile {stem}.txt"),
        ),
        ("a.html", b"<html><title>memray", ("xdg-open {stem}.html",)),
    ],
)
def test_each_file_of_another_program_comes_with_what_makes_it_readable(
    name: str, content: bytes, lines: tuple[str, ...], tmp_path: Path
) -> None:
    importer = "opt/nvidia/nsight-systems/2025.3.1/host-linux-x64/QdstrmImporter"
    put(tmp_path / "root", importer)
    told_of = told(tmp_path / name, content)
    assert isinstance(told_of, ReadNothing)
    found = refusal(str(tmp_path / name), told_of, importer_of(world_under(tmp_path / "root").files))
    assert found.lines == tuple(one.format(importer=f"/{importer}", stem=tmp_path / "a") for one in lines)
    assert importer_of(world_under(tmp_path / "none").files) == "QdstrmImporter"


def test_who_wants_no_answer_gets_none(session: Session, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(trace(steps(5)))
    with pytest.raises(CancelledError):
        profile(session, str(tmp_path / "a.json"), cancelled=lambda: True)


# Which profiler next.


def advice(root: Path, question: ProfilerQuestion, *, live: bool = True, path: str = "/usr/bin") -> ProfilerAdvice:
    world = world_under(root)
    world = replace(world, surroundings=replace(world.surroundings, variables={"PATH": path}))
    environment = PythonEnvironment("/env", "env", interpreter=Known("/env/bin/python", "x"), torch=Known((Torch("/env/t"),), "x"))
    (found,) = next_tools(Session(world, knowledge(), ENGLISH), Known(environment, "x"), questions=(question,), live=live)
    return found


@for_each("question", list(ProfilerQuestion))
def test_each_question_has_a_command_of_this_environment(question: ProfilerQuestion, tmp_path: Path) -> None:
    found = advice(tmp_path, question)
    assert found.commands
    assert not any("{" in line for line in found.commands)
    assert found.install == () or found.install[0].startswith("/env/bin/python -m pip install ")


def test_what_runs_the_program_is_put_where_the_program_finds_its_modules(tmp_path: Path) -> None:
    put(tmp_path, "/home/u/.local/bin/memray", mode=0o755)  # in an environment of its own, as pipx makes it
    put(tmp_path, "/home/u/.local/bin/py-spy", mode=0o755)
    path = "/home/u/.local/bin"
    assert advice(tmp_path, ProfilerQuestion.RUNNING, path=path).state is ToolState.READY
    assert advice(tmp_path, ProfilerQuestion.HOST_MEMORY, path=path).commands[0].split()[0] == "/env/bin/memray"
    (tool,) = next_tools(Session(world_under(tmp_path), knowledge(), ENGLISH), NOT_ASKED, questions=(ProfilerQuestion.LINES,))
    assert tool.install == (
        "python3 -m venv --system-site-packages profilers",
        "profilers/bin/python -m pip install scalene",
    )
    assert tool.commands[0] == "profilers/bin/scalene run -o profile.json train.py"


def test_the_active_environment_is_taken_also_before_torch_is_in_it() -> None:
    active = PythonEnvironment("/a", "a", interpreter=Known("/a/bin/python", "x"), active=Known(True, "x"))
    with_torch = PythonEnvironment("/t", "t", interpreter=Known("/t/bin/python", "x"), torch=Known((Torch("/t/t"),), "x"))
    assert environment_of_programs(Known((with_torch, active), "x")) == Known(active, "x")
    assert environment_of_programs(Known((with_torch,), "x")) == Known(with_torch, "x")
    assert isinstance(environment_of_programs(NOT_ASKED), Unknown)


def test_an_installed_tool_is_used_where_it_lies(tmp_path: Path) -> None:
    put(tmp_path, "/env/bin/py-spy", mode=0o755)
    put(tmp_path, "/opt/nvidia/nsight-systems/2026.1/bin/nsys", mode=0o755)
    spy, nsys = advice(tmp_path, ProfilerQuestion.RUNNING), advice(tmp_path, ProfilerQuestion.TIMELINE)
    assert (spy.state, spy.commands[0].split()[0]) == (ToolState.READY, "/env/bin/py-spy")
    assert nsys.commands[0].split()[0] == "/opt/nvidia/nsight-systems/2026.1/bin/nsys"
    assert advice(tmp_path, ProfilerQuestion.RUNNING, live=False).state is ToolState.UNKNOWN


@for_each(
    ("file", "content", "capabilities", "question", "stands"),
    [
        ("/proc/sys/kernel/yama/ptrace_scope", "1\n", "0", ProfilerQuestion.RUNNING, True),
        ("/proc/sys/kernel/yama/ptrace_scope", "1\n", "1ffffffffff", ProfilerQuestion.RUNNING, False),
        ("/proc/sys/kernel/yama/ptrace_scope", "0\n", "0", ProfilerQuestion.RUNNING, False),
        ("/proc/driver/nvidia/params", "X: 0\nRmProfilingAdminOnly: 1\n", "0", ProfilerQuestion.KERNEL, True),
        # root of a container, without CAP_SYS_ADMIN
        ("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n", "a80425fb", ProfilerQuestion.KERNEL, True),
        ("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n", "1ffffffffff", ProfilerQuestion.KERNEL, False),
        ("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n", "0", ProfilerQuestion.KERNEL, False),
    ],
)
def test_what_the_machine_does_not_let_it_do(
    file: str, content: str, capabilities: str, question: ProfilerQuestion, stands: bool, tmp_path: Path
) -> None:
    put(tmp_path, "/env/bin/py-spy", mode=0o755)
    put(tmp_path, "/usr/bin/ncu", mode=0o755)
    put(tmp_path, file, content)
    put(tmp_path, "/proc/self/status", f"Name:\tpython\nCapEff:\t{capabilities}\n")
    found = advice(tmp_path, question)
    assert bool(found.obstacles) is stands
    assert found.problem == ("profiler-counter-permission" if stands and question is ProfilerQuestion.KERNEL else "")
    (tmp_path / file.lstrip("/")).unlink()


def test_live_figures_lead_to_a_question() -> None:
    assert question_of(Bound.PYTHON) is ProfilerQuestion.RUNNING
    assert question_of(Bound.UNDECIDED) is None
