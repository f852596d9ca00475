"""Where things are, as a pasted `ls /usr/local`, `which nvcc`, `echo $PATH` or `env` says: toolkits, and a part of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.detect.readers.commands import runs
from gpuassist.detect.readers.lines import Line, lines, lines_with, source
from gpuassist.model.environment import Manager, PythonEnvironment
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.shell import Command, Shell, Terminal, Variable
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version

_LOCAL = "/usr/local"
_NVCC = "nvcc"
_DEBIANS = "/usr/bin/nvcc"  # a script there, which runs the nvcc of /usr/lib/nvidia-cuda-toolkit
_LS = lazy_regex(rf"\b(?:ls|ll)\b[^|;&]*\s{_LOCAL}(?:/?(?=\s|$)|/cuda)")
_ENTRY = lazy_regex(r"(?:^|\s|/usr/local/)(?P<name>cuda(?:-\d{1,2}(?:\.\d{1,2})?)?)/?(?=[:@\s]|$)(?: -> (?P<target>\S{1,200}))?")
_RELEASE = lazy_regex(r"cuda-(\d{1,2}\.\d{1,2})/?$")
_CONDA = lazy_regex(r"/envs/[^/]+$|/(?:(?:mini|ana)conda|(?:mini|mamba)forge|conda)\d?$")
_WHICH = lazy_regex(r"\b(?:which(?: -a)?|type(?: -[ap])?|command -v|where)\s+(?P<name>nvcc|python3?)\s*$")
_NO_NVCC = lazy_regex(
    r"\bnvcc: (?:command )?not found|command not found: nvcc\b|[Cc]ommand '?nvcc'? not found|\bno nvcc in \(|^nvcc not found$"
    r"|\bnvcc: (?:未找到命令|找不到命令|コマンドが見つかりません|commande introuvable|orden no encontrada|Kommando nicht gefunden)"
    r"|\bnvcc: (?:команда не найдена|comando não encontrado|comando non trovato|명령어를 찾을 수 없음)"
)
_ELSEWHERE = lazy_regex(r"\bsudo: |\bdocker\b|\bsubprocess\b")
_FOUND = lazy_regex(r"^(?:\S{2,20} is (?:hashed \()?)?(?P<path>/[\w./+@-]{2,200})\)?$")
_NAME = (
    r"(?:PATH|LD_LIBRARY_PATH|LIBRARY_PATH|CPATH|LD_PRELOAD|CC|CXX|CUDA\w{0,40}|NVCC_\w{2,40}|TORCH_CUDA_ARCH_LIST|PYTORCH_\w{2,40}"
    r"|NCCL_\w{2,40}|NVIDIA_\w{2,40}|CONDA_OVERRIDE_CUDA)"
)
_ECHO = lazy_regex(rf"^(?:echo [\"']?\$\{{?|printenv )(?P<name>{_NAME})\}}?[\"']?$")
_SECRET = lazy_regex(r"KEY|TOKEN|SECRET|PASSWORD")  # NVIDIA_API_KEY is nobody's business
_ENV = lazy_regex(r"^(?:sudo )?(?:env|printenv|set|export -p|export|declare -x)(?:$|\s*\|)")
_SET = lazy_regex(rf"^(?:declare -x |export )?(?P<name>{_NAME})=(?P<value>[^\n]{{0,4000}})$")
_ASSIGNMENT = lazy_regex(r"^[A-Za-z_]\w{0,60}=[^\n]{0,4000}$")
_MOST_ASSIGNED = 200
_SHORT = 64 << 10  # characters of a text that may be nothing but variables


def read(paste: Paste) -> Machine:
    """The toolkits in /usr/local, the variables and programs that the text shows, and the Python that was looked for."""
    listed = _listed(paste) or _alternatives(paste)
    nvcc: list[Command] = []
    for path, _ in _looked_for(paste, _NVCC):
        root = path.removesuffix("/bin/nvcc")
        real = next((one.root for one in listed if root in one.links), root)
        nvcc.append(Command(_NVCC, path, f"{real}/bin/nvcc"))
    commands = tuple(nvcc) or ((Command(_NVCC, "", ""),) if _not_found(paste) else ())
    toolkits = (*listed, *(one for one in _around(commands) if one.root not in {other.root for other in listed}))
    variables = {one.name: (one, line) for one, line in _variables(paste) if not _SECRET.search(one.name)}
    told = tuple(one for one, _ in variables.values())
    terminal = Terminal("", told, commands[-1:]) if told or commands else None
    which = _which(paste)
    release = toolkits[0].version if toolkits else NOT_ASKED
    stated = release.source if isinstance(release, Known) and release.source.startswith("pasted") else ""
    set_at = next((source("environment", line.number) for _, line in variables.values()), "")
    return Machine(
        toolkits=Known(toolkits, stated or which) if toolkits else NOT_ASKED,
        shell=Shell(new_terminal=Known(terminal, set_at or which)) if terminal else Shell(),
        environments=_python(paste),
    )


def _listed(paste: Paste) -> tuple[Toolkit, ...]:
    names: dict[str, str] = {}
    found: dict[str, Line] = {}
    for run in runs(paste, _LOCAL):
        for line in run.output if _LS.search(run.command) else ():
            for entry in _ENTRY.finditer(line.words):
                # Where a link leads, as a name in /usr/local or a whole path; Debian's alternatives lead on to what is not told.
                names.setdefault(entry["name"], (entry["target"] or "").rstrip("/").removeprefix(f"{_LOCAL}/"))
                found.setdefault(entry["name"], line)
    roots = [name for name, target in names.items() if _RELEASE.search(name) and not target]
    return tuple(
        Toolkit(
            f"{_LOCAL}/{name}",
            origin=found[name].known(Origin.LOCAL, "ls"),
            version=found[name].known(Version.parse(name.removeprefix("cuda-")), "ls"),
            links=tuple(sorted(_links(name, names, alone=len(roots) == 1))),
        )
        for name in roots
    )


_CHOICE = lazy_regex(
    r"^(?:[*\s]{0,4}\d{0,3}\s{1,8})?(?P<root>/usr/local/cuda-(?P<release>\d{1,2}\.\d{1,2})) (?:- priority |\s{1,12})\d{1,4}\b"
)
_POINTS = lazy_regex(r"link currently points to (?P<root>/\S{1,200})|^\*\s+\d{1,3}\s+(?P<chosen>/\S{1,200})\s")


def _alternatives(paste: Paste) -> tuple[Toolkit, ...]:
    """The toolkits that `update-alternatives --display cuda`, or its menu, chooses from."""
    rows = [(found, line) for line in lines_with(paste, f"{_LOCAL}/cuda-") if (found := _CHOICE.match(line.words))]
    said = (_POINTS.search(line.words) for line in lines_with(paste, "link currently points to", "* "))
    chosen = next((found["root"] or found["chosen"] for found in said if found), "")
    roots = dict.fromkeys((found["root"], found["release"]) for found, _ in rows)
    line = rows[0][1] if rows else Line(0, "")
    return tuple(
        Toolkit(
            root,
            origin=line.known(Origin.LOCAL, "update-alternatives"),
            version=line.known(Version.parse(release), "update-alternatives"),
            links=(f"{_LOCAL}/cuda",) if root == chosen else (),
        )
        for root, release in roots
    )


def _links(name: str, names: dict[str, str], *, alone: bool) -> tuple[str, ...]:
    """The links that lead to a toolkit: as they say, and where there is one toolkit alone every other name is a link to it."""
    others = ((other, target) for other, target in names.items() if other != name)
    return tuple(f"{_LOCAL}/{other}" for other, target in others if target == name or (alone and not _RELEASE.search(target)))


def _not_found(paste: Paste) -> Line | None:
    """Where a shell says that it finds no nvcc; sudo looks in directories of its own."""
    if "Cuda compilation tools" in paste.words:
        return None
    said = (line for line in lines_with(paste, _NVCC) if _NO_NVCC.search(line.words) and not _ELSEWHERE.search(line.words))
    return next(said, None)


def _around(commands: tuple[Command, ...]) -> Iterator[Toolkit]:
    """The toolkit of an nvcc that PATH finds; its directory may carry the release."""
    for one in (command for command in commands[-1:] if command.path):
        if one.path == _DEBIANS:
            yield Toolkit("/usr/lib/nvidia-cuda-toolkit", origin=Known(Origin.PACKAGE, one.path), wrappers=(one.path,))
            return
        root = one.real_path.removesuffix("/bin/nvcc")
        release = _RELEASE.search(root)
        origin = Known(Origin.CONDA, one.path) if _CONDA.search(root) else NOT_ASKED
        yield Toolkit(root, origin=origin, version=Known(Version.parse(release[1]), one.path) if release else NOT_ASKED)


def _looked_for(paste: Paste, name: str) -> Iterator[tuple[str, Line]]:
    """The first path that `which` and its like printed."""
    for run in runs(paste, name):
        asked = _WHICH.search(run.command)
        if asked and asked["name"].startswith(name) and run.output:
            found = _FOUND.match(run.output[0].words.strip())
            if found and found["path"].rpartition("/")[2].startswith(name):
                yield found["path"], run.output[0]


def _variables(paste: Paste) -> Iterator[tuple[Variable, Line]]:
    for run in runs(paste, "echo", "env", "set", "export", "declare"):
        echoed = _ECHO.match(run.command)
        if echoed:
            # The value; one that is empty is not set, or set to nothing: `echo` does not tell.
            name = echoed["name"]
            value = run.output[0].words.strip() if run.output else ""
            if value and not value.startswith("$") and "ndefined variable" not in value:
                yield Variable(name, value), run.output[0]
        elif _ENV.match(run.command):
            yield from _assigned(run.output)
    # What `env | grep` left, without the command: nothing but variables.
    every = [line for line in lines(paste)[:_MOST_ASSIGNED] if line.words.strip()] if len(paste.words) < _SHORT else []
    if every and all(_ASSIGNMENT.match(line.words.strip()) for line in every):
        yield from _assigned(every)


def _assigned(told: Iterable[Line]) -> Iterator[tuple[Variable, Line]]:
    for line in told:
        found = _SET.match(line.words.strip())
        if found:
            yield Variable(found["name"], found["value"].strip("\"'")), line


def _python(paste: Paste) -> Fact[tuple[PythonEnvironment, ...]]:
    found = [(path, line) for path, line in _looked_for(paste, "python") if "/bin/" in path]
    if len({path for path, _ in found}) != 1:
        return NOT_ASKED
    path, line = found[0]
    prefix = path.rpartition("/bin/")[0]
    parent, _, name = prefix.rpartition("/")
    manager = Manager.SYSTEM if prefix == "/usr" else Manager.CONDA if parent.endswith("/envs") else None
    environment = PythonEnvironment(
        prefix,
        name if parent.endswith("/envs") else "",
        manager=line.known(manager, "which") if manager else NOT_ASKED,
        interpreter=line.known(path, "which"),
    )
    return line.known((environment,), "which")


def _which(paste: Paste) -> str:
    """Where the text tells whether there is an nvcc."""
    for _, line in _looked_for(paste, _NVCC):
        return source("which", line.number)
    said = _not_found(paste)
    return source("shell", said.number) if said is not None else "pasted text"
