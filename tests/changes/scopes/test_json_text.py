"""Members put into and taken out of an object in a JSON text: exactly these bytes."""

from __future__ import annotations

import pytest

from gpuassist.changes.scopes.jupyter import read_object, with_members
from gpuassist.shellfiles.block import RepairError
from tests.rows import for_each

# The text before, the member of `env` that is put in (a value) or taken out (none), and the text after.
CASES: tuple[tuple[str, dict[str, str | None], str], ...] = (
    ("{}", {"A": "1"}, '{"env": {"A": "1"}}'),
    ("{ }", {"A": "1"}, '{"env": {"A": "1"}}'),
    (' {"x":1} ', {"A": "1"}, ' {"x":1, "env":{"A":"1"}} '),
    ('{"x": 1,"y": 2}', {"A": "1"}, '{"x": 1,"y": 2,"env": {"A": "1"}}'),
    ('{"x": 1, "y": 2}', {"A": "1", "B": "2"}, '{"x": 1, "y": 2, "env": {"A": "1", "B": "2"}}'),
    ('{\n "x": 1\n}', {"A": "1"}, '{\n "x": 1,\n "env": {\n  "A": "1"\n }\n}'),
    ('{\n    "x": 1\n}\n', {"A": "1"}, '{\n    "x": 1,\n    "env": {\n        "A": "1"\n    }\n}\n'),
    ('{\n\t"x": 1\n}', {"A": "1"}, '{\n\t"x": 1,\n\t"env": {\n\t\t"A": "1"\n\t}\n}'),
    ('{\r\n "x": 1\r\n}', {"A": "1"}, '{\r\n "x": 1,\r\n "env": {\r\n  "A": "1"\r\n }\r\n}'),
    ('{\n "x" : 1\n}', {"A": "1"}, '{\n "x" : 1,\n "env" : {\n  "A" : "1"\n }\n}'),
    ('{"env": {"A": "0"}}', {"A": "1"}, '{"env": {"A": "1"}}'),
    ('{"env": {"A":  "1"}}', {"A": "1"}, '{"env": {"A":  "1"}}'),
    ('{"env": {"\\u0041": "0"}}', {"A": "1"}, '{"env": {"\\u0041": "1"}}'),
    ('{"env": {"A": "0", "B": "2"}}', {"A": None}, '{"env": {"B": "2"}}'),
    ('{"env": {"A": "0", "B": "2"}}', {"B": None}, '{"env": {"A": "0"}}'),
    ('{"env": {"A": "0", "B": "2", "C": "3"}}', {"B": None}, '{"env": {"A": "0", "C": "3"}}'),
    ('{"env": {"A": "0"}, "x": 1}', {"A": None}, '{"x": 1}'),
    ('{"x": 1, "env": {"A": "0"}}', {"A": None}, '{"x": 1}'),
    ('{"env": {"A": "0"}}', {"A": None}, "{}"),
    ('{\n "x": 1,\n "env": {\n  "A": "0"\n }\n}', {"A": None}, '{\n "x": 1\n}'),
    ('{"env": {}}', {"A": None}, '{"env": {}}'),
    ('{"x": 1}', {"A": None}, '{"x": 1}'),
    ('{"env": {"A": "0", "B": "2"}}', {"A": None, "C": "3"}, '{"env": {"B": "2", "C": "3"}}'),
    ('{"env": {"x": "{\\"env\\": 1}"}}', {"A": "1"}, '{"env": {"x": "{\\"env\\": 1}", "A": "1"}}'),
    ('{"a": {"env": {"A": "9"}}}', {"A": "1"}, '{"a": {"env": {"A": "9"}}, "env": {"A": "1"}}'),
    ('{"x": "é", "env": {"ü": "ß"}}', {"A": "é"}, '{"x": "é", "env": {"ü": "ß", "A": "\\u00e9"}}'),
)


@for_each(("before", "members", "after"), CASES)
def test_writes_exactly_this(before: str, members: dict[str, str | None], after: str) -> None:
    assert with_members(before, "env", members) == after
    assert with_members(after, "env", members) == after


@for_each(
    "words",
    [
        "",
        "1",
        "[]",
        '"x"',
        "{",
        '{"a" 1}',
        '{"a": 1,}',
        "{'a': 1}",
        '{"a": 1, "a": 1}',
        "{} {}",
        "[" * 200_000,
        '{"a": ' + "[" * 200_000,
    ],
)
def test_what_is_no_object_is_refused(words: str) -> None:
    with pytest.raises(RepairError):
        read_object(words)


def test_an_object_is_read() -> None:
    assert read_object(' {"a": [1, {"b": 2}]} ') == {"a": [1, {"b": 2}]}


def test_a_number_of_thousands_of_digits_is_kept_as_it_stands() -> None:
    number = "9" * 5000
    assert with_members(f'{{"x": {number}}}', "env", {"A": "1"}) == f'{{"x": {number}, "env": {{"A": "1"}}}}'
    assert with_members(f'{{"env": {{"x": {number}}}}}', "env", {"A": "1"}) == f'{{"env": {{"x": {number}, "A": "1"}}}}'
