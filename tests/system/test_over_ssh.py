"""`ssh HOST COMMAND` as it is imitated, beside a real sshd that talks over a pipe: no port is opened."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuassist.model.fact import Known
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.terminal import Opening, ask_shell
from gpuassist.system.world import World
from tests.fakes import put

# What start-up files can tell of the way they are started in.
TELLS = (
    "export CUDA_HOME=$- CUDA_PATH=${SHLVL-none} CUDA_BIN=${TERM-none} CUDA_ROOT=$(readlink /proc/$$/fd/0 | cut -d: -f1)\n"
    "export CUDA_DIR=${SSH_CLIENT:+client}${SSH_CONNECTION:+connection}${SSH_TTY:+tty}\n"
    "[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || export CUDA_NO_TTY=1\n"
)
SSHD = """HostKey {0}/host
AuthorizedKeysFile {0}/user.pub
SetEnv HOME={1}
UsePAM no
StrictModes no
PermitUserRC no
PermitRootLogin yes
PidFile none
"""


def _over_ssh(folder: Path, home: Path) -> dict[str, str]:
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    put(folder, "config", SSHD.format(folder, home))
    server = shutil.which("sshd", path=f"/usr/sbin:{os.environ.get('PATH', '')}")
    words = ["BatchMode=yes", "StrictHostKeyChecking=no", f"UserKnownHostsFile={folder}/known", "LogLevel=ERROR"]
    words.append(f"ProxyCommand={server} -i -f {folder}/config")
    options = [word for one in words for word in ("-o", one)]
    done = subprocess.run(
        ["ssh", "-F", "none", "-i", folder / "user", *options, "localhost", "/usr/bin/env -0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 255:  # a locked account, a container without /run/sshd
        pytest.skip(f"NOT RUN: sshd does not let this user in: {done.stderr.strip()}")
    return dict(line.split("=", 1) for line in done.stdout.split("\0") if "=" in line)


@pytest.mark.needs("ssh", "ssh-keygen")
def test_command_over_ssh_is_told_as_sshd_starts_it(home: Path, tmp_path: Path) -> None:
    account = pwd.getpwuid(os.geteuid())
    if shutil.which("sshd", path=f"/usr/sbin:{os.environ.get('PATH', '')}") is None:
        pytest.skip("NOT RUN: needs sshd, install the package openssh-server")
    if Path(account.pw_shell).name not in {"bash", "zsh"}:
        pytest.skip("NOT RUN: needs a user whose login shell is bash or zsh")
    for name in (".bashrc", ".zshenv"):
        put(home, name, TELLS)
    put(home, ".profile", "export CUDA_PROFILE=read\n")
    real = _over_ssh(tmp_path, home)
    around = Surroundings(str(home), account.pw_name, account.pw_uid, {}, str(home), account.pw_shell)
    asked = ask_shell(World(around), Opening.SSH_COMMAND, seconds=30)
    assert isinstance(asked.terminal, Known)
    told = {one.name: one.value for one in asked.terminal.value.variables if one.name.startswith("CUDA_")}
    assert told == {name: value for name, value in real.items() if name.startswith("CUDA_")}
    assert told["CUDA_DIR"] == "clientconnection"
