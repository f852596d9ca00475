"""Small files as facts."""

from __future__ import annotations

from pathlib import Path

from gpuassist.detect.small_files import made, read
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from tests.fakes import put


def test_text_comes_without_white_space_around(tmp_path: Path) -> None:
    put(tmp_path, "/sys/x", " 16 \n")
    assert read(Files(str(tmp_path)), "/sys/x") == Known("16", "/sys/x")


def test_missing_file_is_unknown_with_its_name(tmp_path: Path) -> None:
    fact = read(Files(str(tmp_path)), "/sys/x")
    assert isinstance(fact, Unknown)
    assert ENGLISH(fact.reason) == "/sys/x could not be read: No such file or directory"


def test_directory_in_its_place_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    assert isinstance(read(Files(str(tmp_path)), "/sys"), Unknown)


def test_value_is_made_and_keeps_its_source() -> None:
    assert made(Known("16", "/sys/x"), int) == Known(16, "/sys/x")


def test_unknown_stays_the_same_unknown(tmp_path: Path) -> None:
    fact = read(Files(str(tmp_path)), "/sys/x")
    assert made(fact, int) is fact


def test_other_content_is_unknown_and_shown() -> None:
    fact = made(Known("junk", "/sys/x"), int)
    assert isinstance(fact, Unknown)
    assert ENGLISH(fact.reason) == "/sys/x holds something else than expected: junk"
