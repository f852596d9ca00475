"""One quotation a fact."""

from __future__ import annotations

from gpuassist.diagnose.quotes import distinct
from gpuassist.model.paste import Passage
from tests.rows import for_each


@for_each(
    ("passages", "kept"),
    [
        ((Passage(1, "a long line"), Passage(1, "long line")), (Passage(1, "a long line"),)),
        (
            (Passage(2, "undefined symbol: x"), Passage(1, "import y undefined symbol: x")),
            (Passage(1, "import y undefined symbol: x"),),
        ),
        ((Passage(1, "one"), Passage(3, "two")), (Passage(1, "one"), Passage(3, "two"))),
        ((Passage(1, "one"), Passage(1, "one")), (Passage(1, "one"),)),
        ((Passage(4, "abc …"), Passage(9, "abc def")), (Passage(9, "abc def"),)),
    ],
)
def test_what_stands_in_another_is_not_shown_again(passages: tuple[Passage, ...], kept: tuple[Passage, ...]) -> None:
    assert distinct(passages) == kept
