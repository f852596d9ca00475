"""Settings that forbid a module, in pasted texts."""

from __future__ import annotations

import pytest

from gpuassist.model.driver import ModuleBlock
from gpuassist.model.fact import NOT_ASKED
from tests.detect.readers.pasted import machine
from tests.facts import value


@pytest.mark.parametrize(
    ("words", "bar"),
    [
        (
            "/etc/modprobe.d/blacklist-nouveau.conf:1:blacklist nouveau",
            ModuleBlock("nouveau", "/etc/modprobe.d/blacklist-nouveau.conf:1", "blacklist nouveau"),
        ),
        ("/lib/modprobe.d/a.conf:alias nvidia off", ModuleBlock("nvidia", "/lib/modprobe.d/a.conf", "alias nvidia off")),
        (
            "$ cat /etc/modprobe.d/a.conf\n# mine\nblacklist nvidia\n$ ",
            ModuleBlock("nvidia", "/etc/modprobe.d/a.conf", "blacklist nvidia"),
        ),
    ],
)
def test_setting_is_read_with_its_file(words: str, bar: ModuleBlock) -> None:
    assert value(machine(words).driver.bars) == (bar,)


@pytest.mark.parametrize(
    "words",
    [
        "Write into /etc/modprobe.d/a.conf:\nblacklist nouveau\noptions nouveau modeset=0",
        "$ echo 'blacklist nouveau' | sudo tee /etc/modprobe.d/a.conf\nblacklist nouveau",
        "/etc/modprobe.d/a.conf:3:blacklist nvidiafb",
        "/etc/modprobe.d/a.conf:3:#blacklist nvidia",
        "blacklist nvidia",
    ],
)
def test_line_that_may_be_quoted_tells_nothing(words: str) -> None:
    assert machine(words).driver.bars == NOT_ASKED


def test_several_files_are_read_once_each() -> None:
    line = "/etc/modprobe.d/{}.conf:1:blacklist nouveau\n"
    words = line.format("a") + line.format("b") + line.format("a")
    assert [bar.place for bar in value(machine(words).driver.bars)] == ["/etc/modprobe.d/a.conf:1", "/etc/modprobe.d/b.conf:1"]
