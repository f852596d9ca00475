"""Paths of control groups as systemd, docker, podman, containerd and lxc write them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.cgroup import Cgroup, read_cgroup
from tests.rows import for_each

LONG = "3f2a51c07d1e" + "0" * 52


@for_each(
    ("words", "expected"),
    [
        ("0::/\n", Cgroup("", "")),
        ("", Cgroup("", "")),
        ("0::/init.scope\n", Cgroup("init.scope", "")),
        ("0::/system.slice/nvidia-persistenced.service\n", Cgroup("nvidia-persistenced.service", "")),
        (
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-firefox\\x2desr-4242.scope\n",
            Cgroup("app-gnome-firefox-esr-4242.scope", ""),
        ),
        ("0::/user.slice/user-1000.slice/session-3.scope\n", Cgroup("session-3.scope", "")),
        (f"0::/system.slice/docker-{LONG}.scope\n", Cgroup(f"docker-{LONG}.scope", "docker 3f2a51c07d1e")),
        (f"12:devices:/docker/{LONG}\n1:name=systemd:/docker/{LONG}\n", Cgroup("", "docker 3f2a51c07d1e")),
        (f"0::/machine.slice/libpod-{LONG}.scope/container\n", Cgroup(f"libpod-{LONG}.scope", "podman 3f2a51c07d1e")),
        (
            f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{LONG}.scope\n",
            Cgroup(f"cri-containerd-{LONG}.scope", "containerd 3f2a51c07d1e"),
        ),
        (f"11:memory:/kubepods/besteffort/pod7/{LONG}\n", Cgroup("", "kubernetes 3f2a51c07d1e")),
        ("0::/lxc.payload.trainer/init.scope\n", Cgroup("init.scope", "lxc trainer")),
        ("1:name=systemd:/lxc/trainer\n", Cgroup("", "lxc trainer")),
        ("0::/machine.slice/machine-qemu\\x2d1\\x2dwin11.scope\n", Cgroup("machine-qemu-1-win11.scope", "machine qemu-1-win11")),
        ("2:cpu:/\n1:name=systemd:/system.slice/gdm.service\n0::/\n", Cgroup("gdm.service", "")),
    ],
)
def test_unit_and_container_are_read_from_the_path(words: str, expected: Cgroup) -> None:
    assert read_cgroup(words) == expected


def test_name_with_colons_stays_whole() -> None:
    assert read_cgroup("0::/system.slice/a:b.service\n").unit == "a:b.service"


@given(st.text())
def test_no_text_is_too_strange(words: str) -> None:
    found = read_cgroup(words)
    assert isinstance(found.unit, str)
    assert isinstance(found.container, str)
