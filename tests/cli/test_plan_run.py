"""`plan --run`, `--resume`, `--give-up` and `--back`: what is asked, what is run, what it ends with."""

from __future__ import annotations

import argparse
import io
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.cli import plan, plan_run
from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.install import records
from gpuassist.install.autostart import add_autostart, autostart_path
from gpuassist.install.records import Install, StepState
from gpuassist.install.resume import waiting
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import verbatim
from gpuassist.present.marks import Exit
from tests.cli.made_session import Screen, run_live
from tests.fakes import put
from tests.install.installs_made import begun, by_user, script, session_at
from tests.solving import Place
from tests.wheels import Wheel, torch


@dataclass
class Desk:
    """A user at a terminal, or none; what they type is given beforehand."""

    session: Session
    patch: pytest.MonkeyPatch
    out: str = ""
    err: str = ""

    def run(self, *steps: Step, words: str = "--yes", typed: str = "", screen: bool = False) -> Exit:
        """`plan torch --run` where that takes these steps."""
        parser = argparse.ArgumentParser()
        plan.arguments(parser, self.session.words)
        options = parser.parse_args(["torch", "--run", *words.split()])
        out, err = (Screen(), Screen()) if screen else (io.StringIO(), io.StringIO())
        self.patch.setattr("sys.stdin", io.StringIO(typed))
        context = Context(self.session, TerminalStreams(out, err, colour=False, interactive=bool(typed) or screen))
        try:
            return plan_run.run_plan(options, context, Machine(), Outlook(verbatim("torch"), (), (), steps))
        finally:
            self.out, self.err = out.getvalue(), err.getvalue()

    def later(self, words: str) -> Exit:
        """`plan` with other options, by somebody who cannot be asked."""
        ran = run_live(plan, *words.split(), session=self.session)
        self.out, self.err = ran.out, ran.err
        return ran.exit

    @property
    def install(self) -> Install:
        (found,) = records.installs(self.session.world)
        return found

    @property
    def document(self) -> dict[str, Any]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    session = session_at(tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    return Desk(session, monkeypatch)


def test_all_steps_are_taken(desk: Desk) -> None:
    assert desk.run(script("print('first')"), script("print('second')")) is Exit.HEALTHY
    assert "  │ first\n" in desk.out
    assert "All steps are done." in desk.out
    assert f"plan --back {desk.install.id}" in desk.out


def test_each_step_is_shown_with_its_exact_commands_and_asked_for(desk: Desk) -> None:
    step = script("print('it ran')")
    assert step.run is not None
    assert desk.run(step, step, typed="y\nn\n", words="") is Exit.WARNINGS
    assert desk.out.count(shlex.join(step.run.programs[0])) == 2
    assert desk.err.count("Run this? [y/N]") == 2
    assert [one.state for one in desk.install.steps] == [StepState.DONE, StepState.WAITING]
    assert "plan --resume" in desk.out


def test_a_no_at_once_leaves_nothing_on_record(desk: Desk) -> None:
    assert desk.run(script("print('it ran')"), typed="n\n", words="") is Exit.WARNINGS
    assert "│ it ran" not in desk.out
    assert records.installs(desk.session.world) == ()


def test_without_terminal_and_yes_nothing_is_run(desk: Desk) -> None:
    for words in ("torch --run", "--resume"):
        with pytest.raises(UsageError, match="--yes"):
            desk.later(words)


def test_a_recorded_machine_is_never_run_on(desk: Desk) -> None:
    for words in (("torch", "--run", "--yes"), ("--resume", "--yes"), ("--back",)):
        with pytest.raises(UsageError, match="recorded machine"):
            run_live(plan, *words, session=desk.session, machine_file="x.json")


@pytest.mark.parametrize("words", ["torch --run --yes", "--resume --yes", "--back --yes", "--give-up"])
def test_under_sudo_nothing_is_run(desk: Desk, words: str) -> None:
    around = replace(desk.session.world.surroundings, uid=0, variables={"SUDO_USER": "you"})
    desk.session = replace(desk.session, world=replace(desk.session.world, surroundings=around))
    with pytest.raises(UsageError, match="without sudo"):
        desk.later(words)


@pytest.mark.parametrize("words", ["torch --resume", "torch --give-up", "--back x torch", "--run", "gpu=RTX_5090 --run --yes"])
def test_what_makes_no_sense_is_wrong_usage(desk: Desk, words: str) -> None:
    with pytest.raises(UsageError):
        desk.later(words)


def test_a_failure_stops_and_names_the_log(desk: Desk) -> None:
    assert desk.run(script("print('ERROR: no space'); raise SystemExit(1)"), script("print('never')")) is Exit.PROBLEMS
    assert "ERROR: no space" in desk.out
    assert "step-1-log-1.txt" in desk.out
    assert "│ never" not in desk.out


def test_a_step_that_would_harm_is_not_run(desk: Desk, tmp_path: Path) -> None:
    run = StepRun((("/no/such/python", "-m", "pip", "install", "torch"),), Tool.PIP, "/no/such", "/no/such/python")
    assert desk.run(Step(StepKind.COMMAND, verbatim("Install torch"), ("pip install torch",), run=run)) is Exit.PROBLEMS
    assert "So it is not run." in desk.out
    assert records.installs(desk.session.world) == ()


def test_a_root_step_is_shown_and_waits(desk: Desk) -> None:
    assert desk.run(by_user(StepKind.ROOT_COMMAND), script("print('after')")) is Exit.WARNINGS
    assert "    sudo something" in desk.out
    assert "never runs it" in desk.out


def test_a_root_step_that_the_user_did_goes_on(desk: Desk) -> None:
    assert desk.run(by_user(StepKind.ROOT_COMMAND), script("print('after')"), typed="y\ny\n", words="") is Exit.HEALTHY
    assert "  │ after" in desk.out


def test_on_a_desktop_the_lines_can_stand_typed_in_a_terminal(desk: Desk, tmp_path: Path) -> None:
    put(tmp_path, "/bin/xterm", f'#!/bin/sh\nfor one; do last=$one; done\necho "$last" > {tmp_path}/asked\n', mode=0o755)
    around = replace(desk.session.world.surroundings, variables={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "DISPLAY": ":0"})
    desk.session = replace(desk.session, world=replace(desk.session.world, surroundings=around))
    assert desk.run(by_user(StepKind.ROOT_COMMAND), typed="y\nn\n", words="") is Exit.WARNINGS
    assert "run only when you press Enter" in desk.err
    assert desk.err.count("[y/N]") == 2


def test_a_check_that_does_not_hold_yet_stops(desk: Desk, tmp_path: Path) -> None:
    step = by_user(StepKind.ROOT_COMMAND, StepProof(Proves.ABSENT, str(tmp_path)))
    assert desk.run(step, typed="y\n", words="") is Exit.PROBLEMS
    assert "is still there" in desk.out


def test_a_restart_ends_it_for_now_and_asks_for_the_entry(desk: Desk) -> None:
    steps = (script("print('x')"), by_user(StepKind.REBOOT), script("print('after')"))
    assert desk.run(*steps, typed="y\ny\n", words="") is Exit.WARNINGS
    assert Path(autostart_path(desk.session.world)).exists()
    assert "│ after" not in desk.out


def test_the_entry_is_made_only_where_it_is_wished(desk: Desk) -> None:
    desk.run(script("pass"), by_user(StepKind.REBOOT))
    assert not Path(autostart_path(desk.session.world)).exists()
    desk.run(script("pass"), by_user(StepKind.REBOOT), words="--yes --autostart")
    assert Path(autostart_path(desk.session.world)).exists()


def test_for_programs_there_is_one_document(desk: Desk) -> None:
    assert desk.run(script("print('first')"), by_user(StepKind.REBOOT), words="--yes --json") is Exit.WARNINGS
    found = desk.document
    assert (found["schema"], found["state"], found["next_step"]) == (1, "open", 2)
    assert [one["state"] for one in found["steps"]] == ["done", "waiting"]
    assert "first" in Path(found["steps"][0]["log"]).read_text()
    assert "  │ first" in desk.err


def test_a_new_one_takes_the_place_of_one_that_waits(desk: Desk) -> None:
    earlier = begun(desk.session, script("pass"))
    desk.run(script("pass"))
    found = records.load(desk.session.world, earlier.id)
    assert found is not None
    assert found.state is records.InstallState.GIVEN_UP
    assert "given up" in desk.err


def test_resume_goes_on_where_it_stopped(desk: Desk, tmp_path: Path) -> None:
    good = tmp_path / "good"
    desk.run(
        script("print('once')"), script(f"import os; raise SystemExit(not os.path.exists({str(good)!r}))"), script("print('last')")
    )
    good.touch()
    assert desk.later("--resume --yes") is Exit.HEALTHY
    assert "│ once" not in desk.out
    assert "│ last" in desk.out
    assert desk.install.state is records.InstallState.DONE


def test_resume_with_nothing_to_do_says_so(desk: Desk) -> None:
    assert desk.later("--resume --yes") is Exit.HEALTHY
    assert desk.out == "no install is unfinished\n"
    desk.later("--resume --yes --json")
    assert desk.document["install"] is None


def test_given_up_is_no_longer_told_and_its_entry_goes(desk: Desk) -> None:
    begun(desk.session, script("pass"))
    entry = Path(add_autostart(desk.session))
    assert waiting(desk.session) is not None
    assert desk.later("--give-up") is Exit.HEALTHY
    assert waiting(desk.session) is None
    assert not entry.exists()


def test_back_takes_it_back(desk: Desk, tmp_path: Path) -> None:
    made = tmp_path / "made"
    desk.run(script(f"import os; os.mkdir({str(made)!r})", creates=str(made)))
    assert desk.later(f"--back {desk.install.id} --yes") is Exit.HEALTHY
    assert f"rm -r {made}" in desk.out
    assert not made.exists()
    assert desk.later("--back --yes") is Exit.HEALTHY
    assert "nothing to undo" in desk.err


def test_nothing_to_take_back_is_a_document_too(desk: Desk) -> None:
    assert desk.later("--back --yes --json") is Exit.HEALTHY
    assert desk.document == {"schema": 1, "install": None, "message": "there is nothing to undo"}


def test_back_asks_first(desk: Desk, tmp_path: Path) -> None:
    made = tmp_path / "made"
    desk.run(script(f"import os; os.mkdir({str(made)!r})", creates=str(made)))
    with pytest.raises(UsageError, match="--yes"):
        desk.later("--back")
    assert made.exists()


def test_back_of_an_unknown_one_names_those_on_record(desk: Desk) -> None:
    made = begun(desk.session, script("pass"))
    with pytest.raises(UsageError, match="there is no install") as refused:
        desk.later("--back 19700101-000000 --yes")
    assert made.id in desk.session.words(refused.value.reason)


# With real uv, in an environment and with an index of the test's own.


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "place").mkdir()
    made = Place(tmp_path / "place")
    made.offers(torch("2.8.0+cu126", "runtime"), torch("2.9.1+cu128", "runtime"), torch("2.9.1+cpu"), Wheel("runtime", "12.8"))
    return made


def installing(place: Place, version: str) -> Step:
    proof = StepProof(Proves.TORCH, place.python, version)
    return replace(place.uv(f"install torch=={version}"), proof=proof)


@pytest.mark.needs("uv")
def test_a_real_install_is_looked_at_run_and_taken_back(desk: Desk, place: Place) -> None:
    place.take(place.uv("install torch==2.8.0+cu126"))
    desk.session = place.session
    assert desk.run(installing(place, "2.9.1+cu128")) is Exit.HEALTHY, desk.out
    assert "~ torch 2.8.0+cu126 → 2.9.1+cu128" in desk.out
    assert "imports torch 2.9.1+cu128, built for CUDA 12.8" in desk.out
    assert desk.later("--back --yes") is Exit.HEALTHY, desk.out
    assert place.installed()["torch"] == "2.8.0+cu126"


@pytest.mark.needs("uv")
def test_a_new_environment_is_made_filled_and_taken_away(desk: Desk, place: Place, tmp_path: Path) -> None:
    desk.session = place.session
    new = tmp_path / "new env"
    python = f"{new}/bin/python"
    create = StepRun((("uv", "venv", "--python", place.python, str(new)),), Tool.UV, str(new), python, str(new))
    first = Step(StepKind.COMMAND, verbatim("Make one"), run=create, proof=StepProof(Proves.ENVIRONMENT, str(new)))
    fill = StepRun((("uv", "pip", "install", "--python", python, "torch==2.9.1+cu128"),), Tool.UV, str(new), python)
    second = Step(StepKind.COMMAND, verbatim("Fill it"), run=fill, proof=StepProof(Proves.TORCH, python, "2.9.1+cu128"))
    assert desk.run(first, second) is Exit.HEALTHY, desk.out
    assert desk.out.count("✓") == 2
    assert "+ torch 2.9.1+cu128" in desk.out
    assert desk.later("--back --yes") is Exit.HEALTHY, desk.out
    assert not new.exists()


@pytest.mark.needs("uv")
def test_a_real_install_that_cannot_be_solved_is_not_run(desk: Desk, place: Place) -> None:
    desk.session = place.session
    assert desk.run(installing(place, "9.9.9")) is Exit.PROBLEMS
    assert "So it is not run." in desk.out
    assert "torch" not in place.installed()


def test_two_at_once_are_refused(desk: Desk) -> None:
    with records.lock(desk.session.world), pytest.raises(UsageError, match="another gpuassist"):
        desk.run(script("pass"))


def test_on_a_terminal_progress_stays_on_its_line(desk: Desk) -> None:
    draw = "sys.stdout.write('%d%%\\r' % n); sys.stdout.flush(); time.sleep(0.05)"
    desk.run(script(f"import sys, time\nfor n in range(3): {draw}\nprint('done')"), screen=True)
    assert "\r\x1b[K" in desk.out
    assert "│ done\n" in desk.out


def test_elsewhere_only_finished_lines_are_shown(desk: Desk) -> None:
    desk.run(script("import sys; sys.stdout.write('10%\\r'); sys.stdout.flush(); sys.stdout.write('20%\\ndone\\n')"))
    assert "\r" not in desk.out
    assert "  │ 20%\n  │ done\n" in desk.out
