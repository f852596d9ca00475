"""The live page with the GPUs of a Prometheus server: the dialog that asks for one, its view, and what is said while it is away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.monitor.prometheus_source import POLLS_A_SECOND
from gpuassist.session.navigation import ToServer
from gpuassist.session.prometheus import remembered
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.server_dialog import ServerDialog
from tests.monitor.scripted_prometheus import ScriptedPrometheus, card
from tests.scripted_http import Reply, ScriptedServer, serving
from tests.ui.made import gpu, sample
from tests.ui.pages.live_shown import Shown

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to every dialog


@pytest.fixture
def script() -> ScriptedPrometheus:
    return ScriptedPrometheus([card("n1", 0), card("n1", 1), card("n2", 0, 2000)])


@pytest.fixture
def http(script: ScriptedPrometheus) -> Iterator[ScriptedServer]:
    with serving(script) as server:
        yield server


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot, http: ScriptedServer) -> Iterator[Shown]:
    made = Shown(desk, qtbot)
    yield made
    made.page.close_down()


def says(dialog: ServerDialog, words: str) -> bool:
    return words in dialog.said.text()


def dialog_of(shown: Shown) -> ServerDialog:
    shown.page._nothing.server_wanted.emit()
    (dialog,) = shown.page.findChildren(ServerDialog)
    return dialog


def watched(shown: Shown) -> None:
    served = shown.page._served
    assert served is not None
    shown.qtbot.waitUntil(lambda: served.sample is not None)
    shown.draw()


def test_a_server_is_asked_whom_it_knows_and_watched(shown: Shown, http: ScriptedServer, desk: Desk) -> None:
    dialog = dialog_of(shown)
    assert not dialog.show_button.isEnabled()
    dialog.address.setText(http.address)
    QTest.keyClick(dialog.address, Qt.Key.Key_Return)
    shown.qtbot.waitUntil(dialog.machine.isEnabled)
    assert [dialog.machine.itemData(place) for place in range(dialog.machine.count())] == ["", "n1", "n2"]
    dialog.machine.setCurrentIndex(2)
    dialog.show_button.click()
    watched(shown)
    view = shown.page.view
    assert view.watch.server == http.address
    assert view.isVisible()
    assert view.watch.hz == POLLS_A_SECOND
    assert view.card.isHidden()  # there are no processes to list
    assert [lane.head.title for lane in view.lanes] == ["GPU 0 on n2 · H100"]
    assert remembered(desk.session.world).hosts == ("n2",)
    assert shown.page.bar().elsewhere  # so that the frame offers no repair of this machine
    (back,) = shown.page.bar().left
    back.trigger()
    assert shown.page._served is None
    assert not shown.page.bar().elsewhere
    assert shown.page.view.watch is shown.watch
    assert shown.page._nothing.isVisible()  # nobody has told of GPUs here: the page is not blank


def test_what_is_wrong_is_said_in_the_dialog(shown: Shown, script: ScriptedPrometheus, http: ScriptedServer) -> None:
    dialog = dialog_of(shown)
    script.instead = Reply(b"", 401)
    for address, words in ((http.address, ".netrc"), ("http://", "no address"), ("http://127.0.0.1:1", "listens")):
        dialog.address.setText(address)
        dialog.show_button.click()
        shown.qtbot.waitUntil(partial(says, dialog, words))
        assert not dialog.machine.isEnabled()
    script.instead, script.cards = None, []
    dialog.address.setText(http.address)
    dialog.show_button.click()
    shown.qtbot.waitUntil(lambda: "no GPU" in dialog.said.text())
    dialog.reject()


def test_a_fleet_is_never_watched_whole(shown: Shown, script: ScriptedPrometheus, http: ScriptedServer) -> None:
    script.cards = [card(f"n{number // 8}", number % 8) for number in range(80)]
    dialog = dialog_of(shown)
    dialog.address.setText(http.address)
    dialog.show_button.click()
    shown.qtbot.waitUntil(dialog.machine.isEnabled)
    assert "" not in [dialog.machine.itemData(place) for place in range(dialog.machine.count())]
    dialog.address.setText(http.address + "/other")  # whose machines are others
    assert not dialog.machine.isEnabled()
    dialog.reject()


def test_while_a_server_is_away_its_plot_stays(shown: Shown, script: ScriptedPrometheus, http: ScriptedServer) -> None:
    shown.page.arrive(ToServer(http.address, ("n1",)))
    watched(shown)
    served = shown.page._served
    assert served is not None
    script.instead = Reply(b"", 503)
    served.watching.watch.sample_at(50.0)
    shown.qtbot.waitUntil(lambda: served.sample is not None and not served.sample.gpus)
    shown.draw()
    assert len(shown.page.view.lanes) == 2
    assert "503" in shown.words()
    script.instead = None
    shown.qtbot.waitUntil(lambda: served.sample is not None and bool(served.sample.gpus))
    shown.draw()
    assert "503" not in shown.words()


def test_a_server_that_tells_nothing_leads_to_another(shown: Shown, http: ScriptedServer) -> None:
    shown.page.arrive(ToServer(http.address, ("m9",)))
    watched(shown)
    assert "m9" in shown.words()
    assert shown.page._nothing._server.isVisible()
    shown.page.arrive(ToServer("ftp://x"))
    assert "no address" in shown.page._head.said.words


def test_samples_of_this_machine_are_not_drawn_among_a_servers(shown: Shown, http: ScriptedServer) -> None:
    shown.page.arrive(ToServer(http.address, ("n2",)))
    watched(shown)
    shown.feed(sample(0, gpu(0), gpu(1)))
    assert len(shown.page.view.lanes) == 1
    assert http.address in shown.page._head.header.title


def test_the_server_is_shown_on_where_the_page_is_made_anew(shown: Shown, http: ScriptedServer, desk: Desk, qtbot: QtBot) -> None:
    shown.page.arrive(ToServer(http.address, ("n2",)))
    watched(shown)
    left = shown.page.left()
    anew = type(shown.page).in_place_of(desk, shown.page, left)
    qtbot.addWidget(anew)
    anew.take_up(left)
    assert anew._served is not None
    assert anew._served.server == shown.page._served.server  # type: ignore[union-attr]
    assert anew.left().watch is left.watch
    anew.close_down()
