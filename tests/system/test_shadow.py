"""A Python environment looked at as if some of its packages were gone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from gpuassist.system.shadow import shadow
from tests.solving import make_environment, site_of
from tests.wheels import Wheel, unpack

_LIST = "import importlib.metadata as m, json; print(json.dumps(sorted(one.name for one in m.distributions())))"


def test_hidden_records_are_not_found_and_others_are(tmp_path: Path) -> None:
    prefix = tmp_path / "environment"
    make_environment(prefix)
    site = site_of(prefix)
    unpack((Wheel("alpha", "1"), Wheel("torch", "2.9.1"), Wheel("beta", "2")), site)
    around = shadow(str(tmp_path / "shadow"), (str(site),), {f"{site}/torch-2.9.1.dist-info"})
    command = [str(prefix / "bin" / "python"), "-c", _LIST]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", **around}, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == ["alpha", "beta", "pip"]


def test_first_of_two_directories_counts(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    unpack((Wheel("alpha", "1"),), first)
    unpack((Wheel("alpha", "1"), Wheel("beta", "1")), second)
    shadow(str(tmp_path / "shadow"), (str(first), str(second)), set())
    assert (tmp_path / "shadow" / "alpha-1.dist-info").resolve() == first / "alpha-1.dist-info"
    assert (tmp_path / "shadow" / "beta-1.dist-info").exists()


def test_directory_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    shadow(str(tmp_path / "shadow"), (str(tmp_path / "nowhere"),), set())
    assert [one.name for one in (tmp_path / "shadow").iterdir()] == ["sitecustomize.py"]


def test_modules_themselves_are_left_out_but_pip(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    unpack((Wheel("alpha", "1"), Wheel("pip", "26.3")), site)
    shadow(str(tmp_path / "shadow"), (str(site),), set())
    names = {one.name for one in (tmp_path / "shadow").iterdir()}
    assert names == {"alpha-1.dist-info", "pip", "pip-26.3.dist-info", "sitecustomize.py"}
