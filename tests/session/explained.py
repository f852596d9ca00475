"""Hand-made explanations, for what shows and tells them: no signature and no catalogue is asked."""

from __future__ import annotations

from gpuassist.detect.readers import Contradiction
from gpuassist.diagnose.ranking import Rank
from gpuassist.model.driver import Driver
from gpuassist.model.fact import Known
from gpuassist.model.finding import Action, Answer, CommandUse, Evidence, Remedy, Severity, Undetermined
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.text import text, verbatim
from gpuassist.model.version import Version
from gpuassist.session.explain import Basis, Explanation, Ground, UnlikelyAnswer

WORDS = "make: all\nnvcc fatal   : Unsupported gpu architecture 'compute_89'\nmake: *** [all] Error 1\n"
JOINED = Basis(Ground.JOINED, text("Missing details were read from this computer."))
ALONE = Basis(Ground.TEXT_ALONE, text("The answer is based on the text alone."))
OTHER = Basis(Ground.OTHER_MACHINE, text("The text is judged alone: {reason}.", reason=text("it names another GPU")))
NOTHING_READ = Machine()
READ = Machine(driver=Driver(version=Known(Version.parse("550.54.14"), "pasted nvidia-smi, line 1")))
CONTRADICTION = Contradiction(text("driver"), ("550.54.14", "535.104.05"), (1, 7))
OPEN = Undetermined("driver-too-old-for-cuda", text("driver"), text("not looked at"))


def quoted(words: str, line: int) -> Evidence:
    """A passage of the text."""
    return Evidence(text("the text says"), verbatim(words), f"pasted text, line {line}")


def fact(value: str, source: str = "/usr/local/cuda-11.7/bin/nvcc") -> Evidence:
    """A fact of the machine."""
    return Evidence(text("nvcc in a new terminal"), verbatim(value), source)


def remedy(*lines: str, key: str = "check-nvcc", root: bool = False, check: str = "", **parameters: str) -> Remedy:
    """Something to do, with its commands."""
    action = Action.EDIT if key == "use-cuda" else Action.COMMAND if lines else Action.NONE
    uses = (CommandUse(key, tuple(parameters.items()), lines),) if lines else ()
    return Remedy("Do it.", uses, root, action, check)


SWITCH = remedy("gpuassist use cuda 12.4", key="use-cuda", version="12.4")
ANSWER = Answer(
    "nvcc-arch-too-new",
    Severity.PROBLEM,
    "CUDA 11.7 cannot build for RTX 4090",
    "It was published before this GPU.",
    (quoted("Unsupported gpu architecture 'compute_89'", 2), fact("11.7.99")),
    (SWITCH,),
    ("https://docs.nvidia.com/cuda/",),
)
DOUBT = UnlikelyAnswer(
    Answer("nvcc-arch-dropped", Severity.PROBLEM, "CUDA 13 dropped this GPU", "", (), (), ()), text("the message fits it as well")
)


def explained(
    *answers: Answer,
    words: str = WORDS,
    basis: Basis = JOINED,
    rank: Rank | None = Rank.SAID,
    doubts: tuple[UnlikelyAnswer, ...] = (),
    machine: Machine = NOTHING_READ,
    contradictions: tuple[Contradiction, ...] = (),
) -> Explanation:
    """An explanation with these answers; without any it is that of a text that nobody knows."""
    return Explanation(
        paste=Paste(words),
        machine=machine,
        answers=answers,
        less_likely=doubts,
        undetermined=(),
        contradictions=contradictions,
        basis=basis,
        known=bool(answers),
        rank=rank,
    )
