"""Installs on record: written in single steps, read back as they were, damaged ones left out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuassist.context import Session
from gpuassist.install.records import StepState, begin, boot_id, installs, load, lock, place, save
from gpuassist.model.plan import OPEN_MODULES, Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import text, verbatim
from gpuassist.system.untrusted_state import UntrustedStateError
from tests.install.installs_made import begun, by_user, script, session_at
from tests.strangers import given_away


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_at(tmp_path / "home")


def test_it_comes_back_as_it_was(session: Session) -> None:
    run = StepRun((("pip", "install", "x y"), ("pip", "check")), Tool.UV, "/e", "/e/bin/python", "/e")
    step = Step(
        StepKind.COMMAND, text("Install {what}", what="torch"), ("pip install 'x y'",), "diff", text("a check"), run=run,
        proof=StepProof(Proves.TORCH, "/e/bin/python", "2.9.1+cu128"),
    )  # fmt: skip
    made = begun(session, step, by_user(StepKind.REBOOT), script("pass"))
    assert load(session.world, made.id) == made
    assert session.words(made.steps[0].step.text) == "Install torch"


# Halves of characters come from nowhere, but for those by which Python writes bytes that are no UTF-8.
STRAY_BYTES = st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0") | STRAY_BYTES, max_size=20)
RUNS = st.builds(StepRun, st.tuples(st.tuples(WORDS, WORDS)), st.sampled_from(Tool), st.just("/e"), st.just("/e/p"), st.just("/e"))
STEPS = st.builds(Step, st.sampled_from(StepKind), st.builds(verbatim, WORDS), st.tuples(WORDS), run=st.none() | RUNS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=4), WORDS)
def test_any_words_come_back(session: Session, steps: list[Step], goal: str) -> None:
    made = begin(session, goal, tuple(steps), goals=(goal,), directory="/")
    assert load(session.world, made.id) == made


def test_places_of_the_directory_mean_the_same_elsewhere(session: Session) -> None:
    step = Step(
        StepKind.COMMAND,
        text("x"),
        run=StepRun((("python3", "-m", "venv", "new"),), Tool.PIP, "new", "new/bin/python", "new"),
        proof=StepProof(Proves.ENVIRONMENT, "new"),
    )
    found = begin(session, "torch", (step,), directory="/somewhere").steps[0].step
    assert found.run == StepRun(
        (("python3", "-m", "venv", "new"),), Tool.PIP, "/somewhere/new", "/somewhere/new/bin/python", "/somewhere/new"
    )
    assert found.proof == StepProof(Proves.ENVIRONMENT, "/somewhere/new")


@pytest.mark.parametrize("flavour", ["", OPEN_MODULES])
def test_the_flavour_of_a_driver_is_no_place(session: Session, flavour: str) -> None:
    step = by_user(StepKind.REBOOT, StepProof(Proves.DRIVER, flavour, "595"))
    assert begun(session, step).steps[0].step.proof == StepProof(Proves.DRIVER, flavour, "595")


def test_two_of_one_second_have_two_names(session: Session) -> None:
    made = [begun(session, script("pass")) for _ in range(3)]
    assert len({one.id for one in made}) == 3
    assert {one.id for one in installs(session.world)} == {one.id for one in made}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"schema": 1}', b'{"schema": 99}', b"\xff\xfe", b"[" * 100_000, b'{"schema": 1, "steps": 5}'],
)
def test_a_damaged_record_is_left_out(session: Session, content: bytes) -> None:
    good, bad = begun(session, script("pass")), begun(session, script("pass"))
    Path(place(session.world, bad), "install.json").write_bytes(content)
    assert [one.id for one in installs(session.world)] == [good.id]


@pytest.mark.parametrize("path", ["state", "kind", "run", "proof", "tries", "commands"])
def test_a_record_with_one_wrong_value_is_left_out(session: Session, path: str) -> None:
    made = begun(session, script("pass"))
    file = Path(place(session.world, made), "install.json")
    document = json.loads(file.read_text())
    document["steps"][0][path] = {"what": 1}
    file.write_text(json.dumps(document))
    assert installs(session.world) == ()


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc", "nothing"])
def test_no_other_file_is_read_by_an_id(session: Session, name: str) -> None:
    begun(session, script("pass"))
    assert load(session.world, name) is None


def test_a_write_that_was_cut_off_leaves_the_old_one(session: Session) -> None:
    made = begun(session, script("pass"))
    Path(place(session.world, made), "install.json.new").write_text("{ half")
    assert load(session.world, made.id) == made
    save(session.world, made)
    assert load(session.world, made.id) == made


def test_nobody_else_may_read_it(session: Session) -> None:
    made = begun(session, script("pass"))
    assert Path(place(session.world, made)).stat().st_mode & 0o077 == 0
    assert Path(place(session.world, made), "install.json").stat().st_mode & 0o077 == 0


def test_one_at_a_time(session: Session) -> None:
    with lock(session.world), pytest.raises(BlockingIOError), lock(session.world):
        pass


def test_a_fresh_install_waits(session: Session) -> None:
    made = begun(session, script("pass"), by_user(StepKind.REBOOT))
    assert {one.state for one in made.steps} == {StepState.WAITING}
    assert made.boot == boot_id(session.world)


@pytest.mark.parametrize("name", ["", "..", "../x", ".hidden", "a/b", "x\n", "\x1b[2J"])
def test_a_name_that_leads_elsewhere_is_no_install(session: Session, name: str) -> None:
    begun(session, script("pass"))
    assert load(session.world, name) is None


@pytest.mark.parametrize("spoil", ["directory", "install", "record", "stranger", "other name"])
def test_what_another_user_could_have_put_on_record_is_never_gone_on_with(session: Session, spoil: str) -> None:
    made = begun(session, script("pass"))
    directory = Path(place(session.world, made))
    record = directory / "install.json"
    world, name = session.world, made.id
    if spoil == "stranger":
        world = given_away(world, record)
    elif spoil == "other name":
        name = "20990101-000000"
        shutil.copytree(directory, directory.parent / name)
    else:
        {"directory": directory.parent, "install": directory, "record": record}[spoil].chmod(0o777)
    assert load(world, name) is None
    assert name not in [one.id for one in installs(world)]


def test_no_install_is_begun_where_others_could_write_its_record(session: Session) -> None:
    directory = Path(place(session.world, begun(session, script("pass")))).parent
    directory.chmod(0o777)
    with pytest.raises(UntrustedStateError) as error, lock(session.world):
        pytest.fail("it was locked")
    assert f"`chmod go-w {directory}`" in session.words(error.value.reason)
