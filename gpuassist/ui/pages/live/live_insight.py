"""What the live page makes of its samples: the card of what they mean, the thresholds, and the notices on the desktop."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.sample import Sample
from gpuassist.model.text import text
from gpuassist.monitor.alerts import Threshold
from gpuassist.monitor.labels import label_among
from gpuassist.session.alert_notices import AlertNotices
from gpuassist.session.navigation import ToExplainText, ToSnapshot
from gpuassist.session.thresholds import load_thresholds, save_thresholds
from gpuassist.session.watch import Watch
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.alerts_edit import AlertsEdit
from gpuassist.ui.pages.live.insight_card import InsightCard, insight_shown
from gpuassist.ui.widgets.layouts import bare


class LiveInsight(QWidget):
    """Stands below the lanes and takes no room while there is nothing to say."""

    asked = Signal(object)  # Errand
    moment_chosen = Signal(float)
    """The time of a failure on the samples' clock, to be shown on the plot."""

    def __init__(self, desk: Desk, watch: Watch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._watch = desk, watch
        session = desk.session
        self._notices = AlertNotices(session)
        watch.insight.thresholds = load_thresholds(session.world)
        self.card = InsightCard(desk.words, session.knowledge.commands, self)
        self.card.explain_chosen.connect(self._explain)
        self.card.moment_chosen.connect(self.moment_chosen)
        self.card.snapshot_chosen.connect(lambda path: self.asked.emit(ToSnapshot(path)))
        self.edit: AlertsEdit | None = None  # made when it is first wanted
        self.alerts = QAction(desk.words(text("Alerts")), self)
        self.alerts.setCheckable(True)
        self.alerts.toggled.connect(self._show_alerts)
        self._column = bare(QVBoxLayout(self), 8)
        self._column.addWidget(self.card)
        self.hide()

    def take(self, sample: Sample) -> None:
        """Each sample: what it tells is shown on the desktop where the user has set thresholds."""
        if self._watch.insight.thresholds:
            self._notices.take(sample)

    def draw(self, sample: Sample, gpu: int | None) -> None:
        """What is known now of one GPU, or of all of them; a machine with one shows that one's verdict."""
        if gpu is None and len(sample.gpus) == 1:
            gpu = sample.gpus[0].index
        insight = self._watch.insight
        found = insight.bottlenecks.get(gpu) if gpu is not None else None
        since = round(sample.time - sample.monotonic, 1)  # the two clocks waver, and the card is made anew for it
        label = "" if gpu is None else label_among(sample.gpus, gpu)
        shown = insight_shown(insight.growths, insight.moments, found, gpu=gpu, since_epoch=since, label=label)
        self.card.show_insight(shown)
        self._show_or_hide()

    def _show_or_hide(self) -> None:
        """Even empty it would stand between the others with a gap of its own."""
        self.setVisible(not self.card.isHidden() or self.alerts.isChecked())

    @Slot(object)
    def _set(self, thresholds: tuple[Threshold, ...]) -> None:
        self._watch.insight.thresholds = thresholds
        save_thresholds(self._desk.session.world, thresholds)
        trouble = self._notices.trouble if thresholds else None
        assert self.edit is not None
        self.edit.show_trouble(self._desk.words(trouble) if trouble is not None else "")

    @Slot(bool)
    def _show_alerts(self, shown: bool) -> None:  # noqa: FBT001 -- a slot of Qt's
        if self.edit is None:
            self.edit = AlertsEdit(self._desk.words, self._watch.insight.thresholds, self)
            self.edit.changed.connect(self._set)
            self._column.insertWidget(0, self.edit)
        self.edit.setVisible(shown)
        self._show_or_hide()
        if shown:
            self.edit.line.setFocus()

    @Slot(str)
    def _explain(self, words: str) -> None:
        self.asked.emit(ToExplainText(words))
