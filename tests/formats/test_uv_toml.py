"""uv's configuration: the index in the place of PyPI, those beside it, and what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.package_settings import UvSettings, read_uv_toml

A, B = "https://a.example.org/simple", "https://b.example.org/simple"


def test_the_default_index_is_in_the_place_of_pypi() -> None:
    found = read_uv_toml(f'[[index]]\nurl = "{A}"\n[[index]]\nurl = "{B}"\ndefault = true\n')
    assert (found.index, found.extra) == (B, (A,))


def test_an_explicit_index_serves_no_plain_installation() -> None:
    assert read_uv_toml(f'[[index]]\nname = "pytorch"\nurl = "{A}"\nexplicit = true\n') == UvSettings()


def test_the_older_names_of_indexes() -> None:
    found = read_uv_toml(f'index-url = "{A}"\nextra-index-url = ["{B}"]\n')
    assert (found.index, found.extra) == (A, (B,))


def test_what_pip_is_told_counts_first() -> None:
    assert read_uv_toml(f'index-url = "{A}"\n[pip]\nindex-url = "{B}"\n').index == B


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("no-index = true\n", UvSettings(forbidden=True)),
        ("offline = true\n", UvSettings(offline=True)),
        ('find-links = ["/srv/wheels"]\n', UvSettings(links=("/srv/wheels",))),
        ('[pip]\ntorch-backend = "cpu"\n', UvSettings(backend="cpu")),
        ('constraint-dependencies = ["torch==2.4"]\n', UvSettings(constraints=("torch==2.4",))),
        ("no-index = false\noffline = false\n", UvSettings()),
    ],
)
def test_other_settings(words: str, expected: UvSettings) -> None:
    assert read_uv_toml(words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "",
        "[[index]",
        "index = 3\n",
        "index = [3]\n",
        "index-url = 3\n",
        "pip = 3\n",
        "[[index]]\nname = 'x'\n",
        "offline = 'yes'\n",
        "offline = " + "9" * 5000 + "\n",
        "offline = " + "[" * 20_000 + "\n",
    ],
)
def test_what_is_otherwise_than_documented_says_nothing(words: str) -> None:
    assert read_uv_toml(words) == UvSettings()


@given(st.text(max_size=200))
def test_any_text_is_read_without_complaint(words: str) -> None:
    assert isinstance(read_uv_toml(words), UvSettings)
