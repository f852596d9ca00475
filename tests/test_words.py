"""Every message that the program can show is a literal that renders."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

from tests.rows import for_each

PACKAGE = Path(__file__).resolve().parent.parent / "gpuassist"


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"text", "counted"}:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


def _messages(call: ast.Call) -> list[ast.expr]:
    assert isinstance(call.func, ast.Name)
    return call.args[: 2 if call.func.id == "counted" else 1]


@for_each(("where", "call"), _calls)
def test_message_is_a_literal_with_its_parameters(where: str, call: ast.Call) -> None:
    given = {keyword.arg for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and call.func.id == "counted":
        given |= {"count"}
    for message in _messages(call):
        assert isinstance(message, ast.Constant), f"{where}: not a literal, so it cannot be translated"
        wanted = {name for _, name, _, _ in string.Formatter().parse(str(message.value)) if name}
        assert wanted <= given or None in given, f"{where}: {wanted - given} not given"
