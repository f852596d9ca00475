"""The proof of a repair on a terminal and as JSON: what every shell finds now, and a kernel for each GPU."""

from __future__ import annotations

from gpuassist.changes.kernels import KernelProof, told
from gpuassist.changes.plan import ChangeOutcome, ChangePlan, Proof
from gpuassist.changes.shells import NAMES, ShellChange
from gpuassist.cli.commands import show_command
from gpuassist.cli.context import Context
from gpuassist.model.codec import Json, encode
from gpuassist.model.fact import Known
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words


def show_shells(context: Context, applied: ChangeOutcome) -> None:
    """What changed, for all ways of starting a shell in which the same did, and a slow start-up."""
    words = context.session.words
    together: dict[tuple[Text, ...], list[str]] = {}
    for change in applied.shells:
        together.setdefault(change.differences, []).append(words(NAMES[change.after.opening]))
    for differences, shells in together.items():
        named = "; ".join(shells)
        context.say(f"  {named}:" if differences else text("  unchanged: {shells}", shells=named))
        for difference in differences:
            context.say(f"    {words(difference)}")
    if applied.slow is not None:
        context.say(
            text(
                "Note: a shell is ready only after {seconds:.1f} s ({shell}); the time goes into its start-up files",
                seconds=applied.slow.seconds,
                shell=NAMES[applied.slow.opening],
            )
        )


def show_kernels(context: Context, kernels: tuple[KernelProof, ...]) -> None:
    """Each kernel, and where one failed what was said."""
    for kernel in kernels:
        glyph = "✓" if kernel.check.passed else "✗"
        context.say(f"{glyph} {context.session.words(told(kernel))}")
        if not kernel.check.passed and kernel.check.said:
            show_command(context, " ".join(kernel.check.command), indent="    ")
            for line in kernel.check.said.rstrip("\n").split("\n"):
                context.say(f"    {line}")
            context.say(text("  `gpuassist explain` says what such a message means: paste it there"))


def proof_json(plan: ChangePlan, outcome: ChangeOutcome, kernels: tuple[KernelProof, ...], words: Words) -> dict[str, Json]:
    """The keys of a change's document that tell of the proof; those of a toolkit say more."""
    proof: Json = None if outcome.proof is None else _proof(outcome.proof, words, of_toolkit=plan.cuda is not None)
    if plan.cuda is None:
        return {"proof": proof}
    return {
        "proof": proof,
        "rolled_back": None if outcome.rolled_back is None else words(outcome.rolled_back),
        "left_behind": list(outcome.left_behind),
        "shells": [_shell(change, words) for change in outcome.shells],
        "kernels": [_kernel(kernel, words) for kernel in kernels],
    }


def _proof(proof: Proof, words: Words, *, of_toolkit: bool) -> Json:
    told: dict[str, Json] = {"holds": proof.holds.value if isinstance(proof.holds, Known) else None, "message": words(proof.words)}
    if not of_toolkit:
        return told
    winner = proof.winner
    return {
        **told,
        "nvcc": None if winner is None else winner.path,
        "nvcc_real_path": None if winner is None else winner.real_path,
        "nvcc_version": None if winner is None else encode(winner.version, words),
    }


def _shell(change: ShellChange, words: Words) -> Json:
    return {
        "opening": change.after.opening.value,
        "nvcc_before": change.before.nvcc() or None,
        "nvcc_after": change.after.nvcc() or None,
        "asked": isinstance(change.after.terminal, Known),
        "seconds": round(change.after.seconds, 3),
        "differences": [words(difference) for difference in change.differences],
    }


def _kernel(kernel: KernelProof, words: Words) -> Json:
    return {
        "architecture": kernel.architecture or None,
        "gpus": list(kernel.gpus),
        "verdict": kernel.check.verdict.value,
        "passed": kernel.check.passed,
        "message": words(kernel.check.words),
        "command": list(kernel.check.command),
        "said": kernel.check.said,
        "seconds": round(kernel.check.seconds, 3),
    }
