"""What users see, kept while the code under it moves: the output of every subcommand on every machine that is at hand.

`python -m tools.frozen write DIR [--jobs N]` writes one file a command line into DIR: words and exit status, with the clock,
the ids of changes and the directory of the program made equal. `python -m tools.frozen hashes DIR` prints a hash for each
machine, set of texts and home, as `tools/frozen.sha256` keeps them; `python -m tools.frozen compare BEFORE AFTER` prints what
differs and ends with 1 where something does. The program is known by its command line alone, so the same file runs on any
version of it.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "resources/machines").glob("*.json"))
RECORDED = sorted((ROOT / "tests/cases/machines").glob("*/facts.json"))
TEXTS = sorted((ROOT / "tests/cases/texts").glob("*.jsonl"))
SHELLS = sorted((ROOT / "tests/cases/shell").iterdir())

# A machine's answers: each as words and as JSON where the command has it.
ON_A_MACHINE = (
    "detect",
    "doctor",
    "plan",
    "plan driver",
    "plan driver==580",
    "plan driver==470",
    "plan cuda",
    "plan cuda==12.8",
    "plan cuda==11.8",
    "plan cuda --no-root",
    "plan torch",
    "plan torch==2.6",
    "plan torch --as uv",
    "plan torch --as conda",
    "plan torch --as docker",
    "plan driver cuda torch --no-root",
    "plan gpu=RTX_5090",
    "plan gpu=Tesla_K80",
    "plan nonsense",
    "holders",
    "shell",
    "verify",
)
ONLY_WORDS = (
    "monitor --headless --count 1",
    "use cuda 12.4",
    "undo",
    "detect --lang zh_CN",
    "doctor --lang zh_CN",
    "plan torch --lang zh_CN",
)
PASTED = (
    "nvcc fatal   : Unsupported gpu architecture 'compute_89'",
    "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    "torch.cuda.is_available() False",
    "Failed to initialize NVML: Driver/library version mismatch",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB",
    "hello world",
)
KNOWN = (
    *("gpu", "cuda", "torch", "driver", "arch", "image", "wheel", "conda", "pair", "xid", "nvml"),
    *(
        "gpu RTX_4090",
        "gpu 10de:2684",
        "gpu nonsense",
        "gpu T4",
        "cuda 12.4",
        "cuda 99",
        "torch 2.6.0+cu124",
        "torch 2.6",
        "torch 0",
    ),
    *("driver 550.54.14", "driver 580", "arch sm_89", "arch 12.0", "image nvidia/cuda:12.4.1-devel-ubuntu22.04"),
    *("wheel flash-attn", "conda pytorch-cuda", "pair torch torchvision", "xid 79", "xid 13", "nvml 999", "nonsense"),
)
BY_ITSELF = (
    *("--version", "--help", "nonsense", "doctor --nonsense", "doctor --machine /nonexistent", "doctor --machine="),
    *(
        "explain --topic",
        "explain --topic nonsense",
        "explain --topic wsl",
        "undo --list",
        "undo nonsense",
        "use --scopes",
        "use",
        "use cuda",
    ),
    *("use cuda nonsense", "use cuda 12.4 --dry-run", "use cuda 99.1 --dry-run", "use devices 0 --dry-run", "use devices x"),
    *("monitor --headless --count 0", "monitor --count x", "verify --level nonsense", "plan --run", "plan --back", "plan --resume"),
    *("plan --give-up", "plan --way nonsense", "shell --lines x", "shell --seconds 0"),
)
COMMANDS = ("detect", "doctor", "explain", "use", "undo", "verify", "monitor", "know", "plan", "holders", "shell")
IN_A_HOME = (
    "shell",
    "shell --json",
    "shell --clean --dry-run",
    "shell --clean --yes",
    "undo --list",
    "undo --yes",
    "undo --list --json",
)


@dataclass(frozen=True)
class Line:
    """One command line: its name among the files, its words, what is pasted into it."""

    name: str
    words: tuple[str, ...]
    pasted: str = ""


@dataclass(frozen=True)
class Errand:
    """Command lines that one process runs one after another, in a home that holds these start-up files."""

    lines: tuple[Line, ...]
    home: tuple[tuple[str, str], ...] = ()


def errands() -> Iterator[Errand]:
    """All of them; those of a machine together."""
    for path in (*EXAMPLES, *RECORDED):
        name = path.stem if path in EXAMPLES else path.parent.name
        told = [*_both(ON_A_MACHINE), *ONLY_WORDS]
        lines = [Line(f"machine/{name}/{words}", (*_split(words), "--machine", str(path))) for words in told]
        pasted = [
            Line(f"machine/{name}/explain-{number}{as_json}", ("explain", *_split(as_json), "--machine", str(path)), words)
            for number, words in enumerate(PASTED)
            for as_json in ("", " --json")
        ]
        yield Errand((*lines, *pasted))
    for path in TEXTS:
        texts = [json.loads(words) for words in path.read_text(encoding="utf-8").splitlines() if words.strip()]
        for start in range(0, len(texts), 40):
            yield Errand(
                tuple(
                    Line(f"text/{path.stem}/{one['id']}{as_json}", ("explain", *_split(as_json), "--machine", "none"), one["text"])
                    for one in texts[start : start + 40]
                    for as_json in ("", " --json")
                )
            )
    yield Errand(tuple(Line(f"know/{words}", ("know", *_split(words))) for words in _both(KNOWN)))
    alone = (
        *BY_ITSELF,
        *(f"{command} --help" for command in COMMANDS),
        *(f"{command} --help --lang zh_CN" for command in COMMANDS),
    )
    yield Errand(tuple(Line(f"alone/{words.replace('/', '_')}", _split(words)) for words in alone))
    for path in SHELLS:
        kept = (("startup", f"{path.name}\n{path.read_text(encoding='utf-8')}"),)
        yield Errand(
            tuple(Line(f"home/{path.name}/{number} {words}", _split(words)) for number, words in enumerate(IN_A_HOME)), kept
        )


def _both(commands: Sequence[str]) -> Iterator[str]:
    for words in commands:
        yield words
        yield f"{words} --json"


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") if "gpu=" in word or word in {"RTX_4090"} else word for word in words.split())


def run(errand: Errand) -> list[tuple[str, str]]:
    """Each line's name and what came of it."""
    from gpuassist import app

    home = Path(tempfile.mkdtemp(prefix="frozen-"))
    try:
        _furnish(home, errand)
        os.environ.clear()
        os.environ.update(HOME=str(home), PATH="/usr/bin:/bin", LANG="C.UTF-8", SHELL=_shell(errand), COLUMNS="120")
        os.chdir(home)
        return [(line.name, _made_equal(_forked(app.main, line, home), home)) for line in errand.lines]
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _furnish(home: Path, errand: Errand) -> None:
    for _, words in errand.home:
        name, _, content = words.partition("\n")
        kind = name.rpartition(".")[2]
        place = {"fish": ".config/fish/config.fish", "environment": ".config/environment.d/x.conf"}.get(kind, f".{kind}")
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text(content, encoding="utf-8")


def _shell(errand: Errand) -> str:
    kinds = {words.partition("\n")[0].rpartition(".")[2] for _, words in errand.home}
    return "/usr/bin/fish" if "fish" in kinds else "/usr/bin/zsh" if kinds & {"zshrc", "zshenv"} else "/bin/bash"


def _forked(main: object, line: Line, home: Path) -> str:
    """What a process of its own says and ends with."""
    told, pasted = home.with_name(home.name + ".out"), home.with_name(home.name + ".in")
    pasted.write_text(line.pasted, encoding="utf-8")
    child = os.fork()
    if child == 0:
        status = 70
        try:
            out = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(os.open(pasted, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            for number, mode in enumerate("rww"):
                stream = os.fdopen(number, mode, encoding="utf-8", errors="surrogateescape", closefd=False)
                setattr(sys, ("stdin", "stdout", "stderr")[number], stream)
            with contextlib.suppress(SystemExit):
                status = main(line.words)  # type: ignore[operator]
        except SystemExit as error:
            status = int(error.code or 0)
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    words = told.read_text(encoding="utf-8", errors="backslashreplace")
    told.unlink()
    pasted.unlink()
    return f"{words}[status {os.waitstatus_to_exitcode(ended)}]\n"


_EQUAL = (
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}"), "CHANGE"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?"), "MOMENT"),
    (re.compile(r"\b\d+[.,]\d+ ?(s|seconds|ms)\b"), "DURATION"),
    (re.compile(r'"seconds": [\d.e-]+'), '"seconds": DURATION'),
    (re.compile(r'"hash_after": "[0-9a-f]{64}"'), '"hash_after": HASH'),  # of bytes that hold the id
    (re.compile(r"\bpid \d+|\"pid\": \d+"), "PID"),
    (re.compile(r"^The .*translation .*, so this is in English\.$", re.MULTILINE), "ENGLISH"),  # whatever was translated and built
)


def _made_equal(words: str, home: Path) -> str:
    words = words.replace(str(home), "/home/you").replace(str(ROOT), "/opt/gpuassist").replace(sys.prefix, "/opt/python")
    for pattern, instead in _EQUAL:
        words = pattern.sub(instead, words)
    return words


def write(directory: Path, jobs: int) -> int:
    """All of them; returns how many."""
    shutil.rmtree(directory, ignore_errors=True)
    count = 0
    with ProcessPoolExecutor(jobs, max_tasks_per_child=1) as pool:
        for told in pool.map(run, errands()):
            for name, words in told:
                path = directory / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(words, encoding="utf-8")
                count += 1
    return count


def hashes(directory: Path) -> Iterator[str]:
    """`HASH  COUNT  NAME` of each machine, set of texts and home: of all its command lines together, in order of their names."""
    together: dict[str, list[Path]] = {}
    for path in sorted(one for one in directory.rglob("*") if one.is_file()):
        parts = path.relative_to(directory).parts
        together.setdefault("/".join(parts[: min(2, len(parts) - 1)]), []).append(path)
    for name, paths in together.items():
        content = b"".join(str(path.relative_to(directory)).encode() + b"\0" + path.read_bytes() for path in paths)
        yield f"{hashlib.sha256(content).hexdigest()}  {len(paths)}  {name}"


def compare(before: Path, after: Path) -> int:
    """Prints what differs; 1 where something does."""
    names = sorted({str(one.relative_to(top)) for top in (before, after) for one in top.rglob("*") if one.is_file()})
    differing = 0
    for name in names:
        texts = [(top / name).read_text(encoding="utf-8").splitlines() if (top / name).exists() else [] for top in (before, after)]
        if texts[0] != texts[1]:
            differing += 1
            print(f"=== {name}")
            for words in list(difflib.unified_diff(texts[0], texts[1], n=0, lineterm=""))[2:12]:
                print(f"    {words[:200]}")
    print(f"{len(names)} command lines, {differing} differ")
    return int(differing > 0)


def main() -> int:
    """The command line of this tool."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("write", "hashes", "compare"))
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    first = options.directories[0]
    if options.what == "write":
        print(f"{write(first, options.jobs)} command lines")
        return 0
    if options.what == "hashes":
        print("\n".join(hashes(first)))
        return 0
    return compare(first, options.directories[1])


if __name__ == "__main__":
    sys.exit(main())
