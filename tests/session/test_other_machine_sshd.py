"""Another machine beside a real sshd, by the user's own configuration: it talks over a pipe, so that no port is opened."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuassist.model.words import ENGLISH
from gpuassist.session.other_connection import OtherMachineError
from gpuassist.session.other_machine import OtherMachine
from tests.fakes import put
from tests.session.made_ssh import MadeHost
from tests.waiting import until

SSHD = """HostKey {0}/host
AuthorizedKeysFile {0}/user.pub
SetEnv PATH={0}/bin TMPDIR={0}/there HOME={0}/there
UsePAM no
StrictModes no
PermitRootLogin yes
PidFile none
"""
CONFIG = """Host *
  ProxyCommand {server} -i -f {0}/config
  UserKnownHostsFile {0}/known
  IdentitiesOnly yes
  IdentityAgent none
Host box
  HostName there
  IdentityFile {0}/user
Host stranger
  HostName there
  IdentityFile {0}/none
Host changed
  HostName changed
"""


@pytest.fixture
def host(tmp_path: Path) -> MadeHost:
    server = shutil.which("sshd", path=f"/usr/sbin:{os.environ.get('PATH', '')}")
    if server is None:
        pytest.skip("NOT RUN: needs sshd, install the package openssh-server")
    made = MadeHost(tmp_path)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    key, other = ((tmp_path / f"{name}.pub").read_text().rsplit(" ", 1)[0] for name in ("host", "user"))
    put(tmp_path, "known", f"there {key}\nchanged {other}\n")
    put(tmp_path, "config", SSHD.format(tmp_path))
    put(tmp_path, "ssh_config", CONFIG.format(tmp_path, server=server))
    # ssh takes its configuration from the account's home, whatever HOME says.
    put(made.programs, "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/ssh_config "$@"\n', mode=0o755)
    done = subprocess.run(
        [made.programs / "ssh", "-o", "BatchMode=yes", "box", "true"], capture_output=True, text=True, check=False
    )
    if done.returncode:  # a locked account, a container without /run/sshd
        pytest.skip(f"NOT RUN: sshd does not let this user in: {done.stderr.strip()}")
    return made


def why_not(host: MadeHost, name: str) -> tuple[str, bool]:
    other = OtherMachine(host.session(), name, half=str(host.half))
    with pytest.raises(OtherMachineError) as caught:
        other.connect()
    other.close()
    return ENGLISH(caught.value.reason), caught.value.waits


@pytest.mark.needs("ssh", "ssh-keygen")
def test_a_machine_behind_a_real_sshd(host: MadeHost) -> None:
    other = OtherMachine(host.session(), "box", half=str(host.half))
    assert other.machine() == host.machine
    run = other.lines(1.0)
    assert '"gpus"' in (run.line(60.0) or "")
    assert host.left()
    other.close()
    assert until(lambda: not host.left())
    for name, words in (("stranger", "did not let you in"), ("changed", "another host key"), ("unknown", "is not known here yet")):
        said, waits = why_not(host, name)
        assert words in said
        assert waits
