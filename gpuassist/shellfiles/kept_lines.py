"""The lines of a start-up file that have to do with CUDA, Python environments or where programs are looked for, quoted in parts.

A start-up file may hold keys, so that no line is copied: the commands that are known here are put together anew, of the words that
they are known by, and the rest of the line is left out. Nothing is judged by it, which takes a grammar, and loading that costs a
start 50 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuassist.model.address import without_secrets
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import StartupLine
from gpuassist.shellfiles.statements import WATCHED

LEFT_OUT = "…"
_LINES_AT_MOST = 100
_LINE_AT_MOST = 4000  # characters that are looked at of a line, with those that it goes on with
_ROWS_AT_MOST = 50  # that a line goes on over
_SHOWN_AT_MOST = 400
_WORDS_AT_MOST = 6  # of a command that switches environments
# One of these is in each line that matters, in any case.
_MAYBE = (
    *(
        b"path",
        b"cuda",
        b"cudnn",
        b"nvcc",
        b"nvidia",
        b"torch",
        b"nccl",
        b"preload",
        b"conda",
        b"mamba",
        b"env",
        b"pixi",
        b"module",
    ),
    *(b"ml ", b"spack", b"workon", b"source", b". ", b"eval", b"alias", b"python", b"zdotdir"),
)
_TOKEN = lazy_regex(
    r"(?P<comment>(?<![^\s;&|()])\#.*)"
    r"|(?P<word>(?:\$\([^()]*\)|[^\s;&|<>()'\"`\\]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|['\"`])+)"
    r"|(?P<end>[;&|()<>]+)"
)
_ZSH_LIST = lazy_regex(r"(?:^|[\s;])(f?path)(\+?=)\(([^()]*)\)")
_PROGRAM = lazy_regex(r"\$\([^()]*\)|`[^`]*`")
_KEY_LEAST = 20
_LIKE_A_KEY = lazy_regex(r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}")  # and no path
_PLAIN = frozenset("./:~${}+@%,*?[] !^-_")
_SECRET = ("KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL")
_NAMES = frozenset(
    (
        *WATCHED,
        *("LD_PRELOAD", "PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "VIRTUAL_ENV", "MODULEPATH", "CUDAHOSTCXX"),
        *("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_OVERRIDE_CUDA", "CONDA_AUTO_ACTIVATE_BASE", "PYENV_ROOT", "PYENV_VERSION"),
        *("BASH_ENV", "ENV", "ZDOTDIR", "path", "fpath", "fish_user_paths"),
    )
)
_ZSH_LISTS = frozenset({"path", "fpath"})
_PREFIXES = ("CUDA_", "CUDNN_", "PYTORCH_", "TORCH_", "NVCC_", "NVIDIA_", "NCCL_")
_KEYWORDS = frozenset(
    {
        *("if", "then", "else", "elif", "fi", "do", "done", "while", "until", "case", "esac", "in", "!", "{", "}", "begin", "end"),
        *("and", "or", "not", "time", "command", "builtin", "exec"),
    }
)
_ALIASED = frozenset({"python", "python3", "pip", "pip3", "nvcc", "gcc", "g++", "conda", "mamba", "torchrun"})
_SWITCHING = {
    **dict.fromkeys(("conda", "mamba", "micromamba"), ("activate", "deactivate")),
    **dict.fromkeys(("module", "ml", "spack", "workon"), ()),
    "pyenv": ("init", "shell", "global", "local", "activate", "virtualenv-init"),
    "pixi": ("shell", "shell-hook"),
}  # what these are asked to do; empty where whatever they are asked matters


def kept_lines(content: bytes) -> tuple[StartupLine, ...]:
    """Those lines, in order; a command that goes on over several has the number of its first."""
    found: list[StartupLine] = []
    for number, line in _candidates(content):
        said = "; ".join(filter(None, dict.fromkeys(_said_on(line))))
        if said:
            found.append(StartupLine(number, said if len(said) <= _SHOWN_AT_MOST else f"{said[:_SHOWN_AT_MOST]}{LEFT_OUT}"))
        if len(found) == _LINES_AT_MOST:
            break
    return tuple(found)


def _candidates(content: bytes) -> Iterator[tuple[int, str]]:
    """Each line that may matter, whole with those that it goes on with, and its number. Most lines of most files do not, so that
    they are never looked at one by one.
    """
    lowered = content.lower()
    first_bytes = set()
    for word in _MAYBE:
        place = lowered.find(word)
        while place >= 0:
            first_bytes.add(_beginning(content, place))
            end = content.find(b"\n", place)
            place = lowered.find(word, end) if end >= 0 else -1
    number, counted = 1, 0
    for first in sorted(first_bytes):
        number, counted = number + content.count(b"\n", counted, first), first
        rows: list[str] = []
        end = first - 1
        while True:
            start, end = end + 1, content.find(b"\n", end + 1)
            row = content[start : end if end >= 0 else None]
            goes_on = end >= 0 and _goes_on(row) and len(rows) < _ROWS_AT_MOST
            rows.append((row[:-1] if goes_on else row).rstrip(b"\r").decode("utf-8", "replace"))
            if not goes_on:
                break
        line = "".join(rows)[:_LINE_AT_MOST]
        if not line.lstrip().startswith("#"):
            yield number, line


def _beginning(content: bytes, place: int) -> int:
    """Where the line of that place begins, or the first of those that it goes on with."""
    first = content.rfind(b"\n", 0, place) + 1
    for _ in range(_ROWS_AT_MOST):
        before = content.rfind(b"\n", 0, first - 1) + 1 if first else 0
        if not first or not _goes_on(content[before : first - 1]):
            break
        first = before
    return first


def _goes_on(row: bytes) -> bool:
    return row.endswith(b"\\") and (len(row) - len(row.rstrip(b"\\"))) % 2 == 1


def _said_on(line: str) -> Iterator[str]:
    """What each command of a line says that matters here."""
    for name, sign, listed in _ZSH_LIST.findall(line) if "path" in line and "=(" in line else ():
        yield f"{name}{sign}({' '.join(map(_shown, listed.split()))})"
    words: list[str] = []
    for token in _TOKEN.finditer(line):
        if token.lastgroup == "comment":
            break
        if token.lastgroup == "word":
            words.append(token[0])
            continue
        yield from _said(words)
        words = []
    yield from _said(words)


def _said(command: Sequence[str]) -> Iterator[str]:
    words = list(command)
    while words and words[0] in _KEYWORDS:
        del words[0]
    if not words:
        return
    head, rest = words[0].lstrip("\\").strip("'\""), words[1:]
    if head in {"source", "."}:
        yield f"source {_shown(rest[0])}" if rest else ""
    elif head == "set" and any(word.startswith("-") for word in rest):  # fish: `set -gx NAME value…`
        yield from _set_in_fish(rest)
    elif head == "fish_add_path":
        yield " ".join((head, *(_shown(word) for word in rest if not word.startswith("-"))))
    elif head == "unset":
        yield from (f"unset {word}" for word in rest if _matters(word))
    elif head == "eval":
        from gpuassist.shellfiles.owners import tool_of  # few files have such a line, and doctor waits for this one

        owner = tool_of((head, *rest))
        yield from (f'eval "$({owner} {LEFT_OUT})"',) if owner else ()
    elif head == "alias":
        yield from _aliases(rest)
    elif head in _SWITCHING:
        asked = _SWITCHING[head]
        if rest and (not asked or rest[0] in asked):
            yield " ".join((head, *map(_shown, rest[:_WORDS_AT_MOST])))
    else:
        yield from _assigned(words)


def _assigned(words: Sequence[str]) -> Iterator[str]:
    """Wherever they stand: behind `export`, in front of a command, or alone."""
    for word in words:
        name, sign, value = word.partition("=")
        adds = "+" if name.endswith("+") else ""
        name = name.removesuffix("+")
        if sign and _matters(name) and (value or name not in _ZSH_LISTS):
            yield f"{name}{adds}={_shown(value)}"


def _set_in_fish(words: Sequence[str]) -> Iterator[str]:
    options = [word for word in words if word.startswith("-")]
    name, *values = [word for word in words if not word.startswith("-")] or [""]
    if not _matters(name):
        return
    erases = any(option == "--erase" or (not option.startswith("--") and "e" in option) for option in options)
    yield f"unset {name}" if erases else " ".join(("set", name, *map(_shown, values)))


def _aliases(words: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name in _ALIASED:  # fish writes `alias NAME value`
            yield f"alias {name}={_shown(value if sign else ' '.join(words[place + 1 : place + 2]))}"


def _matters(name: str) -> bool:
    return name in _NAMES or (name.startswith(_PREFIXES) and name.isidentifier() and not any(word in name for word in _SECRET))


def _shown(value: str) -> str:
    """A value as it stands, if it is no more than a path, a name or a number; what a program prints is left out."""
    if "$(" in value or "`" in value:
        value = _PROGRAM.sub("\0", value)
    value = value.replace('"', "").replace("'", "").replace("\\ ", " ")
    if not all(sign.isalnum() or sign in _PLAIN or sign == "\0" for sign in value):
        return LEFT_OUT
    if len(value) >= _KEY_LEAST and "/" not in value and _LIKE_A_KEY.search(value) is not None:
        return LEFT_OUT
    return without_secrets(value).replace("\0", f"$({LEFT_OUT})")
