"""The cause stands first, whatever consequences and noise stand around it: triples drawn from the recorded wordings."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.present.explanation import Sureness, sureness
from gpuassist.session.explain import explain
from tests.rows import for_each
from tools.cross_causes import CONSEQUENCES, Cause, causes, first_of

_DRAWN = 500
_SEED = 20261123
_NOISE = (
    "",
    "(base) user@box:~/train$ python train.py --epochs 3 --batch-size 16",
    "Epoch 1/3:  12%|█▏        | 128/1024 [00:41<04:48,  3.10it/s, loss=2.31]",
    "Requirement already satisfied: numpy in ./venv/lib/python3.11/site-packages (1.26.4)",
    "2026-03-14 09:26:53,589 INFO worker 3 started, 100 tasks in the queue",
    "FutureWarning: `resume_download` is deprecated and will be removed in version 1.0.0.",
    "Traceback (most recent call last):",
    '  File "/home/user/train/main.py", line 100, in <module>',
    "    model = build(config)",
    "make[1]: Entering directory '/usr/src/app'",
    "[    4.812345] usb 1-4: new high-speed USB device number 3 using xhci_hcd",
    "Hi all, I have been trying for two days now, any help is welcome!",
    "wandb: Syncing run ancient-sun-35",
)


@pytest.fixture(scope="module")
def session() -> Session:
    """The real one, in English."""
    return compose("en")


def _triples() -> Iterator[tuple[Cause, str]]:
    """A cause among two consequences and noise, in any order, what belongs together in one piece."""
    draw, every = random.Random(_SEED), causes(compose("en"))
    for _ in range(_DRAWN):
        cause = draw.choice(every)
        pieces = [cause.case.words, *draw.sample(CONSEQUENCES, 2), *draw.choices(_NOISE, k=draw.randint(1, 5))]
        draw.shuffle(pieces)
        yield cause, "\n".join(pieces)


@for_each("cause, words", _triples, every=8)
def test_cause_stands_first(session: Session, cause: Cause, words: str) -> None:
    explanation = explain(session, words)
    assert cause.named_by(explanation), f"{cause.case.id}: {first_of(explanation) or 'nothing'}\n{words}"


@for_each("words", CONSEQUENCES)
def test_consequences_alone_are_known_and_never_sure(session: Session, words: str) -> None:
    explanation = explain(session, words)
    assert explanation.convicts
    assert sureness(explanation) is Sureness.POSSIBLE
