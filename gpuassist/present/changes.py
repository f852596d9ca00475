"""A repair of any kind and what came of it in words: titles, outcomes, the shells that changed alike, and where a line stands."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.plan import ChangeOutcome, ChangePlan, ToolkitChoice
from gpuassist.changes.record import ChangeRecord, ChangeStatus, FileRecord
from gpuassist.changes.scope_find import ListedScope
from gpuassist.changes.scopes.kinds import TITLES, Kind
from gpuassist.changes.shells import NAMES, ShellChange
from gpuassist.changes.wishes import ChangeWish, CleanShell, FitProject, UseCuda, UseDevices
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.plan import Result
from gpuassist.model.shell import Shell, Terminal
from gpuassist.model.text import Text, listed, text
from gpuassist.present import toolkit_change
from gpuassist.present.moments import minute
from gpuassist.present.undo import state_of
from gpuassist.shellfiles.lines import ShellLine

PROMISE = text("Nothing is changed until you apply. You can undo at any time.")
ONLY_NEW = text(
    "Only new terminals change: terminals that are already open, and programs running in them, keep "
    "their settings. To change an open terminal, paste this into it."
)


class ShellsAlike(Struct, frozen=True):
    """Ways of starting a shell in which the same changed; no differences where nothing did."""

    shells: tuple[Text, ...]
    differences: tuple[Text, ...]


def title_of(repair: ChangePlan) -> Text:
    """The page's title for a plan."""
    if repair.cuda is not None:
        return toolkit_change.title(repair)
    if repair.diff:
        return repair.plan.goal
    if repair.devices is not None and not repair.devices.value:
        return text("Programs see every GPU already")
    return _DONE[type(repair.wish)]


def promise_of(repair: ChangePlan) -> Text:
    """The line below the title."""
    if repair.diff or repair.obstacle is not None:
        return PROMISE
    if repair.cuda is not None:
        return text("New terminals already find this toolkit; the file needs no change.")
    return text("Nothing has to be written.")


def bar_note(repair: ChangePlan, host: str = "") -> Text:
    """What is said beside the button that makes it; `host` is the machine over SSH that it would be made on."""
    if repair.recorded and host:
        return text("Type on {host}: {line}", host=host, line=f"gpuassist {repair.command}")
    if repair.recorded:
        return text("A recorded machine can be viewed, not changed.")
    if repair.scope is not None:
        return text("Nothing outside {scope} is changed.", scope=repair.scope.scope.words)
    return text("Open terminals keep their settings.")


def unchanged_words(repair: ChangePlan) -> Text:
    """What stands where the diff would be."""
    if repair.devices is not None and not repair.devices.value:
        return text("gpuassist's own lines hide no GPU; nothing has to be written.")
    if isinstance(repair.wish, CleanShell):
        return text("None of the chosen lines is left to clean up; nothing has to be written.")
    return text("The file already has the lines for this; nothing has to be written.")


def outcome_of(carried: ChangeOutcome) -> Text:
    """What came of making it, in one sentence."""
    proof = carried.proof
    if carried.rolled_back is not None and proof is not None and isinstance(proof.holds, Known) and not proof.holds.value:
        return text("{outcome}. While it was in effect: {proof}", outcome=carried.outcome.text, proof=proof.words)
    if not carried.wrote or proof is None:
        return carried.outcome.text
    if carried.outcome.result is Result.UNCHANGED:
        return text("Nothing had to be changed; {proof}", proof=proof.words)
    if isinstance(proof.holds, Known) and proof.holds.value:
        return text("Done and tested: {proof}", proof=proof.words)
    return text("Changed, but {proof}", proof=proof.words)


def result_words(plan: ChangePlan, outcome: ChangeOutcome) -> tuple[Text, Text]:
    """The page's title once something was tried, and the line below it: only what holds now."""
    if outcome.rolled_back is not None:
        return _TAKEN_BACK
    if not outcome.wrote:
        return text("The change was not made"), text("The reason is shown below.")
    proof = outcome.proof
    # Where nothing can be asked, nothing speaks against it.
    holds = proof.holds if proof is not None else Known(value=True, source="")
    if not isinstance(holds, Known):
        return text("Changed, but not tested"), text("The files were changed, but a new terminal could not be tested.")
    toolkit = plan.cuda.toolkit if plan.cuda is not None else None
    version = toolkit_change.release_of(toolkit) if toolkit is not None else ""
    if not holds.value:
        does_not = text("The change does not do what was planned")
        title = text("Not every new terminal uses CUDA {version}", version=version) if version else does_not
        return title, text("The files were changed, but new terminals do not do what was planned.")
    if plan.scope is not None:
        return text("Done"), text("Nothing outside {scope} was changed.", scope=plan.scope.scope.words)
    title = text("New terminals use CUDA {version}", version=version) if version else text("Done")
    return title, text("New terminals use what you chose; terminals that are already open keep their settings.")


def loader_words(chosen: ToolkitChoice) -> Text:
    """Why LD_LIBRARY_PATH is planned as it is: the reason of that choice, but where what is on it follows the toolkit by itself."""
    if not chosen.loader.on and chosen.expected.ld_library_path:
        return text("what is on it already follows the toolkit; nothing is added")
    return chosen.loader.reason


def run_notes(plan: ChangePlan) -> tuple[Text, ...]:
    """That start-up files are run to see what they do, and how often."""
    if plan.cuda is None or plan.recorded:
        return ()
    return (
        text(
            "your start-up files are run to see what they do, as a new terminal runs them: once when the machine is read, and "
            "when the change is made in {ways} ways of starting a shell, before and after",
            ways=len(NAMES),
        ),
    )


def result_notes(outcome: ChangeOutcome) -> tuple[Text, ...]:
    """What else came of it: an earlier change that had been interrupted, and what start-up files left running."""
    if not outcome.left_behind:
        return outcome.notes
    left = text("your start-up files left these processes running: {names}", names=listed(outcome.left_behind))
    return (*outcome.notes, left)


def still_holds(outcome: ChangeOutcome, shell: Shell) -> bool:
    """Whether what was proved of a new terminal is what one finds now; where either was not told, nothing speaks against it."""
    proved = outcome.proof.terminal if outcome.proof is not None else NOT_ASKED
    now = shell.new_terminal
    if outcome.rolled_back is not None or not isinstance(proved, Known) or not isinstance(now, Known):
        return True
    return _chosen_in(proved.value) == _chosen_in(now.value)


def _chosen_in(terminal: Terminal) -> tuple[object, ...]:
    """All of it that repairs choose; PATH counts by the nvcc that it finds."""
    variables = {one for one in terminal.variables if one.name != "PATH"}
    return terminal.command("nvcc"), terminal.shadow("nvcc"), variables


def alike(changes: tuple[ShellChange, ...]) -> tuple[ShellsAlike, ...]:
    """The ways of starting a shell, those together in which the same changed."""
    together: dict[tuple[Text, ...], list[Text]] = {}
    for change in changes:
        together.setdefault(change.differences, []).append(NAMES[change.after.opening])
    return tuple(ShellsAlike(tuple(shells), differences) for differences, shells in together.items())


def slow_words(applied: ChangeOutcome) -> Text | None:
    """That a shell takes long to come up; none where none does."""
    if applied.slow is None:
        return None
    return text(
        "A shell takes {seconds:.1f} s to start ({shell}), because of its start-up files.",
        seconds=applied.slow.seconds,
        shell=NAMES[applied.slow.opening],
    )


def shortened(path: str, home: str) -> str:
    """A path as people write it."""
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path


def at_home(words: Text, home: str) -> Text:
    """The same words with paths as people write them."""
    return replace(
        words, parameters=tuple((name, shortened(one, home) if isinstance(one, str) else one) for name, one in words.parameters)
    )


def place_of(line: ShellLine, home: str) -> Text:
    """Which file and line it is."""
    path = shortened(line.file, home)
    if line.line == line.last_line:
        return text("{file}, line {line}", file=path, line=line.line)
    return text("{file}, lines {first} to {last}", file=path, first=line.line, last=line.last_line)


def matters(line: ShellLine) -> bool:
    """Whether there is anything to choose for it, or it stands in the way."""
    return line.other or line.tickable or bool(line.instead)


def scope_title(scope: ListedScope) -> Text:
    """What a scope is called where it is chosen."""
    if scope.kind is Kind.SHELL:
        return text("Every new terminal")
    if scope.kind is Kind.DESKTOP:
        return text("The whole desktop session")
    return text("{scope}: {what}", scope=scope.words, what=TITLES[scope.kind])


def change_words(record: ChangeRecord) -> tuple[Text, Text]:
    """A change that was made: what it was for, and when."""
    receipt = record.receipt
    return text("{goal}", goal=receipt.goal), text("made {made}", made=minute(receipt.made_at))


def file_words(file: FileRecord, home: str) -> tuple[str, Text]:
    """One file of a change, and what became of the change in it."""
    return shortened(file.receipt.path, home), state_of(file)


def stands(record: ChangeRecord) -> bool:
    """Whether there is anything of it to take back."""
    return any(file.standing is not ChangeStatus.UNDONE for file in record.files)


_TAKEN_BACK = (
    text("The change was undone again"),
    text("It made something worse than before, so every file was restored. The reason is shown below."),
)
_DONE: Mapping[type[ChangeWish], Text] = {
    UseCuda: text("This toolkit is chosen there already"),
    CleanShell: text("The search paths in the start-up files are clean"),
    UseDevices: text("These GPUs are chosen already"),
    FitProject: text("The files say so already"),
}
