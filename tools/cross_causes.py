"""Whether a consequence ever hides its cause: every recorded wording of a cause beside every message that almost every fault leads to.

`python -m tools.cross_causes [--only ID] [--shown N]`: each pair in both orders through `explain`, without a machine, and beside them
all pairs of wordings of which the one's problem leads to the other's. A wording that names its cause alone has to name it there too.
Prints in how many pairs it does not, by consequence and by cause, and exits with 1 where there is one. Minutes;
`tests/diagnose/test_cross_causes.py` draws from the same wordings.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.diagnose.ranking import LEADS_TO, Rank
from gpuassist.session.explain import Explanation, explain
from tests.pasted_cases import PastedCase, pasted_cases

# What programs print when they found no GPU that works, whatever the reason.
CONSEQUENCES = (
    ">>> torch.cuda.is_available()\nFalse",
    "RuntimeError: No CUDA GPUs are available",
    "RuntimeError: CUDA error: no CUDA-capable device is detected",
    "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "failed call to cuInit: UNKNOWN ERROR (303)",
    "cudaGetDeviceCount returned 100",
    "CUDA driver version is insufficient for CUDA runtime version",
    "cudaGetDeviceCount returned 35",
    "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment",
    "cuInit(0) returned 999",
    "CUDA initialization error: cuInit failed with error code 3",
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed"
    " and running.",
    "No devices were found",
    "Num GPUs Available:  0",
    "WARNING: No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)",
    "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
)


class Cause:
    """A recorded wording of a cause, with what it is answered alone."""

    def __init__(self, case: PastedCase, answer: str) -> None:
        self.case = case
        self.answer = answer

    def named_by(self, explanation: Explanation) -> bool:
        """Whether an explanation puts it first."""
        return first_of(explanation) in {self.answer, self.case.cause, *self.case.also}


def first_of(explanation: Explanation) -> str:
    """The id that stands first; empty where nothing was found."""
    return explanation.answers[0].id if explanation.answers else ""


def causes(session: Session) -> tuple[Cause, ...]:
    """The wordings that show a problem, and more than that no GPU was found."""
    return tuple(_causes(session))


def _causes(session: Session) -> Iterator[Cause]:
    for case in pasted_cases("wordings"):
        alone = explain(session, case.words)
        if alone.convicts and alone.rank is not Rank.GENERAL and first_of(alone) in {case.cause, *case.also}:
            yield Cause(case, first_of(alone))


def main() -> int:
    """Tries every pair in both orders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only causes whose id holds this")
    parser.add_argument("--shown", type=int, default=40, help="how many of those that are hidden are listed")
    options = parser.parse_args()
    session = compose("en")
    tried, hidden = 0, []
    for cause, other in _pairs(causes(session)):
        if options.only not in cause.case.id:
            continue
        for words in (f"{other}\n{cause.case.words}", f"{cause.case.words}\n{other}"):
            tried += 1
            explanation = explain(session, words)
            if not cause.named_by(explanation):
                hidden.append((cause.case.id, other.split("\n")[0], first_of(explanation)))
    for line in _summary(tried, hidden, options.shown):
        print(line)
    return 1 if hidden else 0


def _pairs(every: tuple[Cause, ...]) -> Iterator[tuple[Cause, str]]:
    for cause in every:
        yield from ((cause, consequence) for consequence in CONSEQUENCES)
        effects = LEADS_TO.get(cause.answer, frozenset())
        yield from ((cause, one.case.words) for one in every if one.answer in effects)


def _summary(tried: int, hidden: list[tuple[str, str, str]], shown: int) -> Iterator[str]:
    yield f"{tried} pairs, in {len(hidden)} the cause does not stand first"
    for name, found in (("cause", Counter(one[0] for one in hidden)), ("consequence", Counter(one[1] for one in hidden))):
        yield from (f"{count:6}  {name}: {of}" for of, count in found.most_common(shown))
    yield from (f"  {cause}  beside {consequence!r}: {answer or 'nothing'}" for cause, consequence, answer in hidden[:shown])


if __name__ == "__main__":
    sys.exit(main())
