"""No password and no token of an address goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.address import without_secrets

WORD = st.text(st.characters(categories=("Lu", "Ll", "Nd")), min_size=3, max_size=20)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("https://me:secret@pypi.example.org/simple", "https://***@pypi.example.org/simple"),
        ("https://token@pypi.example.org/simple", "https://***@pypi.example.org/simple"),
        ("https://conda.example.org/t/ab-12/conda-forge", "https://conda.example.org/t/***/conda-forge"),
        ("name=https://me:secret@a.example.org https://b.example.org", "name=https://***@a.example.org https://b.example.org"),
        ("https://pypi.example.org/simple", "https://pypi.example.org/simple"),
        ("git@example.org:x/t/y/z", "git@example.org:x/t/y/z"),
        ("/usr/bin:/bin", "/usr/bin:/bin"),
    ],
)
def test_secrets_of_addresses(words: str, expected: str) -> None:
    assert without_secrets(words) == expected


@given(WORD, WORD)
def test_no_login_is_left(name: str, password: str) -> None:
    assert "@" not in without_secrets(f"https://{name}:{password}@h.example.org/x").replace("***@", "")
    assert f":{password}@" not in without_secrets(f"https://{name}:{password}@h.example.org/x")
