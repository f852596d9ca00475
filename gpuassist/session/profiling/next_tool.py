"""Which profiler next: by what is asked, the tool with its exact command for an environment here, and what stands in its way.

Only files are looked at; nothing is started.
"""

from __future__ import annotations

import os
from enum import Enum

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.knowledge.families import Family
from gpuassist.model.environment import Manager, PythonEnvironment
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.text import Text, text
from gpuassist.monitor.bottleneck import Bound
from gpuassist.session.verify import choose
from gpuassist.system.world import World

COUNTERS = "profiler-counter-permission"
"""The problem that keeps counters from ordinary users."""

_PARAMETERS = "/proc/driver/nvidia/params"
_PTRACE = "/proc/sys/kernel/yama/ptrace_scope"
_STATUS = "/proc/self/status"
_LIMIT = 1 << 16
_SYS_ADMIN, _SYS_PTRACE = 21, 19  # capabilities(7)
_BESIDE = "profilers"  # an environment that sees what the distribution keeps
_PLACES = {
    "nsys": ("/usr/local/cuda*/bin/nsys", "/opt/nvidia/nsight-systems/*/bin/nsys", "/opt/nvidia/nsight-systems-cli/*/bin/nsys"),
    "ncu": ("/usr/local/cuda*/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu"),
}


class ProfilerQuestion(str, Enum):
    """What somebody wants to know of a program."""

    GPU_IDLE = "gpu-idle"
    PYTHON = "python"
    RUNNING = "running"
    LINES = "lines"
    MEMORY = "memory"
    HOST_MEMORY = "host-memory"
    TIMELINE = "timeline"
    KERNEL = "kernel"


class ToolState(str, Enum):
    """Whether the tool is there."""

    READY = "ready"
    MISSING = "missing"
    UNKNOWN = "unknown"


class ProfilerAdvice(Struct, frozen=True):
    """A tool for a question: `code` goes into the program, `commands` are typed, `install` first where the tool is not there.

    `obstacles` say what this machine does not let it do, `problem` is the catalogue's entry that mends that.
    """

    question: ProfilerQuestion
    tool: str
    state: ToolState
    path: str
    commands: tuple[str, ...]
    code: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    obstacles: tuple[Text, ...] = ()
    problem: str = ""


class _Tool(Struct, frozen=True):
    """`inside` runs the user's program in its own interpreter, and so must be where what that imports is."""

    name: str
    package: str
    keys: tuple[str, ...]
    program: str = ""
    inside: bool = False


_TOOLS = {
    ProfilerQuestion.GPU_IDLE: _Tool("torch.profiler", "torch", ("profiler-torch-read",)),
    ProfilerQuestion.PYTHON: _Tool("cProfile, snakeviz", "snakeviz", ("profiler-cprofile", "profiler-snakeviz"), "snakeviz"),
    ProfilerQuestion.RUNNING: _Tool("py-spy", "py-spy", ("profiler-py-spy",), "py-spy"),
    ProfilerQuestion.LINES: _Tool("scalene", "scalene", ("profiler-scalene",), "scalene", inside=True),
    ProfilerQuestion.MEMORY: _Tool("gpuassist run", "", ("profiler-memory",)),
    ProfilerQuestion.HOST_MEMORY: _Tool("memray", "memray", ("profiler-memray",), "memray", inside=True),
    ProfilerQuestion.TIMELINE: _Tool("Nsight Systems", "", ("profiler-nsys",), "nsys"),
    ProfilerQuestion.KERNEL: _Tool("Nsight Compute", "", ("profiler-ncu",), "ncu"),
}
_OF_BOUND = {
    Bound.DATA: ProfilerQuestion.RUNNING,
    Bound.PYTHON: ProfilerQuestion.RUNNING,
    Bound.COPIES: ProfilerQuestion.GPU_IDLE,
    Bound.GPU: ProfilerQuestion.GPU_IDLE,
}
TORCH_CODE = (
    "schedule = torch.profiler.schedule(wait=5, warmup=2, active=6, repeat=1)",
    "save = lambda profiler: profiler.export_chrome_trace('trace.json.gz')",
    "with torch.profiler.profile(schedule=schedule, on_trace_ready=save, with_stack=True) as profiler:",
    "    for batch in loader:",
    "        ...  # a step of the training, as before",
    "        profiler.step()",
)


def question_of(bound: Bound) -> ProfilerQuestion | None:
    """What live figures leave open; none where they say nothing."""
    return _OF_BOUND.get(bound)


def environment_of_programs(found: Fact[tuple[PythonEnvironment, ...]]) -> Fact[PythonEnvironment]:
    """The one in which the user's programs run: whichever is active, also before there is a torch in it."""
    active = [one for one in value_or(found, ()) if one.active.is_true and isinstance(one.interpreter, Known)]
    return Known(active[0], found.source) if active and isinstance(found, Known) else choose(found)


def next_tools(
    session: Session,
    environment: Fact[PythonEnvironment],
    *,
    program: str = "train.py",
    questions: tuple[ProfilerQuestion, ...] = tuple(ProfilerQuestion),
    live: bool = True,
) -> tuple[ProfilerAdvice, ...]:
    """The advice for each question; of a recorded machine nothing is known of tools and permissions."""
    maker = _Maker(session, environment, program, live=live)
    return tuple(maker.advice(one) for one in questions)


class _Maker:
    def __init__(self, session: Session, environment: Fact[PythonEnvironment], program: str, *, live: bool) -> None:
        self._session, self._world, self._program, self._live = session, session.world, program, live
        self._environment = environment.value if isinstance(environment, Known) else None
        interpreter = self._environment.interpreter if self._environment is not None else Unknown(text("no environment"))
        self._python = interpreter.value if isinstance(interpreter, Known) else "python3"

    def advice(self, question: ProfilerQuestion) -> ProfilerAdvice:
        tool = _TOOLS[question]
        path, state = self._found(tool)
        program = path or self._place_of(tool)
        lines = tuple(line for key in tool.keys for line in self._lines(key, program))
        obstacles, problem = self._obstacles(question)
        if question is ProfilerQuestion.RUNNING and obstacles:
            lines = (*self._lines("profiler-py-spy-start", program), *lines[-1:])
        missing = state is ToolState.MISSING
        install = self._install(tool) if missing and tool.package else ()
        if question is ProfilerQuestion.PYTHON:  # cProfile is a part of Python: what shows its file comes last
            lines, install, state, path = (*lines[:-1], *install, *lines[-1:]), (), ToolState.READY, ""
        if missing and not tool.package:
            obstacles = (*obstacles, _BY_THEMSELVES[question])
        code = TORCH_CODE if question is ProfilerQuestion.GPU_IDLE else ()
        return ProfilerAdvice(question, tool.name, state, path, lines, code, install, obstacles, problem)

    def _found(self, tool: _Tool) -> tuple[str, ToolState]:
        """Where the tool is: in the environment, on PATH, where NVIDIA's packages put it."""
        if tool.name == "gpuassist run":
            return "", ToolState.READY
        if not self._live:
            return "", ToolState.UNKNOWN
        if tool.name == "torch.profiler":
            return ("", ToolState.READY) if self._has_torch() else ("", ToolState.MISSING)
        files = self._world.files
        prefix = self._environment.prefix if self._environment is not None else ""
        places = [f"{prefix}/bin/{tool.program}"] if prefix else []
        path = self._world.surroundings.variables.get("PATH", "") if not tool.inside else ""
        places += [f"{one}/{tool.program}" for one in path.split(":") if one.startswith("/")]
        for place in places:
            if files.is_file(place) and files.may(place, os.X_OK):
                return place, ToolState.READY
        newest = [one for pattern in _PLACES.get(tool.program, ()) for one in files.glob(pattern) if files.is_file(one)]
        return (newest[-1], ToolState.READY) if newest else ("", ToolState.MISSING)

    def _has_torch(self) -> bool:
        environment = self._environment
        if environment is None:
            return False
        return bool(
            value_or(environment.torch, ()) or self._world.files.glob(f"{environment.prefix}/lib/python3*/site-packages/torch")
        )

    def _place_of(self, tool: _Tool) -> str:
        """Where it will be once it is installed as is shown."""
        if tool.inside and self._is_apart() and self._live:
            return f"{_BESIDE}/bin/{tool.program}"
        into = self._environment is not None and bool(tool.package) and not self._is_apart()
        return (
            f"{self._environment.prefix}/bin/{tool.program}"
            if into and self._environment is not None and self._live
            else tool.program
        )

    def _is_apart(self) -> bool:
        """Whether what the distribution keeps would be changed, which is not for pip (PEP 668)."""
        return self._environment is None or value_or(self._environment.manager, None) is Manager.SYSTEM

    def _lines(self, key: str, tool: str) -> tuple[str, ...]:
        parameters = {"python": self._python, "file": self._program, "program": tool, "pid": "PID"}
        return self._session.knowledge.commands.render(key, Family.ANY, parameters)

    def _install(self, tool: _Tool) -> tuple[str, ...]:
        package = tool.package
        environment = self._environment
        manager = value_or(environment.manager, None) if environment is not None else None
        if package == "torch":
            return self._session.knowledge.commands.render("profiler-install-torch", Family.ANY, {})
        key = "profiler-install-uv" if manager is Manager.UV else "profiler-install"
        if self._is_apart():
            key = "profiler-install-beside" if tool.inside else "profiler-install-apart"
        parameters = {"python": self._python, "package": package, "directory": _BESIDE}
        return self._session.knowledge.commands.render(key, Family.ANY, parameters)

    def _obstacles(self, question: ProfilerQuestion) -> tuple[tuple[Text, ...], str]:
        if not self._live:
            return (), ""
        if question is ProfilerQuestion.RUNNING and _ptrace(self._world) >= 1 and not _may(self._world, _SYS_PTRACE):
            scope = _ptrace(self._world)
            return (
                text(
                    "This system lets a program look only into those that it has started itself (ptrace_scope is {scope}): let"
                    " py-spy start the program, or ask somebody with administrator rights to run it for one that runs already.",
                    scope=scope,
                ),
            ), ""
        if question is ProfilerQuestion.KERNEL and _counters_closed(self._world) and not _may(self._world, _SYS_ADMIN):
            return (
                text(
                    "The driver gives the GPU's counters to administrators only (RmProfilingAdminOnly is 1), and Nsight Compute"
                    " needs them."
                ),
            ), COUNTERS
        return (), ""


_BY_THEMSELVES = {
    ProfilerQuestion.TIMELINE: text(
        "Nsight Systems is not there: the full CUDA toolkit brings it, and NVIDIA's page has it by itself."
    ),
    ProfilerQuestion.KERNEL: text(
        "Nsight Compute is not there: the full CUDA toolkit brings it, and NVIDIA's page has it by itself."
    ),
}


def _counters_closed(world: World) -> bool:
    rows = world.files.text(_PARAMETERS, _LIMIT).splitlines()
    return any(
        name.strip() == "RmProfilingAdminOnly" and value.strip() == "1" for name, _, value in (row.partition(":") for row in rows)
    )


def _ptrace(world: World) -> int:
    words = world.files.text(_PTRACE, _LIMIT).strip()
    return int(words) if words in {"0", "1", "2", "3"} else 0


def _may(world: World, capability: int) -> bool:
    """Whether this process has a capability: root in a container may lack it."""
    for row in world.files.text(_STATUS, _LIMIT).splitlines():
        name, _, value = row.partition(":")
        if name == "CapEff":
            try:
                return bool(int(value.strip()[:16], 16) >> capability & 1)
            except ValueError:
                return False
    return False
