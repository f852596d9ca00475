"""A desk for pages under test: real jobs, dialogs that answer at once, a real world in a home of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.knowledge.tables import Knowledge
from gpuassist.session.context import Session
from gpuassist.session.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.ui.jobs import Jobs
from gpuassist.ui.page import Desk
from tests.ui.made import Answers


@pytest.fixture
def session(home: Path) -> Session:
    """A session of a user whose home is the test's own."""
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
    surroundings = Surroundings(str(home), "you", Surroundings.current().uid, variables, str(home), "/bin/bash")
    world = World(surroundings)
    return Session(world, Knowledge(world.resources.read), ENGLISH)


@pytest.fixture
def answers() -> Answers:
    """What dialogs answer."""
    return Answers()


@pytest.fixture
def desk(session: Session, answers: Answers, qtbot: QtBot) -> Iterator[Desk]:
    """What a page works at."""
    jobs = Jobs()
    yield Desk(session, jobs, answers)
    jobs.shutdown()
