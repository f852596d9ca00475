"""A line written anew: what becomes of it, and when it is not offered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.rewrite import rewrite
from gpuassist.shellfiles.statements import Element
from tests.rows import for_each

KNOWN = {"HOME": "/home/you"}


def _fate(variable: str, element: Element) -> str | None:
    """Takes out what is bad and moves what is old."""
    if not element.written or "bad" in element.directory:
        return None
    return element.written.replace("old", "new")


def _rewritten(line: str, *guarded: str) -> str:
    content = line.encode("utf-8", "surrogateescape")
    (statement,) = read(content, KNOWN).statements
    return rewrite(content, statement, _fate, guarded).line.decode("utf-8", "surrogateescape")


def _why(line: str) -> str:
    (statement,) = read(line.encode(), KNOWN).statements
    return ENGLISH(rewrite(line.encode(), statement, _fate).why)


@for_each(
    ("line", "new"),
    [
        ("export PATH=/old/bin:$PATH\n", "export PATH=/new/bin:$PATH"),
        ("  export PATH=/old/bin:$PATH   # mine\n", "  export PATH=/new/bin:$PATH   # mine"),
        ('export PATH="/old/bin:$HOME/bin:$PATH"\n', 'export PATH="/new/bin:$HOME/bin:$PATH"'),
        ("export PATH='/old/bin:/b'\n", "export PATH='/new/bin:/b'"),
        ("export PATH=/a:/bad:$PATH\n", "export PATH=/a:$PATH"),
        ("export PATH=/bad:/a:$PATH\n", "export PATH=/a:$PATH"),
        ("export PATH=$PATH:/a:/bad\n", "export PATH=$PATH:/a"),
        ("export PATH=:/a::$PATH:\n", "export PATH=/a:$PATH"),
        ("export PATH=/a:/bad${PATH:+:${PATH}}\n", "export PATH=/a${PATH:+:${PATH}}"),
        ("export PATH=/bad${PATH:+:${PATH}}:/a\n", "export PATH=${PATH:+$PATH:}/a"),
        ('export PATH="/bad":"/a":"$PATH"\n', 'export PATH="/a":"$PATH"'),
        ("export CUDA_HOME=/old\n", "export CUDA_HOME=/new"),
        ("CUDA_HOME=/old; export CUDA_HOME\n", "CUDA_HOME=/new; export CUDA_HOME"),
        ("export CUDA_HOME=/old PATH=/old/bin:$PATH\n", "export CUDA_HOME=/new PATH=/new/bin:$PATH"),
        ("[ -d /old ] && export PATH=/old/bin:$PATH\n", "[ -d /old ] && export PATH=/new/bin:$PATH"),
        ("export PATH=/old/bin:\\\n/old/nvvm/bin:$PATH\n", "export PATH=/new/bin:/new/nvvm/bin:$PATH"),
        ("PATH+=:/old/bin\n", "PATH+=:/new/bin"),
        ("PATH+=:/bad:/a\n", "PATH+=:/a"),
        ("export PATH=/old/bin:$PATH\r\n", "export PATH=/new/bin:$PATH"),
        ("export PATH=/old/bin:$PATH", "export PATH=/new/bin:$PATH"),
        ("export PATH=/caf\udce9:/old/bin:$PATH\n", "export PATH=/caf\udce9:/new/bin:$PATH"),
        ("export PATH=/old/bin:~/bin:$(x):$PATH\n", ""),
    ],
)
def test_what_becomes_of_a_line(line: str, new: str) -> None:
    assert _rewritten(line) == new


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH\n", "export LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"),
        ("export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/a\n", "export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/a"),
        ('LD_LIBRARY_PATH="/a:$LD_LIBRARY_PATH"\n', 'LD_LIBRARY_PATH="/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"'),
        ("export LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n", ""),
        ("export PATH=/a:$PATH\n", ""),
    ],
)
def test_guards_against_an_empty_element(line: str, new: str) -> None:
    assert _rewritten(line, "LD_LIBRARY_PATH") == new


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("export PATH=/a:$PATH\n", "nothing in it needs"),
        ("export PATH=/bad:$PATH\n", "nothing would be left of what it gives PATH"),
        ("export PATH=/a:$PATH LD_LIBRARY_PATH=/bad\n", "nothing would be left of what it gives LD_LIBRARY_PATH"),
        ("export PATH=$(dirname /old):$PATH\n", "in a way that gpuassist does not replace"),
        ("export PATH=/my\\ old:$PATH\n", "in a way that gpuassist does not replace"),
        ("[ -d /old ] &&\n export PATH=/old:$PATH\n", "in a way that gpuassist does not replace"),
        ('export PATH="/old:/b":$PATH\n', "in a way that gpuassist does not replace"),
    ],
)
def test_says_why_it_is_not_offered(line: str, why: str) -> None:
    assert why in _why(line)


def test_a_name_that_needs_quotes_is_not_written() -> None:
    content = b"export PATH=/old:$PATH\n"
    (statement,) = read(content, {}).statements
    rewriting = rewrite(content, statement, lambda variable, element: "/my dir")
    assert not rewriting.line
    assert "would have to be quoted" in ENGLISH(rewriting.why)


WORDS = ["export ", "PATH=", "/old", "/bad", "/a", ":", "$PATH", "${PATH:+:$PATH}", '"', "'", " ", ";", "\\", "$HOME", "+", "#"]
LINES = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)


@given(LINES)
def test_a_rewritten_line_needs_no_second(line: str) -> None:
    content = line.encode()
    for statement in read(content, KNOWN).statements:
        new = rewrite(content, statement, _fate).line
        for again in read(new, KNOWN).statements if new else ():
            assert not rewrite(new, again, _fate).line


@given(LINES)
def test_what_stays_keeps_its_words(line: str) -> None:
    content = line.encode()
    for statement in read(content, KNOWN).statements:
        new = rewrite(content, statement, lambda variable, element: element.written).line
        assert new in {b"", statement.text.encode()}
