"""A Python that sees an environment as if some of its packages were gone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpuassist.system.hidden_packages import hide
from tests.solving import make_environment, site_of
from tests.wheels import Wheel, unpack

_LIST = "import importlib.metadata as m, json; print(json.dumps(sorted({one.name for one in m.distributions()})))"
_OTHERS = """import json, os
whole = len(os.listdir(b"."))
print(json.dumps([whole - len(os.listdir()), whole - len(os.listdir(os.open(".", 0)))]))"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """One with three packages beside pip."""
    prefix = tmp_path / "environment"
    make_environment(prefix)
    unpack((Wheel("alpha", "1"), Wheel("torch", "2.9.1"), Wheel("beta", "2")), site_of(prefix))
    return prefix


def told(prefix: Path, code: str, around: Mapping[str, str]) -> object:
    command = [str(prefix / "bin" / "python"), "-c", code]
    variables = {"PATH": "/usr/bin:/bin", **around}
    done = subprocess.run(command, env=variables, cwd=site_of(prefix), capture_output=True, text=True, timeout=100, check=True)
    return json.loads(done.stdout)


def test_hidden_records_are_not_found_and_others_are(environment: Path, tmp_path: Path) -> None:
    around = hide(str(tmp_path / "hiding"), {f"{site_of(environment)}/torch-2.9.1.dist-info"})
    assert told(environment, _LIST, around) == ["alpha", "beta", "pip"]


def test_directory_by_another_name_is_the_same(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(site_of(environment))
    around = hide(str(tmp_path / "hiding"), {f"{tmp_path}/link/alpha-1.dist-info"})
    assert told(environment, _LIST, around) == ["beta", "pip", "torch"]


def test_nothing_is_hidden_without_records(environment: Path, tmp_path: Path) -> None:
    assert told(environment, _LIST, hide(str(tmp_path / "hiding"), ())) == ["alpha", "beta", "pip", "torch"]


def test_pip_sees_them_as_gone(environment: Path, tmp_path: Path) -> None:
    around = hide(str(tmp_path / "hiding"), {f"{site_of(environment)}/torch-2.9.1.dist-info"})
    command = [str(environment / "bin" / "python"), "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", **around}, capture_output=True, timeout=100, check=True)
    assert {one["name"] for one in json.loads(done.stdout)} == {"alpha", "beta", "pip"}


def test_other_listings_are_as_they_were(environment: Path, tmp_path: Path) -> None:
    around = hide(str(tmp_path / "hiding"), {f"{site_of(environment)}/torch-2.9.1.dist-info"})
    assert told(environment, _OTHERS, around) == [1, 0]
