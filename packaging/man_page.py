"""The manual page: commands and options from the parser that the program itself uses, the rest written here.

The language is that of man(7), which man-db and mandoc both read.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Collection, Iterator
from datetime import datetime, timezone
from textwrap import wrap
from time import time

from gpuassist.present.marks import Exit

_DESCRIPTION = """\
.B gpuassist
finds out which NVIDIA GPUs, drivers, CUDA toolkits, compilers and Python
environments a computer has, explains what does not fit together and why,
repairs it where you agree, proves by real tensor operations that each GPU
computes rightly, and shows the memory of all GPUs while a program runs.
It reads torch's memory snapshots and what profilers leave, and estimates
whether a model fits into a GPU.
.PP
Without a command it opens its window.
Where there is no display it prints what
.B gpuassist doctor
does.
.PP
It never acts as root: a command line that needs root is shown, with the
reason, for you to run.
Every change of a file is shown before it is made, is proved in new shells
afterwards, and can be taken back by
.BR "gpuassist undo" .
"""

_EXIT = {
    Exit.HEALTHY: "Healthy, or done.",
    Exit.WARNINGS: "Warnings only.",
    Exit.PROBLEMS: "Problems were found, a verification failed, or a plan is blocked.",
    Exit.UNDETERMINED: "It could not be determined, or is not known.",
    Exit.USAGE: "The command line was wrong.",
    Exit.OUR_FAULT: "A fault of gpuassist itself.",
    Exit.INTERRUPTED: "Interrupted.",
    Exit.UNREAD: "The reader of what a verification prints had gone.",
}

_ENVIRONMENT = {
    "NO_COLOR": "No colours in a terminal (https://no-color.org).",
    "LC_ALL, LC_MESSAGES, LANG": "The language, where --lang names none.",
    "CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER, LD_LIBRARY_PATH, PATH": "Read as programs of yours would read them.",
    "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME": "Where the files below lie.",
}

_FILES = {
    "~/.config/gpuassist/": "Settings.",
    "~/.local/state/gpuassist/": "What was changed, with the bytes before, for undo; logs of installs; "
    "machines as they were while in order.",
    "~/.cache/gpuassist/": "What can be found out again.",
}

_EXAMPLES = {
    "gpuassist doctor": "Every finding, with its evidence and the command lines that mend it.",
    "make 2>&1 | gpuassist explain": "The cause of an error, from what a program printed.",
    "gpuassist plan torch": "What it takes to have PyTorch run on all GPUs at once.",
    "gpuassist verify --python ~/train/bin/python": "Whether each GPU computes rightly with the torch of that environment.",
    "gpuassist monitor": "A live table of the GPUs and who uses them.",
    "gpuassist estimate 7B --gpu 'RTX 4090'": "Whether a model fits into that GPU, and what would help.",
    "gpuassist snapshot peak.pickle": "Which lines of a program held its memory at the peak.",
    "gpuassist profile trace.json": "Where a program's time went, and what to change first.",
    "gpuassist --ssh HOST doctor": "The same findings of another machine, which is looked at and never changed.",
    "gpuassist detect --json > machine.json": "Records this machine; --machine machine.json shows it elsewhere.",
}


def written(parser: argparse.ArgumentParser, version: str) -> str:
    """The page of this parser, to which each subcommand has added its options."""
    (verbs,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    helps = {one.dest: one.help or "" for one in verbs._choices_actions}
    everywhere = [one for one in parser._actions if one is not verbs]
    parts = [
        f'.TH GPUASSIST 1 {_day()} "gpuassist {version}" "User Commands"',
        ".SH NAME",
        "gpuassist \\- set up, repair, verify and watch NVIDIA GPUs",
        ".SH SYNOPSIS",
        ".B gpuassist",
        "[options] [command]",
        ".SH DESCRIPTION",
        _DESCRIPTION.rstrip(),
        ".SH OPTIONS",
        "These may stand before or after the command.",
        *_options(iter(everywhere)),
        ".SH COMMANDS",
    ]
    for name, command in verbs.choices.items():
        parts += [f'.SS "gpuassist {_plain(name)}{_positionals(command)}"', _sentence(helps[name])]
        parts += _options(one for one in command._actions if one.dest not in {shown.dest for shown in everywhere})
    parts += [".SH EXIT STATUS", *_listed({str(int(one)): words for one, words in _EXIT.items()})]
    parts += [".SH ENVIRONMENT", *_listed(_ENVIRONMENT), ".SH FILES", *_listed(_FILES)]
    parts += [".SH EXAMPLES", *_listed(_EXAMPLES), ".SH SEE ALSO", ".BR nvidia-smi (1),", ".BR nvcc (1)", ""]
    return "\n".join(parts)


def _day() -> str:
    """Of the build; a build that is to give the same bytes again names it, as https://reproducible-builds.org says."""
    return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time())), timezone.utc).strftime("%Y-%m-%d")


def _options(actions: Iterator[argparse.Action]) -> Iterator[str]:
    for action in actions:
        if action.help is argparse.SUPPRESS:
            continue
        names = ", ".join(_bold(one) for one in action.option_strings) or _slots(action)
        yield ".TP"
        yield f"{names} {_slots(action)}".rstrip() if action.option_strings else names
        yield _sentence(_help(action), [*(action.choices or ())])


def _positionals(command: argparse.ArgumentParser) -> str:
    words = [_slots(one) for one in command._actions if not one.option_strings and one.help is not argparse.SUPPRESS]
    return "".join(" " + re.sub(r"\\f[BIR]", "", one) for one in words if one)


def _slots(action: argparse.Action) -> str:
    """What follows the name, as the program's own help has it."""
    if action.nargs == 0 or action.help is argparse.SUPPRESS:
        return ""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    word = f"\\fI{_plain(str(action.metavar or choices or action.dest))}\\fR"
    return {"?": f"[{word}]", "*": f"[{word} ...]", "+": f"{word} ...", "A...": f"{word} ..."}.get(str(action.nargs), word)


def _help(action: argparse.Action) -> str:
    words = action.help or ""
    return words % {"default": action.default, "prog": "gpuassist", "choices": ", ".join(map(str, action.choices or ()))}


def _listed(rows: dict[str, str]) -> Iterator[str]:
    for name, words in rows.items():
        yield from (".TP", _bold(name), _sentence(words))


def _bold(words: str) -> str:
    return f"\\fB{_plain(words)}\\fR"


def _sentence(words: str, values: Collection[object] = ()) -> str:
    """Words as a paragraph, with a capital unless they begin with a value that is typed so."""
    plain = _plain(" ".join(words.split()))
    first = re.match(r"[a-z]+(?= )", plain)
    whole = plain[:1].upper() + plain[1:] if first and first[0] not in values else plain
    whole = whole if whole.endswith((".", "!", "?", ")")) else f"{whole}."
    # a sentence a line, as both formatters want it: they then space it themselves
    whole = re.sub(r"(?<=[a-z0-9)])([.!?]) (?=[A-Z])", "\\1\n", whole)
    lines = (line for sentence in whole.split("\n") for line in wrap(sentence, 79, break_long_words=False, break_on_hyphens=False))
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)


def _plain(words: str) -> str:
    signs = {
        "\\": "\\e",
        "-": "\\-",
        "~": "\\(ti",
        "^": "\\(ha",
        "`": "\\(ga",
        "'": "\\(aq",
        "…": "...",
        "×": "\\(mu",
        "—": "\\(em",
    }
    return "".join(signs.get(sign, sign) for sign in words)
