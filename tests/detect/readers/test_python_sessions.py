"""Code and its output are told apart in a shell, in sessions of Python and IPython, and in cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers.python_sessions import Exchange, exchanges
from gpuassist.model.paste import Paste


def every(words: str) -> list[Exchange]:
    return list(exchanges(Paste(words)))


def outputs(one: Exchange) -> list[str]:
    return [line.words for line in one.output if line.words]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ('$ python -c "import torch; print(1)"\n1\n', "import torch; print(1)"),
        ("$ python3.10 -c 'import torch'\n1\n", "import torch"),
        ('$ CUDA_VISIBLE_DEVICES=0 python -c "x"\n1\n', "x"),
        ('$ docker run x python -c "y" 2>&1\n1\n', "y"),
        ('$ python -c "print(\\"a\\")"\n1\n', 'print("a")'),
        ('$ python -c "\nimport torch\nx\n"\n1\n', "\nimport torch\nx\n"),
        ("$ python <<EOF\nimport torch\nEOF\n1\n", "import torch"),
        ("$ python3 - << 'PY'\nimport torch\nPY\n1\n", "import torch"),
    ],
)
def test_code_of_a_command_is_read(words: str, code: str) -> None:
    one = every(words)[0]

    assert one.code == code
    assert outputs(one) == ["1"]
    assert not one.echoed


def test_command_ends_at_the_next_prompt() -> None:
    one = every("$ python -c 'a'\n1\n2\n$ ls\nfile\n")[0]

    assert outputs(one) == ["1", "2"]


def test_unclosed_quote_takes_no_more_than_its_lines() -> None:
    one = every('$ python -c "import torch\n' + "x\n" * 100)[0]

    assert one.code.count("\n") < 100


def test_statements_of_a_session_have_their_own_output() -> None:
    first, second, third = every(">>> import torch\n>>> a\n1\n>>> b\n2\n3\n")

    assert (outputs(first), outputs(second), outputs(third)) == ([], ["1"], ["2", "3"])
    assert second.echoed


def test_imports_of_a_session_still_hold() -> None:
    assert every(">>> import torch as t\n>>> t.x\n1\n")[1].code == "import torch as t\nt.x"


def test_statement_over_several_lines_is_whole() -> None:
    assert every(">>> f(\n...     1,\n... )\n2\n")[0].code == "f(\n    1,\n)"


def test_quoted_session_is_read() -> None:
    assert every("> >>> a\n> 1\n")[0].code == "a"


def test_cell_of_ipython_has_its_value() -> None:
    one = every("In [7]: a\n   ...: b\nOut[7]: 'c'\n")[0]

    assert one.code == "a\nb"
    assert outputs(one) == ["'c'"]


def test_cell_without_a_prompt_is_read() -> None:
    (one,) = every("Hello,\nimport torch\nprint(torch.x)\n1\n")

    assert one.code == "import torch\nprint(torch.x)"
    assert outputs(one) == ["1"]


@pytest.mark.parametrize("words", ["import os\nprint(1)\n", "print the torch version\n", "", "python is -c\n", "In 2023: x\n"])
def test_other_text_has_no_code(words: str) -> None:
    assert every(words) == []


@given(st.text(alphabet="python -c'\"<EOF>In[1]: .\n", max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(every(f"python -c '{words}\n>>> {words}\nIn [1]: {words}\nimport torch\n"), list)
