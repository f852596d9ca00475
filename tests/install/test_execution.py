"""Steps of an install taken, put on record, and taken back: scripts, and real pip and uv with a local index."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.formats.terminal_output import Printed
from gpuassist.install.execution import give_up, kept, log_name, mark, said_done, take
from gpuassist.install.records import Install, InstallState, StepState, load, place
from gpuassist.install.rollback import plan_back, take_back
from gpuassist.install.run import StepEnding, StepOutcome
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import verbatim
from gpuassist.system.disk import Disk
from gpuassist.system.stop_process import marked
from tests.install.installs_made import begun, by_user, script, session_at
from tests.solving import Place
from tests.wheels import Wheel, torch


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_at(tmp_path / "home")


def quiet(line: Printed) -> None:
    """Listens to nothing."""


def never() -> bool:
    """Is not cancelled."""
    return False


def taken(session: Session, install: Install, number: int = 0) -> tuple[Install, StepOutcome]:
    return take(session, install, number, on_line=quiet, cancelled=never)


def back(session: Session, install: Install) -> tuple[Install, list[StepOutcome]]:
    """The whole way."""
    came = []
    for one in plan_back(session, install):
        install, done = take_back(session, install, one, on_line=quiet, cancelled=never)
        came.append(done)
    return install, came


def test_what_came_of_it_is_on_record(session: Session) -> None:
    install, done = taken(session, begun(session, script("print('hello')")))
    assert done.ending is StepEnding.DONE
    assert load(session.world, install.id) == install
    assert (install.state, install.steps[0].state) == (InstallState.DONE, StepState.DONE)
    assert "hello" in Path(place(session.world, install), log_name(0, 1)).read_text()


def test_while_it_runs_that_is_on_record(session: Session) -> None:
    install = begun(session, script("print('now')"))
    seen = []
    take(session, install, 0, on_line=lambda _: seen.append(load(session.world, install.id)), cancelled=never)
    assert {one.steps[0].state for one in seen if one is not None} == {StepState.RUNNING}


def test_each_try_has_its_log(session: Session) -> None:
    install, _ = taken(session, begun(session, script("raise SystemExit(1)")))
    assert install.steps[0].state is StepState.FAILED
    install, _ = taken(session, install)
    assert (Path(place(session.world, install)) / log_name(0, 2)).exists()


def test_a_failed_step_leaves_the_install_open(session: Session) -> None:
    install, done = taken(session, begun(session, script("raise SystemExit(1)"), script("pass")))
    assert (done.ending, install.state) == (StepEnding.FAILED, InstallState.OPEN)


def test_what_it_made_goes_whole(session: Session, tmp_path: Path) -> None:
    made = tmp_path / "made"
    install, _ = taken(session, begun(session, script(f"import os; os.makedirs({str(made / 'deep')!r})", creates=str(made))))
    (planned,) = plan_back(session, install)
    assert planned.commands == (f"rm -r {made}",)
    install, came = back(session, install)
    assert (made.exists(), came[0].ending, install.state) == (False, StepEnding.DONE, InstallState.TAKEN_BACK)


def test_a_symlink_in_it_is_not_followed(session: Session, tmp_path: Path) -> None:
    made, mine = tmp_path / "made", tmp_path / "mine"
    mine.mkdir()
    (mine / "file").write_text("mine")
    install, _ = taken(session, begun(session, script(f"import os; os.mkdir({str(made)!r})", creates=str(made))))
    (made / "link").symlink_to(mine)
    back(session, install)
    assert (mine / "file").read_text() == "mine"


def test_what_was_there_before_is_never_taken_away(session: Session, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    install, done = taken(session, begun(session, script("pass", creates=str(mine))))
    assert done.ending is StepEnding.NOT_STARTED
    back(session, install)
    assert mine.is_dir()


def test_what_a_failed_try_half_made_does_not_stop_the_next(session: Session, tmp_path: Path) -> None:
    made = tmp_path / "made"
    source = f"import os; os.mkdir({str(made)!r}); raise SystemExit(not os.path.exists({str(tmp_path / 'good')!r}))"
    install, done = taken(session, begun(session, script(source, creates=str(made))))
    assert (done.ending, made.exists()) == (StepEnding.FAILED, True)
    (tmp_path / "good").touch()
    _, done = taken(session, install)
    assert done.ending is StepEnding.DONE


def test_what_somebody_puts_there_after_a_try_that_never_began_is_theirs(session: Session, tmp_path: Path) -> None:
    mine = tmp_path / "new"
    step = Step(StepKind.COMMAND, verbatim("x"), run=StepRun((("no-such-program",),), Tool.PIP, creates=str(mine)))
    install, done = taken(session, begun(session, step))
    assert (done.ending, install.steps[0].made) == (StepEnding.NOT_STARTED, False)
    mine.mkdir()
    install, done = taken(session, install)
    assert (done.ending, mine.exists()) == (StepEnding.NOT_STARTED, True)


def test_what_somebody_puts_there_after_the_way_back_is_theirs(session: Session, tmp_path: Path) -> None:
    made = tmp_path / "made"
    install, _ = taken(session, begun(session, script(f"import os; os.mkdir({str(made)!r})", creates=str(made))))
    install, _ = back(session, install)
    made.mkdir()
    _, done = taken(session, install)
    assert (done.ending, made.exists()) == (StepEnding.NOT_STARTED, True)


@pytest.mark.parametrize("step", ["create", "write", "flush", "replace"])
def test_what_cannot_be_put_on_record_is_not_run(session: Session, tmp_path: Path, step: str) -> None:
    install = begun(session, script(f"open({str(tmp_path / 'ran')!r}, 'w')"))

    class Failing(Disk):
        pass

    def fail(self: Disk, *arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "a file")

    setattr(Failing, step, fail)
    full = replace(session, world=replace(session.world, disk=Failing()))
    _, done = taken(full, install)
    assert (done.ending, (tmp_path / "ran").exists()) == (StepEnding.NOT_STARTED, False)
    assert load(session.world, install.id) == install


def test_a_step_of_the_user_counts_when_its_check_holds(session: Session, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    install = begun(session, by_user(StepKind.ROOT_COMMAND, StepProof(Proves.ABSENT, str(tmp_path / "there"))))
    install, proved = said_done(session, install, 0)
    assert proved is not None
    assert install.steps[0].state is StepState.WAITING
    (tmp_path / "there").rmdir()
    install, _ = said_done(session, install, 0)
    assert install.steps[0].state is StepState.DONE


def test_before_a_restart_the_user_is_believed(session: Session) -> None:
    driver = by_user(StepKind.ROOT_COMMAND, StepProof(Proves.DRIVER, wanted="9999"))
    install, _ = said_done(session, begun(session, driver, by_user(StepKind.REBOOT)), 0)
    assert install.steps[0].state is StepState.DONE


def test_given_up_is_remembered(session: Session) -> None:
    install = give_up(session, begun(session, script("pass")))
    found = load(session.world, install.id)
    assert found is not None
    assert found.state is InstallState.GIVEN_UP


# With real tools, in an environment and with an index of the test's own.

CPU, CUDA = torch("2.8.0+cpu"), torch("2.9.1+cu128", "cuda-runtime")
WHEELS = (CPU, CUDA, Wheel("cuda-runtime", "12.8.90"), Wheel("numpy", "2.0"), Wheel("numpy", "2.4"), Wheel("mine", "1.0"))


@pytest.fixture
def environment(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.offers(*WHEELS)
    return made


def with_torch(environment: Place) -> None:
    """What it holds before; by uv, because each run of pip takes a second."""
    environment.take(install_of(environment, Tool.UV, "torch==2.8.0+cpu", "numpy==2.0"))


def install_of(environment: Place, tool: Tool, *names: str, wanted: str = "") -> Step:
    links = (f"--find-links={environment.root / 'index' / name}" for name in ("torch", "numpy", "cuda-runtime", "mine"))
    words = " ".join(("install", "--no-index", *links, *names))
    step = environment.uv(words) if tool is Tool.UV else environment.pip(words)
    return replace(step, proof=StepProof(Proves.TORCH, environment.python, wanted)) if wanted else step


@pytest.mark.needs("uv")
@pytest.mark.parametrize("tool", [Tool.PIP, Tool.UV])
def test_there_and_back(environment: Place, tool: Tool) -> None:
    with_torch(environment)
    before = environment.installed()
    step = install_of(environment, tool, "torch==2.9.1+cu128", "numpy==2.4", wanted="2.9.1+cu128")
    install, done = taken(environment.session, begun(environment.session, step))
    assert done.ending is StepEnding.DONE, environment.session.words(done.words)
    assert environment.installed()["torch"] == "2.9.1+cu128"
    install, came = back(environment.session, install)
    assert [one.ending for one in came] == [StepEnding.DONE], environment.session.words(came[0].words)
    assert (environment.installed(), install.state) == (before, InstallState.TAKEN_BACK)


@pytest.mark.needs("uv")
def test_a_failure_half_way_is_taken_back(environment: Place) -> None:
    with_torch(environment)
    before = environment.installed()
    removal = ("uv", "pip", "uninstall", "--python", environment.python, "torch", "numpy")
    step = environment.step(removal, ("uv", "pip", "install", "--python", environment.python, "torch==9"), tool=Tool.UV)
    install, done = taken(environment.session, begun(environment.session, step))
    assert done.ending is StepEnding.FAILED
    assert "torch" not in environment.installed()
    back(environment.session, install)
    assert environment.installed() == before


BACKEND = """
import time
def build_wheel(directory, settings=None, metadata=None):
    print("building for a long time", flush=True)
    time.sleep(100)
"""


def slow_package(root: Path) -> str:
    """A source whose own build takes for ever."""
    (root / "slow").mkdir()
    (root / "slow/backend.py").write_text(BACKEND)
    (root / "slow/pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n')
    return str(root / "slow")


@pytest.mark.needs("uv")
def test_cancelled_in_the_middle_it_is_taken_back(environment: Place) -> None:
    with_torch(environment)
    before = environment.installed()
    removal = ("uv", "pip", "uninstall", "--python", environment.python, "torch")
    build = (environment.python, "-m", "pip", "install", "-v", slow_package(environment.root))
    install = begun(environment.session, environment.step(removal, build, tool=Tool.UV))
    seen: list[str] = []
    install, done = take(
        environment.session,
        install,
        0,
        on_line=lambda line: seen.append(line.text),
        cancelled=lambda: any("building for a long time" in line for line in seen),
    )
    assert done.ending is StepEnding.CANCELLED
    assert "torch" not in environment.installed()
    assert marked(mark(environment.session, install, 0)) == ()
    back(environment.session, install)
    assert environment.installed() == before


@pytest.mark.needs("uv")
def test_the_check_finds_another_build_than_was_asked_for(environment: Place) -> None:
    step = install_of(environment, Tool.UV, "torch==2.8.0+cpu", wanted="2.9.1+cu128")
    _, done = taken(environment.session, begun(environment.session, step))
    assert done.ending is StepEnding.FAILED
    assert "imports torch 2.8.0+cpu, not 2.9.1+cu128" in environment.session.words(done.words)


@pytest.mark.needs("uv")
def test_what_somebody_else_installed_since_stays(environment: Place) -> None:
    with_torch(environment)
    step = install_of(environment, Tool.UV, "torch==2.9.1+cu128", "numpy==2.4")
    install, _ = taken(environment.session, begun(environment.session, step))
    environment.take(install_of(environment, Tool.UV, "mine", "numpy==2.0"))
    back(environment.session, install)
    found = environment.installed()
    assert (found["torch"], found["mine"], found["numpy"]) == ("2.8.0+cpu", "1.0", "2.0")


def test_an_environment_that_cannot_be_asked_is_not_touched(environment: Place) -> None:
    broken = replace(
        install_of(environment, Tool.UV, "torch"),
        run=StepRun((("touch", str(environment.root / "made")),), Tool.PIP, "", "/no/python"),
    )
    install, done = taken(environment.session, begun(environment.session, broken))
    assert (done.ending, (environment.root / "made").exists()) == (StepEnding.NOT_STARTED, False)
    assert install.steps[0].state is StepState.WAITING


@pytest.mark.needs("uv")
def test_what_it_held_is_kept_from_the_first_try_on(environment: Place) -> None:
    with_torch(environment)
    step = environment.step(("uv", "pip", "uninstall", "--python", environment.python, "torch"), ("false",), tool=Tool.UV)
    install, _ = taken(environment.session, begun(environment.session, step))
    install, _ = taken(environment.session, install)
    before = kept(environment.session, install, 0, "before")
    assert before is not None
    assert before.packages["torch"] == "torch==2.8.0+cpu"


@pytest.mark.needs("uv")
def test_a_way_back_that_was_cut_off_goes_on(environment: Place) -> None:
    with_torch(environment)
    before = environment.installed()
    install, _ = taken(environment.session, begun(environment.session, install_of(environment, Tool.UV, "torch==2.9.1+cu128")))
    (planned,) = plan_back(environment.session, install)
    assert planned.run is not None
    first = replace(planned, run=replace(planned.run, programs=(*planned.run.programs[:1], ("false",))))
    install, done = take_back(environment.session, install, first, on_line=quiet, cancelled=never)
    assert done.ending is StepEnding.FAILED
    environment.take(environment.uv("uninstall torch"))
    back(environment.session, install)
    assert environment.installed() == before


@pytest.mark.needs("uv")
def test_a_build_comes_back_from_the_index_that_has_it(environment: Place) -> None:
    with_torch(environment)
    step = environment.uv("install torch==2.9.1+cu128")
    install, done = taken(environment.session, begun(environment.session, step))
    assert done.ending is StepEnding.DONE
    (planned,) = plan_back(environment.session, install)
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in planned.commands[-1]


def test_in_an_environment_of_its_own_making_everything_goes_at_once(session: Session, tmp_path: Path) -> None:
    made = tmp_path / "made"
    first = script(f"import os; os.mkdir({str(made)!r})", creates=str(made))
    second = Step(StepKind.COMMAND, verbatim("x"), run=StepRun((("true",),), Tool.DOCKER, str(made), str(made / "bin/python")))
    install, _ = taken(session, begun(session, first, second))
    install, _ = taken(session, install, 1)
    assert len(plan_back(session, install)) == 1
    install, _ = back(session, install)
    assert [one.state for one in install.steps] == [StepState.TAKEN_BACK, StepState.TAKEN_BACK]
