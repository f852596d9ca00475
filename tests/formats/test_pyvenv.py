"""pyvenv.cfg as venv, virtualenv and uv write it, and names in conda-meta and lib."""

from __future__ import annotations

import pytest

from gpuassist.formats.packages import conda_python, library_versions, parse_pyvenv, python_version

VENV = "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\nexecutable = /usr/bin/python3.11\n"
VIRTUALENV = "home = /usr/bin\nimplementation = CPython\nversion_info = 3.12.3.final.0\nvirtualenv = 20.26.0\n"
UV = "home = /home/you/.local/share/uv/python/cpython-3.12.1-linux-x86_64-gnu/bin\nuv = 0.5.1\nversion_info = 3.12.1\n"


@pytest.mark.parametrize(("words", "version"), [(VENV, "3.11.2"), (VIRTUALENV, "3.12.3"), (UV, "3.12.1")])
def test_version_of_each_maker(words: str, version: str) -> None:
    assert str(python_version(parse_pyvenv(words))) == version


@pytest.mark.parametrize("words", ["", "home = /usr/bin\n", "version = none\n", "junk"])
def test_file_without_version_has_none(words: str) -> None:
    assert python_version(parse_pyvenv(words)) is None


def test_keys_are_read_in_any_case() -> None:
    assert parse_pyvenv("Include-System-Site-Packages=TRUE\n") == {"include-system-site-packages": "TRUE"}


def test_conda_record_names_python() -> None:
    names = ("pip-24.0-pyhd8ed1ab_0.json", "python-3.11.9-hb806964_0_cpython.json", "python_abi-3.11-5_cp311.json")
    assert str(conda_python(names)) == "3.11.9"


def test_conda_without_python_names_none() -> None:
    assert conda_python(("python-dateutil-2.9.0-pyhd8ed1ab_0.json", "history")) is None


def test_libraries_come_newest_first() -> None:
    assert [str(version) for version in library_versions(("python3.9", "python3.11", "python3", "pythonic", "python3.13t"))] == [
        "3.13",
        "3.11",
        "3.9",
    ]
