"""Writes resources/machines/: the recorded machines that ship as examples, and that tests judge.

`python tools/make_examples.py` from the project's root. The order of the names is the order of the menu.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpuassist.model.environment import Manager
from gpuassist.model.machine import encode_machine
from gpuassist.model.words import ENGLISH
from tests.values import DEBIAN, FEDORA, GTX_1080_TI, RTX_3090, RTX_4090, RTX_5090, UBUNTU_24, Env, Recipe, machine

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "machines"
_BASHRC_11_7 = """# ~/.bashrc: executed by bash(1) for non-login shells.

# If not running interactively, don't do anything
case $- in
    *i*) ;;
      *) return;;
esac

HISTCONTROL=ignoreboth
shopt -s histappend checkwinsize

export PATH="/usr/local/cuda-11.7/bin:$PATH"
export LD_LIBRARY_PATH="/usr/local/cuda-11.7/lib64:$LD_LIBRARY_PATH"

alias ll='ls -alF'

# >>> conda initialize >>>
# !! Contents within this block are managed by 'conda init' !!
eval "$('/home/you/miniforge3/bin/conda' 'shell.bash' 'hook' 2> /dev/null)"
# <<< conda initialize <<<
"""

RTX_4090_LAPTOP = "10de:2757"
TRAIN = Env("train", "2.5.1+cu124", active=True, manager=Manager.CONDA)
EXAMPLES = {
    "01-new-rtx-5090-nouveau": Recipe(
        gpus=(RTX_5090,),
        driver="",
        bound="nouveau",
        toolkits=(),
        nvcc="",
        environments=(),
        distribution=UBUNTU_24,
        glibc="2.39",
        gcc=("13.3.0",),
        note="New RTX 5090, nouveau still holds it",
    ),
    "02-rtx-4090-cuda-11-7-first": Recipe(
        toolkits=("11.7.99", "12.4.131"),
        nvcc="11.7",
        link="12.4",
        bashrc=_BASHRC_11_7,
        environments=(TRAIN, Env("old-paper", "1.13.1+cu117", "3.10"), Env("web", "2.6.0+cpu", "3.12")),
        variables={"LD_LIBRARY_PATH": "/usr/local/cuda-11.7/lib64:"},
        note="RTX 4090, CUDA 11.7 is first on PATH and 12.4 is installed",
    ),
    "03-torch-cpu-only": Recipe(
        environments=(Env("project", "2.6.0+cpu", "3.12", active=True),),
        toolkits=(),
        nvcc="",
        distribution=FEDORA,
        glibc="2.41",
        gcc=("15.1.1",),
        driver="580.95.05",
        cuda="13.0",
        open_module=True,
        note="RTX 4090, but torch is a CPU build",
    ),
    "04-driver-too-old": Recipe(
        gpus=(RTX_3090,),
        driver="470.256.02",
        cuda="11.4",
        toolkits=(),
        nvcc="",
        environments=(Env("train", "2.8.0+cu128", active=True),),
        note="RTX 3090, the driver is too old for torch's CUDA",
    ),
    "05-gtx-1080-ti-and-rtx-5090": Recipe(
        gpus=(GTX_1080_TI, RTX_5090),
        driver="580.95.05",
        cuda="13.0",
        open_module=True,
        dead=(GTX_1080_TI,),
        distribution=UBUNTU_24,
        glibc="2.39",
        gcc=("13.3.0",),
        toolkits=("12.8.93",),
        nvcc="12.8",
        environments=(Env("train", "2.9.1+cu128", "3.12", active=True),),
        note="GTX 1080 Ti beside an RTX 5090: no Linux driver runs both",
    ),
    "06-driver-library-mismatch": Recipe(
        libcuda="550.90.07",
        on_disk="550.90.07",
        environments=(TRAIN,),
        note="RTX 4090, driver updated but not restarted",
    ),
    "07-wsl2": Recipe(
        wsl=2,
        driver="566.36",
        cuda="12.7",
        toolkits=("12.6.85",),
        nvcc="12.6",
        environments=(Env("train", "2.6.0+cu126", active=True),),
        note="RTX 4090 under WSL2, all right",
    ),
    "08-healthy": Recipe(environments=(TRAIN,), note="RTX 4090, everything fits together"),
    "09-healthy-without-nvcc": Recipe(
        gpus=(RTX_4090, RTX_4090),
        driver="580.95.05",
        cuda="13.0",
        open_module=True,
        toolkits=(),
        nvcc="",
        gcc=(),
        environments=(Env("train", "2.11.0+cu130", "3.12", active=True),),
        note="Two RTX 4090, a CUDA torch and no toolkit: all right",
    ),
    "10-laptop-asleep": Recipe(
        gpus=(RTX_4090_LAPTOP,),
        asleep=True,
        environments=(TRAIN,),
        distribution=DEBIAN,
        glibc="2.36",
        gcc=("12.2.0",),
        note="A laptop whose GPU sleeps",
    ),
}


def main() -> int:
    """Writes one file an example."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, recipe in EXAMPLES.items():
        document = json.dumps(encode_machine(machine(recipe), ENGLISH), indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(document + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
