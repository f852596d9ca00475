"""The processes that a pasted list names: of fuser, lsof, ps, top, `docker top`, nvidia-smi, nvtop, nvitop and gpustat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.readers.commands import PastedCommand, runs
from gpuassist.detect.readers.lines import Line, lines, lines_with
from gpuassist.detect.readers.nvidia_smi import KINDS, NO_PROCESSES, PROCESS_ROW
from gpuassist.formats.size import read_size
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.gpu import Holder
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

_MOST = 2000  # rows of one list
_NODE = r"/dev/nvidia(?:-caps/nvidia-cap\d{1,4}|[\w-]{0,20})"


class ListedProcess(Struct, frozen=True):
    """A row of such a list: `user` and `command` are empty where it has none of them, `devices` are the nodes that it has open,
    `gpu` is the number that the tool gives to the GPU, None where it does not say. `on_gpu`: the list is of what uses the GPUs.
    """

    pid: int
    line: int
    program: str
    user: str = ""
    command: str = ""
    devices: tuple[str, ...] = ()
    gpu: int | None = None
    memory_used_bytes: Fact[int] = NOT_ASKED
    on_gpu: bool = True


class ProcessList(Struct, frozen=True):
    """What the text lists; `none`: the line in which a tool says that no process is on the GPUs, 0 where none does."""

    rows: tuple[ListedProcess, ...] = ()
    none: int = 0


_SAID = lazy_regex(r"[\w.,] [^\n|]{0,200}[\"'`“]No running ")  # somebody tells of the table


def read(paste: Paste) -> Machine:
    """Those that hold a GPU, each once with all that the text tells of it."""
    held = processes(process_list(paste))
    found = tuple(Holder(one[0].pid, *told_of(one), devices_of(one)) for one in held.values() if any(row.on_gpu for row in one))
    first = next((row for rows in held.values() for row in rows if row.on_gpu), None)
    return Machine(holders=Known(found, f"pasted {first.program}, line {first.line}") if first is not None else NOT_ASKED)


def processes(listed: ProcessList) -> dict[int, tuple[ListedProcess, ...]]:
    """The rows of each process, in the order of the text."""
    found: dict[int, tuple[ListedProcess, ...]] = {}
    for row in listed.rows:
        found[row.pid] = (*found.get(row.pid, ()), row)
    return found


def told_of(rows: tuple[ListedProcess, ...]) -> tuple[str, str]:
    """Its user, and the command that tells most: some tools cut it off."""
    return next((row.user for row in rows if row.user), ""), max((row.command for row in rows), key=len)


def devices_of(rows: tuple[ListedProcess, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(device for row in rows for device in row.devices))


@lru_cache(2)
def process_list(paste: Paste) -> ProcessList:
    """Every row of every such list, in the order of the text."""
    found = [row for reader in _READERS for row in reader(paste)]
    none = next(
        (
            line.number
            for line in lines_with(paste, "No running ")
            if NO_PROCESSES.search(line.words) and not _SAID.search(line.words)
        ),
        0,
    )
    none = none or next((run.number for run in runs(paste, "--query-compute-apps") if _heading_alone(run)), 0)
    return ProcessList(tuple(sorted(dict.fromkeys(found), key=lambda row: row.line)), none)


def _heading_alone(run: PastedCommand) -> bool:
    """Whether `--query-compute-apps` printed no row."""
    said = [line.words for line in run.output if line.words.strip()]
    return len(said) == 1 and said[0].startswith(("pid,", "gpu_uuid,", "process_name,", "timestamp,"))


# fuser: `USER PID ACCESS COMMAND` below each file with `-v`; else numbers, each maybe with the letter of its access.
_FUSER = lazy_regex(
    rf"^[ \t]*(?:(?P<node>{_NODE}):)?[ \t]+(?P<user>[\w.$+-]{{1,40}})[ \t]+(?P<pid>\d{{1,8}})[ \t]+[.ceEfFrRm]{{4,6}}[ \t]+"
    r"(?P<command>\S[^\n]{0,100})$"
)
_FUSER_BARE = lazy_regex(rf"^(?P<node>{_NODE}):[ \t]*(?P<pids>(?:\d{{1,8}}[ceEfFrRm]{{0,4}}[ \t]*){{1,200}})$")
_FUSER_NODE = lazy_regex(rf"^(?P<node>{_NODE}):\s*$")


def _fuser(paste: Paste) -> Iterator[ListedProcess]:
    if "/dev/nvidia" not in paste.words:
        return
    node = ""
    for line in lines(paste):
        words = line.words[:2000]
        if not words.strip():
            continue
        alone, row, bare = _FUSER_NODE.match(words), _FUSER.match(words), _FUSER_BARE.match(words)
        if alone:
            node = alone["node"]
        elif row and (row["node"] or node):
            node = row["node"] or node
            yield ListedProcess(int(row["pid"]), line.number, "fuser", row["user"], row["command"].strip(), (node,))
        elif bare:
            for pid in re.findall(r"\d+", bare["pids"]):
                yield ListedProcess(int(pid), line.number, "fuser", devices=(bare["node"],))
        else:
            node = ""


# lsof: `python 20713 20720 python alice 28u CHR 195,0 0t0 583 /dev/nvidia0`, with or without a thread.
_LSOF = lazy_regex(
    r"^[ \t]*(?P<command>\S{1,60})[ \t]+(?P<pid>\d{1,8})[ \t]+(?:(?:\d{1,8})[ \t]+\S{1,40}[ \t]+)?(?P<user>[\w.$+-]{1,40})[ \t]+"
    rf"(?:\d{{1,6}}[a-zA-Z]{{0,3}}|[a-zA-Z]{{2,5}})[ \t]+[A-Z]{{3,4}}[ \t]+[^\n]{{1,60}}?[ \t](?P<node>{_NODE})\b"
)


def _lsof(paste: Paste) -> Iterator[ListedProcess]:
    for line in lines_with(paste, "/dev/nvidia"):
        row = _LSOF.match(line.words[:400])
        if row:
            command = row["command"].replace("\\x20", " ")
            yield ListedProcess(int(row["pid"]), line.number, "lsof", row["user"], command, (row["node"],))


# ps, top and `docker top`: the heading says what stands where; the command is the last column and takes the rest.
_PS_COLUMNS = frozenset(
    (
        *("PID", "USER", "UID", "EUSER", "RUSER", "UNAME", "PPID", "PGID", "SID", "C", "CMD", "COMMAND", "ARGS", "COMM"),
        *("STIME", "START", "STARTED", "ELAPSED", "ETIME", "TTY", "TT", "TIME", "TIME+", "STAT", "S", "F", "ADDR", "SZ", "WCHAN"),
        *("%CPU", "%MEM", "CPU%", "MEM%", "VSZ", "RSS", "PR", "NI", "PRI", "VIRT", "RES", "SHR", "NLWP", "LWP"),
    )
)
_COMMANDS = frozenset({"CMD", "COMMAND", "ARGS", "COMM", "Command"})
_USERS = ("USER", "EUSER", "RUSER", "UID", "UNAME")
_DAY = lazy_regex(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)$")
_DATE_WORDS = 5  # of `STARTED` as `lstart` writes it: Mon Nov 23 10:00:00 2026
_TIME = r"(?:\d{1,4}-)?\d{1,4}:\d{2}(?::\d{2})?"
_PS_FULL = lazy_regex(
    r"^[ \t]*(?P<user>[a-zA-Z_][\w.$+-]{0,38})[ \t]+(?P<pid>\d{1,8})[ \t]+\d{1,8}[ \t]+\d{1,3}[ \t]+"
    rf"(?:\d\d:\d\d|[A-Z][a-z]{{2}}\d\d|\d{{4}})[ \t]+(?:\?|tty\w{{1,8}}|pts/\d{{1,5}})[ \t]+{_TIME}[ \t]+"
    r"(?P<command>\S[^\n]{0,2000})$"
)
_PS_USERS = lazy_regex(
    r"^[ \t]*(?P<user>[a-zA-Z_][\w.$+-]{0,38})[ \t]+(?P<pid>\d{1,8})(?:[ \t]+\d{1,6}(?:\.\d)?){2}[ \t]+\d{1,12}[ \t]+\d{1,12}[ \t]+"
    rf"(?:\?|tty\w{{1,8}}|pts/\d{{1,5}})[ \t]+[A-Z][\w<+]{{0,6}}[ \t]+(?:\d\d:\d\d|[A-Z][a-z]{{2}}\d\d|\d{{4}})[ \t]+{_TIME}[ \t]+"
    r"(?P<command>\S[^\n]{0,2000})$"
)


def _ps(paste: Paste) -> Iterator[ListedProcess]:
    every = lines(paste)
    headed: set[int] = set()
    for line in lines_with(paste, "PID"):
        columns = tuple(line.words.strip().split())[:40] if len(line.words) < 400 else ()
        if len(columns) > 1 and set(columns) <= _PS_COLUMNS | _COMMANDS and "PID" in columns and columns[-1] in _COMMANDS:
            for below in every[line.number : line.number + _MOST]:
                found = _by_columns(below, columns)
                if found is None:
                    break
                headed.add(below.number)
                yield found
    for line in lines_with(paste, "pts/", "?        ", " tty"):
        row = None if line.number in headed else _PS_FULL.match(line.words[:4000]) or _PS_USERS.match(line.words[:4000])
        if row is not None:
            yield _of_ps(line, int(row["pid"]), row["user"], row["command"])


def _by_columns(line: Line, columns: tuple[str, ...]) -> ListedProcess | None:
    """The row of a list with such a heading; None where the line is none."""
    words = line.words[:4000].split()
    if "STARTED" in columns:
        place = columns.index("STARTED")
        if len(words) > place + _DATE_WORDS and _DAY.match(words[place]):
            words[place : place + _DATE_WORDS] = [" ".join(words[place : place + _DATE_WORDS])]
    if len(words) < len(columns):
        return None
    values = dict(zip(columns, words, strict=False))
    if not values["PID"].isdecimal() or len(values["PID"]) > 8:
        return None
    user = next((values[name] for name in _USERS if name in values), "")
    return _of_ps(line, int(values["PID"]), user, " ".join(words[len(columns) - 1 :]))


def _of_ps(line: Line, pid: int, user: str, command: str) -> ListedProcess:
    return ListedProcess(pid, line.number, "ps", user, command, on_gpu=False)


# nvidia-smi: its table, `pmon`, and `--query-compute-apps`.


def _table(paste: Paste) -> Iterator[ListedProcess]:
    title = next((line.number for line in lines_with(paste, "Processes:", "processes:", "Process name")), 0)
    for line in lines_with(paste, "iB", "MB", "N/A", "Not Supported"):
        words = line.words[:400]
        row = PROCESS_ROW.search(words) if (title and line.number > title) or _WITH_INSTANCES.match(words) else None
        if row:
            memory = line.known(int(row["memory"]) << 20, "nvidia-smi") if row["memory"] else NOT_ASKED
            command = row["command"].strip()
            yield ListedProcess(
                int(row["pid"]), line.number, "nvidia-smi", "", command, gpu=int(row["gpu"]), memory_used_bytes=memory
            )


_WITH_INSTANCES = lazy_regex(
    r"^\|[ \t]{1,8}\d{1,2}[ \t]{1,8}(?:N/A|\d{1,2})[ \t]{1,8}(?:N/A|\d{1,2})[ \t]{1,12}\d{1,8}[ \t]{1,8}[CGM+]{1,3}[ \t]"
)
_PMON = lazy_regex(r"^\s*#\s*gpu\s+pid\s+type\b(?P<rest>[^\n]{0,200})$")


def _pmon(paste: Paste) -> Iterator[ListedProcess]:
    every = lines(paste)
    heading = next((line for line in lines_with(paste, "# gpu") if _PMON.match(line.words)), None)
    columns = heading.words.replace("#", " ").split() if heading is not None else []
    for line in every[heading.number :] if heading is not None else ():
        words = line.words[:1000].split(None, len(columns) - 1)
        values = dict(zip(columns, words, strict=False))
        if len(words) == len(columns) and values["gpu"].isdecimal() and values["pid"].isdecimal() and values["type"] in KINDS:
            used = values.get("fb", "")
            yield ListedProcess(
                int(values["pid"]),
                line.number,
                "nvidia-smi pmon",
                command=values.get("command", "").strip(),
                gpu=int(values["gpu"]),
                memory_used_bytes=line.known(int(used) << 20, "nvidia-smi pmon") if used.isdecimal() else NOT_ASKED,
            )


_APPS = lazy_regex(r"--query-(?:compute|accounted)-apps[= ](?P<columns>[\w.,]{2,200})")
_UNIT = lazy_regex(r" \[[\w%]+\]$")
_OF_NVIDIA = frozenset({"process_name", "used_gpu_memory", "used_memory", "gpu_name", "gpu_uuid", "gpu_bus_id"})
_APP_COLUMNS = frozenset(
    (
        *("pid", "process_name", "name", "used_gpu_memory", "used_memory", "timestamp"),
        *("gpu_name", "gpu_uuid", "gpu_serial", "gpu_bus_id", "gpu_index"),
    )
)


def _apps(paste: Paste) -> Iterator[ListedProcess]:
    every = lines(paste)
    for line in lines_with(paste, "pid"):
        asked = _APPS.search(line.words[:1000])
        columns = tuple(_UNIT.sub("", one.strip()) for one in (asked["columns"] if asked else line.words[:400]).split(","))
        if len(columns) < 2 or "pid" not in columns or not set(columns) <= _APP_COLUMNS or not (asked or set(columns) & _OF_NVIDIA):
            continue
        rows = takewhile(lambda row: "," in row.words, every[line.number : line.number + _MOST])
        for row in rows:
            values = dict(zip(columns, (one.strip() for one in row.words[:1000].split(",")), strict=False))
            if len(values) == len(columns) and values["pid"].isdecimal():
                yield _app(row, values)


def _app(line: Line, values: dict[str, str]) -> ListedProcess:
    used = values.get("used_gpu_memory", values.get("used_memory", ""))
    size = read_size(used if not used.isdecimal() else f"{used} MiB")
    memory = line.known(size, "nvidia-smi") if size is not None else NOT_ASKED
    command = values.get("process_name", values.get("name", ""))
    return ListedProcess(int(values["pid"]), line.number, "nvidia-smi", command=command, memory_used_bytes=memory)


def _report(paste: Paste) -> Iterator[ListedProcess]:
    """The processes in the report of `-q`, a line for each value."""
    last: ListedProcess | None = None
    for line in lines_with(paste, "Process ID", "Name  ", "Used GPU Memory"):
        label, _, value = (word.strip() for word in line.words[:400].partition(":"))
        if label == "Process ID" and value.isdecimal():
            if last is not None:
                yield last
            last = ListedProcess(int(value), line.number, "nvidia-smi -q")
        elif last is not None and label == "Name":
            last = replace(last, command=value)
        elif last is not None and label == "Used GPU Memory" and (size := read_size(value)) is not None:
            last = replace(last, memory_used_bytes=line.known(size, "nvidia-smi -q"))
    if last is not None:
        yield last


# The monitors.
_NVTOP = lazy_regex(
    r"^[ \t]*(?P<pid>\d{1,8})[ \t]+(?P<user>[\w.$+-]{1,40})[ \t]+(?P<gpu>\d{1,2})[ \t]+(?:Compute|Graphic|Both G\+C|Type\w*)[ \t]+"
    r"(?:(?:\d{1,3}%|N/A)[ \t]+){0,3}(?P<memory>\d{1,7})Mi?B?[ \t]+\d{1,3}%[ \t]+(?:(?:\d{1,5}%|N/A)[ \t]+\d{1,8}Mi?B?[ \t]+)?"
    r"(?P<command>\S[^\n]{0,1000})$"
)
_NVITOP = lazy_regex(
    r"^[ \t]*[|│][ \t]*(?P<gpu>\d{1,2})(?::\d{1,2})?(?:[ \t]+\d{1,2}){0,2}[ \t]+(?P<pid>\d{1,8})[ \t]+(?:C\+G|C|G|X)[ \t]+"
    r"(?P<user>[\w.$+-]{1,40})[ \t]+(?P<memory>\d{1,7}(?:\.\d{1,2})?[KMG]iB|N/A)[ \t]+(?P<rest>[^\n]{0,1000}?)[ \t]*[|│]?$"
)
_NVITOP_TIME = lazy_regex(r"(?:\d{1,4}(?:\.\d)? days?|\d{1,3}:\d{2}(?::\d{2})?)[ \t]+(?P<command>\S[^\n]*)$")
_GPUSTAT = lazy_regex(
    r"^[ \t]{0,8}\[(?P<gpu>\d{1,2})\] [^|\n]{2,80}\|[^|\n]{0,160}\|[^|\n]{0,60}MB[ \t]*\|(?P<rest>[^\n]{0,4000})$"
)
_GPUSTAT_PROCESS = lazy_regex(
    r"(?:(?P<user>[\w.$-]{1,40}):)?(?P<command>[^\s/:()]{1,100})/(?P<pid>\d{1,8})(?:\((?P<memory>\d{1,7}|\?)M?\))?"
)


def _monitors(paste: Paste) -> Iterator[ListedProcess]:
    shown = [
        (pattern, made)
        for words, pattern, made in (
            ("GPU MEM", _NVTOP, _of_nvtop),
            ("GPU-MEM", _NVITOP, _of_nvitop),
            (" MB |", _GPUSTAT, _of_gpustat),
        )
        if words in paste.words
    ]
    for line in lines(paste) if shown else ():
        for pattern, made in shown:
            found = pattern.match(line.words[:4000])
            if found:
                yield from made(line, found)


def _of_nvtop(line: Line, row: re.Match[str]) -> Iterator[ListedProcess]:
    memory = line.known(int(row["memory"]) << 20, "nvtop")
    yield ListedProcess(
        int(row["pid"]), line.number, "nvtop", row["user"], row["command"], gpu=int(row["gpu"]), memory_used_bytes=memory
    )


def _of_nvitop(line: Line, row: re.Match[str]) -> Iterator[ListedProcess]:
    size = read_size(row["memory"])
    command = _NVITOP_TIME.search(row["rest"])
    yield ListedProcess(
        int(row["pid"]),
        line.number,
        "nvitop",
        row["user"],
        command["command"].strip() if command else "",
        gpu=int(row["gpu"]),
        memory_used_bytes=line.known(size, "nvitop") if size is not None else NOT_ASKED,
    )


def _of_gpustat(line: Line, row: re.Match[str]) -> Iterator[ListedProcess]:
    for one in _GPUSTAT_PROCESS.finditer(row["rest"]):
        told = (one["memory"] or "").isdecimal()
        listed = ListedProcess(int(one["pid"]), line.number, "gpustat", one["user"] or "", one["command"], gpu=int(row["gpu"]))
        memory = line.known(int(one["memory"]) << 20, "gpustat") if told else NOT_ASKED
        yield replace(listed, memory_used_bytes=memory)


_FUSER_PIDS = lazy_regex(r"^[ \t]*(?:\d{1,8}[ceEfFrRm]{0,4}[ \t]*){1,200}$")


def _bare_numbers(paste: Paste) -> Iterator[ListedProcess]:
    """What `fuser` and `lsof -t` leave of a list whose files' names went elsewhere, below their command."""
    for run in runs(paste, "/dev/nvidia"):
        program = "fuser" if "fuser" in run.command else "lsof" if "lsof -t" in run.command else ""
        for line in run.output if program else ():
            if _FUSER_PIDS.match(line.words[:2000]):
                for pid in re.findall(r"\d+", line.words):
                    yield ListedProcess(int(pid), line.number, program)


_READERS: tuple[Callable[[Paste], Iterator[ListedProcess]], ...] = (
    _fuser, _lsof, _ps, _table, _pmon, _apps, _report, _monitors, _bare_numbers,
)  # fmt: skip
