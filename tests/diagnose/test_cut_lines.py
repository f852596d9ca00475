"""Lines that a pager cut, read in full where one known sentence begins so."""

from __future__ import annotations

from gpuassist.app import compose
from gpuassist.diagnose.cut_lines import completed
from gpuassist.model.paste import Paste
from gpuassist.session.explain import explain
from tests.rows import for_each


@for_each(
    ("cut", "whole"),
    [
        ("kernel: NVRM: GPU 0000:21:00.0: RmInitAdapter fai>", "kernel: NVRM: GPU 0000:21:00.0: RmInitAdapter failed!"),
        ("kernel: Loading of unsigned module is re…", "kernel: Loading of unsigned module is rejected"),
        ("insert 'nvidia': Key was rejected by...", "insert 'nvidia': Key was rejected by service"),
    ],
)
def test_cut_line_is_read_to_its_end(cut: str, whole: str) -> None:
    assert completed(Paste(f"{cut}\nnext")).words == f"{whole}\nnext"


@for_each(
    "words",
    [
        "NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>",
        "installed in this system>",  # two sentences go on from here
        "a line >\nand another ...",
    ],
)
def test_other_lines_stay(words: str) -> None:
    assert completed(Paste(words)).words == words


def test_what_was_pasted_is_shown() -> None:
    explanation = explain(compose("en"), "kernel: NVRM: GPU 0000:65:00.0: GPU has fallen off t>")
    assert explanation.answers[0].id == "xid-79-gpu-fell-off-bus"
    assert explanation.paste.words.endswith("off t>")
