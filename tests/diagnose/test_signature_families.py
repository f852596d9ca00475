"""What holds for every signature of every family: usable literals, problems that are described, no text that makes it run away."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuassist.diagnose import signatures
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.judge import Recognised, families, recognise
from gpuassist.diagnose.signature import Signature, SignatureInput, clues
from gpuassist.diagnose.signatures.codes import of_sentences
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.rows import for_each
from tests.values import knowledge

FOLDER = Path(signatures.__file__).parent
EVERY = [*(one for family in families().values() for one in family), *of_sentences(knowledge(), bool)]
FILLERS = (" ", "\n", "0", "(", "[", "'", ".", "a", "/", "_", "-", ", ", "0.", "0 ", "a ", " \n", "/a", "|  ")
SIZES = (30, 150, 1500)
MOST_SECONDS = 0.3  # of processor time for one hostile text; a sound pattern takes a hundredth of it

every_signature = for_each("signature", EVERY)


def _setting(words: str) -> SignatureInput:
    return SignatureInput(Paste(words), RuleInput(Machine(), knowledge()))


@every_signature
def test_literals_are_lower_case_and_specific(signature: Signature) -> None:
    assert signature.literals
    assert [literal for literal in signature.literals if literal != literal.lower() or len(literal.encode()) < 3] == []


@every_signature
def test_pattern_is_searched_near_its_literals(signature: Signature) -> None:
    re.compile(signature.pattern, re.IGNORECASE)
    assert 0 < signature.window <= 8000


def _hostile(signature: Signature, filler: str, size: int) -> Iterator[str]:
    for literal in signature.literals[:3]:
        yield filler * size + literal + filler * size
    yield "".join(literal + filler for literal in signature.literals) * (size // 10)


@every_signature
def test_no_text_makes_a_pattern_run_away(signature: Signature) -> None:
    pattern = re.compile(signature.pattern, re.IGNORECASE)
    for size in SIZES:  # the small ones first: what grows without bound is caught before it takes for ever
        for words in (words for filler in FILLERS for words in _hostile(signature, filler, size)):
            began = time.process_time()
            pattern.search(words, 0, 2 * signature.window)
            assert time.process_time() - began < MOST_SECONDS, words[:60]


@every_signature
def test_a_text_of_near_misses_is_read(signature: Signature) -> None:
    words = "".join(f"{literal} ('{literal}' 0 [1]:\n" for literal in signature.literals) * 20
    assert len(list(clues(signature, _setting(words)))) <= 200


@for_each("module", sorted(FOLDER.glob("*.py")))
def test_every_problem_that_is_named_is_described(module: Path) -> None:
    described = {name.removesuffix(".toml") for name in (path.name for path in _entries())}
    assert _named(ast.parse(module.read_text("utf-8"))) - described == set()


def _entries() -> list[Path]:
    return sorted((Path(__file__).parents[2] / "resources" / "problems").glob("*.toml"))


def _named(tree: ast.Module) -> set[str]:
    """The first argument of every `means(...)` and `sign(...)`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    first = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in {"means", "sign"} and call.args]
    return {one.value for one in first if isinstance(one, ast.Constant) and isinstance(one.value, str)}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "hello",
        "The training runs well, epoch 3 of 10, loss 0.25",
        "{}",
        "今天天气很好",
        "#include <cuda_runtime.h>\nint main() {}",
    ],
)
def test_words_about_nothing_show_nothing(words: str) -> None:
    assert recognise(_setting(words)) == Recognised()
