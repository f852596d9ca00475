"""Runs `gpuassist` in a scratch home, as a process or in this one, and reads what it printed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from gpuassist import app

COMMAND = (sys.executable, "-m", "gpuassist")
SECONDS = 60


@dataclass(frozen=True)
class Done:
    """How a run ended and what it printed."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output, which must be UTF-8."""
        return self.out.decode()

    @property
    def said(self) -> str:
        """Standard error, which must be UTF-8."""
        return self.err.decode()

    def document(self) -> Any:
        """Standard output as the one JSON document that it must be, ended by one line end."""
        assert self.out.endswith(b"\n"), self
        assert not self.out.endswith(b"\n\n")
        return json.loads(self.out)


def gpuassist(home: Path, *arguments: str, **variables: str) -> Done:
    """Runs it for the user whose home this is; `variables` are added to a clean environment, an empty one is taken out."""
    given = environment(home, variables)
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, timeout=SECONDS, env=given, stdin=subprocess.DEVNULL, check=False
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return Done(done.returncode, done.stdout, done.stderr)


def gpuassist_here(home: Path, *arguments: str, **variables: str) -> Done:
    """The same command line through the same entry in this process, which starts in a tenth of the time: for what is printed."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    alone = patch.dict(os.environ, environment(home, variables), clear=True)
    with alone, open(os.devnull) as nothing, patch("sys.stdin", nothing), redirect_stdout(out), redirect_stderr(err):
        try:
            status = app.main(arguments)
        except SystemExit as stop:
            status = int(str(stop.code))
    printed, said = (stream.detach().getvalue() for stream in (out, err))
    assert b"Traceback" not in said, said.decode()
    return Done(status, printed, said)


def environment(home: Path, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a login gives: no variable of the test run comes through but PATH."""
    clean = {"HOME": str(home), "PATH": os.environ["PATH"], "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "dumb"}
    return {name: value for name, value in {**clean, **(variables or {})}.items() if value}


def in_shell(home: Path, line: str, **variables: str) -> Done:
    """A line typed into a shell, in which `$gpuassist` is the command."""
    given = {**environment(home, variables), "gpuassist": " ".join(COMMAND)}
    done = subprocess.run(["bash", "--norc", "-c", line], capture_output=True, timeout=SECONDS, env=given, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def program(path: Path, *lines: str, mode: int = 0o755) -> Path:
    """Writes a shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(mode)
    return path


def bashrc(home: Path, *lines: str) -> Path:
    """Writes the start-up file of a home."""
    path = home / ".bashrc"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path
