"""What is pasted into an open terminal, run by real shells: the chosen toolkit is in, the other ones are out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpuassist.changes.toolkit_steps import paste_toolkit
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.toolkits import InstalledToolkits

OLD, NEW = "/usr/local/cuda-11.7", "/opt/my cuda/cuda-12.4"
INSTALLED = InstalledToolkits(Toolkit(NEW), (Toolkit(OLD),), str, "/home/you", lambda path: True)
SHELLS = {
    Dialect.BASH: ("/bin/bash", "--norc"),
    Dialect.ZSH: ("/usr/bin/zsh", "-f"),
    Dialect.FISH: ("/usr/bin/fish", "--no-config"),
}
EACH = [
    Dialect.BASH,
    pytest.param(Dialect.ZSH, marks=pytest.mark.needs("zsh")),
    pytest.param(Dialect.FISH, marks=pytest.mark.needs("fish")),
]


def _terminal(held: dict[str, str]) -> Fact[Terminal]:
    return Known(Terminal("/bin/bash", tuple(Variable(*one) for one in held.items()), ()), "x")


def _pasted(dialect: Dialect, libraries: str, held: dict[str, str], home: Path, *, known: bool = True) -> dict[str, str]:
    """What a shell hands to programs after the lines were pasted, which held this before."""
    terminal = _terminal(held) if known else Unknown(text("x"))
    lines = paste_toolkit(INSTALLED, libraries, terminal, dialect)
    script = "\n".join((*lines, "/usr/bin/env -0")) + "\n"
    done = subprocess.run(
        SHELLS[dialect], input=script.encode(), capture_output=True, timeout=100, check=True, env={"HOME": str(home), **held}
    )
    assert done.stderr == b""
    return dict(one.split("=", 1) for one in done.stdout.decode().split("\0") if "=" in one)


BIN = "/usr/bin:/bin"
PATHS = [f"{OLD}/bin:{BIN}", f"{BIN}:{OLD}/bin", f"{OLD}/bin:{BIN}:{OLD}/nvvm/bin", BIN, f"/usr/local/cuda-9.2/bin:{BIN}"]


@pytest.mark.parametrize("dialect", EACH)
@pytest.mark.parametrize("path", PATHS)
def test_the_old_elements_of_path_are_gone(dialect: Dialect, path: str, tmp_path: Path) -> None:
    held = {"PATH": path, "CUDA_HOME": OLD, "CUDA_PATH": OLD, "CUDACXX": f"{OLD}/bin/nvcc"}
    after = _pasted(dialect, "", held, tmp_path)
    assert after["PATH"] == f"{NEW}/bin:{BIN}"
    assert {after["CUDA_HOME"], after["CUDA_PATH"]} == {NEW}
    assert after["CUDACXX"] == f"{NEW}/bin/nvcc"


@pytest.mark.parametrize("dialect", EACH)
@pytest.mark.parametrize(
    ("held", "libraries", "left"),
    [
        (f"{OLD}/lib64:/opt/x", f"{NEW}/lib64", f"{NEW}/lib64:/opt/x"),
        (f"{OLD}/lib64:{OLD}/extras/CUPTI/lib64", f"{NEW}/lib64", f"{NEW}/lib64"),
        (f"/opt/x:{OLD}/lib64", "", "/opt/x"),
        ("/opt/x", f"{NEW}/lib64", f"{NEW}/lib64:/opt/x"),
        ("/opt/x", "", "/opt/x"),
        (None, f"{NEW}/lib64", f"{NEW}/lib64"),
    ],
)
def test_the_loaders_path_holds_no_old_and_no_empty_element(
    dialect: Dialect, held: str | None, libraries: str, left: str, tmp_path: Path
) -> None:
    variables = {"PATH": BIN} | ({"LD_LIBRARY_PATH": held} if held is not None else {})
    assert _pasted(dialect, libraries, variables, tmp_path)["LD_LIBRARY_PATH"] == left


@pytest.mark.parametrize("dialect", EACH)
def test_where_nobody_was_asked_it_is_put_in_front(dialect: Dialect, tmp_path: Path) -> None:
    after = _pasted(dialect, "", {"PATH": f"{OLD}/bin:{BIN}"}, tmp_path, known=False)
    assert after["PATH"].split(":")[0] == f"{NEW}/bin"
