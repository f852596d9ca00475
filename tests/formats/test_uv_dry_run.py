"""What `uv pip install --dry-run` printed from 0.1 to 0.13, recorded from each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.dry_runs import read_uv_dry_run

CHANGES = """Using Python 3.11.7 environment at: /home/you/train
Resolved 5 packages in 4ms
Would download 4 packages
Would uninstall 2 packages
Would install 4 packages
 - numpy==1.26.4
 + numpy==2.3.0
 + nvidia-cuda-runtime-cu12==12.8.90
 - torch==2.8.0+cpu
 + torch==2.9.1+cu128
 + torchvision==0.24.1
"""
ANEW = """Resolved 2 packages in 10ms
Would download 1 package
Would uninstall 1 package
Would install 1 package
 - same==1.0
 + same==1.0
"""
NOTHING = ("Audited 1 package in 0ms\nWould make no changes\n", "Checked 1 package in 0.99ms\nWould make no changes\n")
IMPOSSIBLE = """  × No solution found when resolving dependencies:
  ╰─▶ Because only numpy>=1.26.4 is available and you require numpy<1, we can
      conclude that your requirements are unsatisfiable.
"""


def changes(words: str) -> list[tuple[str, str, str]]:
    found = read_uv_dry_run(words)
    assert found is not None
    return [(one.name, one.before, one.after) for one in found]


def test_every_package_that_comes_changes_or_goes() -> None:
    assert changes(CHANGES) == [
        ("numpy", "1.26.4", "2.3.0"),
        ("nvidia-cuda-runtime-cu12", "", "12.8.90"),
        ("torch", "2.8.0+cpu", "2.9.1+cu128"),
        ("torchvision", "", "0.24.1"),
    ]


def test_what_is_put_there_anew_is_told() -> None:
    assert changes(ANEW) == [("same", "1.0", "1.0")]


def test_older_sign_of_what_is_put_there_anew() -> None:
    assert changes("Would uninstall 1 package\nWould install 1 package\n ~ same==1.0\n") == [("same", "1.0", "1.0")]


@pytest.mark.parametrize("words", NOTHING)
def test_no_change_is_known_to_be_none(words: str) -> None:
    assert changes(words) == []


def test_package_of_a_file_has_its_source_without_a_password() -> None:
    words = "Would install 1 package\n + torch==2.9.1 (from https://me:secret@example.org/torch-2.9.1-py3-none-any.whl)\n"
    found = read_uv_dry_run(words)
    assert found is not None
    assert found[0].source == "https://example.org/torch-2.9.1-py3-none-any.whl"


def test_names_are_as_indexes_compare_them() -> None:
    assert changes("Would install 1 package\n + Typing_Extensions==4.15.0\n") == [("typing-extensions", "", "4.15.0")]


@pytest.mark.parametrize(
    "words", ["", "Resolved 5 packages in 4ms\n", IMPOSSIBLE, " + torch==2.9.1\n", "\x00\xff", "Would install x packages"]
)
def test_other_text_is_none(words: str) -> None:
    assert read_uv_dry_run(words) is None


@pytest.mark.parametrize("lines", range(5, 11))
def test_part_of_it_is_none(lines: int) -> None:
    assert read_uv_dry_run("\n".join(CHANGES.splitlines()[:lines])) is None


@given(st.text())
def test_any_text_is_read_or_none(words: str) -> None:
    found = read_uv_dry_run(words)
    assert found is None or isinstance(found, tuple)
