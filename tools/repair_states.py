"""A home with two toolkits and start-up files as people have them, and the states of the repair page that pictures are taken of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuassist.ui.pages.repair.page import RepairPage

VERSION = "12.4"
_NVCC = """#!/bin/sh
case "$*" in *kernel.cu) {compile} ;; esac
[ "$1" = --version ] || exit 1
cat <<EOF
nvcc: NVIDIA (R) Cuda compiler driver
Cuda compilation tools, release {release}, V{version}
EOF
"""
_COMPILES = "printf '#!/bin/sh\\necho 42\\n' > kernel; chmod +x kernel; exit 0"
_FAILS = (
    "echo '/usr/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 13 are not "
    "supported!' >&2; exit 1"
)
_BASHRC = """# ~/.bashrc
case $- in *i*) ;; *) return ;; esac
alias ll='ls -l'

export PATH={home}/cuda-11.7/bin:$PATH
export LD_LIBRARY_PATH={home}/cuda-11.7/lib64:$LD_LIBRARY_PATH
if [ -d {home}/cuda-11.7 ]; then
  export CUDA_HOME={home}/cuda-11.7
fi
export LIBRARY_PATH={home}/cuda-9.0/lib64:$LIBRARY_PATH:{home}/cuda-11.7/lib64/stubs
. ~/.config/gpu.sh

# >>> conda initialize >>>
export PATH={home}/miniconda3/bin:$PATH
# <<< conda initialize <<<
"""

_GUARD = "case $PATH in *uda-11.7/bin:*) ;; *) PATH=/usr/bin:/bin ;; esac\n"


def furnish(home: Path) -> None:
    """Fills the home."""
    for version, compile_line in (("11.7.99", _COMPILES), ("12.4.131", _FAILS)):
        release = ".".join(version.split(".")[:2])
        root = home / f"cuda-{release}"
        for name in ("bin", "lib64", "include"):
            (root / name).mkdir(parents=True)
        nvcc = root / "bin" / "nvcc"
        nvcc.write_text(_NVCC.format(release=release, version=version, compile=compile_line))
        nvcc.chmod(0o755)
    (home / ".bashrc").write_text(_BASHRC.format(home=home))
    (home / ".profile").write_text(f"PATH={home}/cuda-11.7/bin:$PATH\n")
    (home / ".config").mkdir(exist_ok=True)
    (home / ".config" / "gpu.sh").write_text(f"export CUDA_PATH={home}/cuda-11.7\n")
    prefix = home / "miniconda3" / "envs" / "train"
    (prefix / "conda-meta").mkdir(parents=True)
    (prefix / "bin").mkdir()


def states(page: RepairPage) -> Iterator[str]:
    """Brings the page into one state after the other; gives its name once it was asked for."""
    page.toolkit.open_for(VERSION)
    yield "toolkit"
    page.segments.choose(3)
    yield "lines"
    page.lines.table.selectRow(2)
    yield "lines-chosen"
    page.segments.choose(1)
    yield "clean"
    page.segments.choose(2)
    yield "devices"
    page.segments.choose(0)
    page.toolkit.choice.box.activated.emit(min(1, page.toolkit.choice.box.count() - 2))
    yield "toolkit-scope"
    page.toolkit.choice.box.activated.emit(0)
    yield "toolkit-again"
    page.toolkit.apply.trigger()
    yield "applied"
    page.toolkit.undo.trigger()
    yield "undo-asked"
    _agree(page)
    yield "undone"
    _guard(page, stands=True)
    yield "guarded"
    page.toolkit.apply.trigger()
    yield "rolled-back"
    _guard(page, stands=False)
    page.toolkit.anew.trigger()
    yield "planned-again"
    page.toolkit.apply.trigger()
    yield "applied-again"
    _edit(page, "alias gs='git status'\n", at_end=True)
    page.history.undo_wanted.emit("")
    yield "undo-merge"
    page.undo.leave.click()
    _edit(page, ":/elsewhere/bin", at_end=False)
    page.history.undo_wanted.emit("")
    yield "undo-conflict"


def _agree(page: RepairPage) -> None:
    """Says yes to what is asked."""
    from gpuassist.ui.widgets.question import QuestionDialog

    for asked in page.window().findChildren(QuestionDialog):
        asked.does.click()


def _guard(page: RepairPage, *, stands: bool) -> None:
    """A line of somebody's own that throws PATH away unless it holds the older toolkit; what is shown of the file is read again."""
    from gpuassist.ui.page import Wrote

    rc = Path(page.desk.session.world.surroundings.home, ".bashrc")
    content = rc.read_text()
    rc.write_text(content + _GUARD if stands else content.replace(_GUARD, ""))
    page.asked.emit(Wrote())


def _edit(page: RepairPage, words: str, *, at_end: bool) -> None:
    """Somebody edits the file: below what was changed, or in the midst of it."""
    rc = Path(page.desk.session.world.surroundings.home, ".bashrc")
    content, changed = rc.read_text(), f"cuda-{VERSION}/bin"
    rc.write_text(content + words if at_end else content.replace(changed, changed + words, 1))


def private(home: str) -> dict[str, str]:
    """The environment in which nothing outside the home is read or written."""
    places = (("CONFIG", ".config"), ("STATE", ".local/state"), ("CACHE", ".cache"), ("DATA", ".local/share"))
    return {"HOME": home, **{f"XDG_{name}_HOME": os.path.join(home, place) for name, place in places}}
