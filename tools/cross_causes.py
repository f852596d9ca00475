"""Whether a consequence ever hides its cause: each recorded wording of a cause beside each message that most faults lead to.

`python -m tools.cross_causes [--only ID] [--shown N]`: every pair in both orders through `explain`, without a machine. A wording
that names its cause alone has to name it beside the consequence too; where one does not, it is listed and the tool exits with 1.
Then all pairs of wordings of which the one's problem leads to the other's: those are counted and listed only, for two texts may
contradict each other. Minutes; `tests/diagnose/test_cross_causes.py` draws from the same wordings.
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
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA"
    " driver is installed and running.",
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
    for case in (*pasted_cases("wordings"), *pasted_cases("seen")):
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
    every = causes(session)
    chosen = [one for one in every if options.only in one.case.id]
    hidden = _tried(session, "consequences", [(one, words) for one in chosen for words in CONSEQUENCES], options.shown)
    follow = [(one, other.case.words) for one in chosen for other in every if other.answer in LEADS_TO.get(one.answer, ())]
    _tried(session, "what follows", follow, options.shown)
    return 1 if hidden else 0


def _tried(session: Session, beside: str, pairs: list[tuple[Cause, str]], shown: int) -> int:
    """How many causes do not stand first beside the other text, in either order."""
    hidden = []
    for cause, other in pairs:
        for words in (f"{other}\n{cause.case.words}", f"{cause.case.words}\n{other}"):
            explanation = explain(session, words)
            if not cause.named_by(explanation):
                hidden.append((cause.case.id, other.split("\n")[0], first_of(explanation)))
    print(f"beside {beside}: {2 * len(pairs)} texts, in {len(hidden)} the cause does not stand first")
    for name, found in (("cause", Counter(one[0] for one in hidden)), ("other", Counter(one[1] for one in hidden))):
        print(*(f"{count:6}  {name}: {of}" for of, count in found.most_common(shown)), sep="\n")
    print(*(f"  {cause}  beside {other!r}: {answer or 'nothing'}" for cause, other, answer in hidden[:shown]), sep="\n")
    return len(hidden)


if __name__ == "__main__":
    sys.exit(main())
