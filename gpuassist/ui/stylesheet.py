"""The style sheet as a template: `$name` is a colour of the palette or a size of the theme."""

TEMPLATE = """
QWidget { color: $text; }
QMainWindow, QDialog { background: $background; }
QScrollArea, QScrollArea > QWidget > QWidget#content { background: transparent; border: 0; }
QToolTip { background: $panel; color: $text; border: 1px solid $line; padding: 4px 8px; }

Card { background: $panel; border: 1px solid $line; border-radius: 12px; }
SetupStrip { background: transparent; border: 0; }
Well { background: $well; border: 0; border-radius: 8px; }
Hairline { background: $line; border: 0; }
SideList { background: $side; border: 0; border-right: 1px solid $line; }
BottomBar, SetupCourse { background: $panel; border: 0; border-top: 1px solid $line; }
Notice { border: 1px solid $line; border-radius: 8px; background: $unknown_tint; }
Notice[mark="warning"] { background: $warning_tint; }
Notice[mark="problem"] { background: $problem_tint; }
Notice[mark="right"] { background: $right_tint; }
Notice[mark="info"] { background: $accent_tint; }

QLabel { background: transparent; }
QLabel[role="title"] { font-size: ${title}pt; font-weight: 700; }
QLabel[role="heading"], ElidedLabel[role="heading"] { font-size: 11.25pt; font-weight: $strong; }
QLabel[role="strong"] { font-weight: $strong; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="small"] { color: $muted; font-size: ${small}pt; }
QLabel[role="section"] { color: $muted; font-size: 8.25pt; letter-spacing: 1px; }
QLabel[role="brand"] { font-size: 12.75pt; font-weight: 700; }
QLabel[role="mono"], ElidedLabel[role="mono"] { font-family: $mono; font-size: 9.25pt; color: $muted; }
QLabel[role="quote"] { font-family: $mono; font-size: 9.25pt; }
QLabel[role="unknown"] { color: $muted; font-style: $slant; }
ElidedLabel[role="muted"] { color: $muted; }
ElidedLabel[role="strong"] { font-weight: $strong; }

QPushButton {
    background: $panel; color: $text; border: 1px solid $line; border-radius: 8px;
    padding: 7px 14px; font-weight: 500;
}
QPushButton:hover { background: $well; }
QPushButton:pressed { background: $unknown_tint; }
QPushButton:focus { border: 2px solid $accent; padding: 6px 13px; }
QPushButton:disabled { color: $muted; background: transparent; }
QPushButton[compact="true"] { padding: 4px 10px; font-size: 9.75pt; border-radius: 7px; }
QPushButton[compact="true"]:focus { padding: 3px 9px; }
QPushButton[compact="true"]:checked { background: $accent_tint; border-color: $accent; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[kind="primary"]:focus { border: 2px solid $text; }
QPushButton[kind="primary"]:disabled { background: $unknown_tint; color: $muted; border-color: $line; }
QPushButton[kind="danger"] { background: $problem; color: $panel; border: 1px solid $problem; }
QPushButton[kind="danger"]:hover { background: $problem; border-color: $text; }
QPushButton[kind="danger"]:focus { border: 2px solid $text; }
QPushButton[kind="link"] { background: transparent; border: 1px solid transparent; color: $accent; padding: 3px 1px; }
QPushButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:focus { border: 2px solid $accent; padding: 2px 0; }
Segments { background: $well; border: 1px solid $line; border-radius: 9px; }
QPushButton[kind="segment"] {
    background: transparent; border: 1px solid transparent; border-radius: 7px; color: $muted; padding: 5px 14px;
}
QPushButton[kind="segment"]:hover { color: $text; }
QPushButton[kind="segment"]:checked { background: $panel; border-color: $line; color: $text; font-weight: $strong; }
QPushButton[kind="segment"]:focus { border: 2px solid $accent; padding: 4px 13px; }
QPushButton[kind="segment"]:disabled { background: transparent; border-color: transparent; color: $muted; }
QPushButton[kind="segment"]:checked:disabled { background: $panel; border-color: $line; }
QPushButton[kind="segment"][compact="true"] { padding: 2px 9px; font-size: 9.75pt; border-radius: 6px; }
QPushButton[kind="segment"][compact="true"]:focus { padding: 1px 8px; }
QPushButton::menu-indicator { image: none; width: 0; }

QComboBox, QLineEdit {
    background: $panel; border: 1px solid $line; border-radius: 8px; padding: 5px 10px; min-height: 18px;
    selection-background-color: $accent; selection-color: $on_accent; placeholder-text-color: $muted;
}
QComboBox { padding-right: 26px; }
QComboBox { combobox-popup: 0; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QComboBox[wished="yes"] { border-color: $accent; color: $accent; }
QComboBox:hover { background: $well; }
QComboBox:focus, QLineEdit:focus { border: 2px solid $accent; padding: 4px 9px; }
QComboBox:focus { padding-right: 25px; }
QComboBox:disabled, QLineEdit:disabled { color: $muted; background: transparent; }
QComboBox::drop-down { border: 0; width: 0; }
QComboBox QAbstractItemView {
    background: transparent; border: 0; outline: 0; padding: 0;
    selection-background-color: $accent_tint; selection-color: $text;
}
QListView#topics { font-size: 10.5pt; }
QListView#topics::item { padding: 8px 10px; border-radius: 8px; }
QListView#topics::item:selected { background: $accent_tint; color: $accent; }
QListView#topics::item:hover:!selected { background: $well; }
QListView#completions { background: $panel; border: 1px solid $line; border-radius: 8px; padding: 4px; }
QListView#completions::item { padding: 4px 6px; }
QComboBox QAbstractItemView::item { padding: 5px 8px; border-radius: 6px; }
QComboBox QAbstractItemView::item:selected { background: $accent_tint; color: $text; }
QMenu { background: $panel; border: 1px solid $line; padding: 4px; }
QMenu[round="yes"] { border-radius: 8px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 6px; }
QMenu::item:selected { background: $accent_tint; color: $text; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }

QTableView, QTreeView, QListView {
    background: transparent; border: 0; outline: 0; gridline-color: $line;
    selection-background-color: $accent_tint; selection-color: $text;
}
QTableView::item, QTreeView::item { border: 0; }
QTreeView::item { padding: 6px 0; }
QTableView:focus, QTreeView:focus { outline: 0; }
QHeaderView { background: transparent; border: 0; }
QHeaderView::section {
    background: transparent; color: $muted; border: 0; border-bottom: 1px solid $line;
    padding: 4px 10px; font-size: ${small}pt; font-weight: 400;
}
QHeaderView[tight="yes"]::section { padding: 4px 0; }
QTableCornerButton::section { background: transparent; border: 0; }

QPlainTextEdit, QTextEdit {
    background: $panel; border: 0; font-family: $mono; font-size: 9.25pt; placeholder-text-color: $muted;
    selection-background-color: $accent; selection-color: $on_accent;
}
CodeText, OutputView, PasteEdit { background: transparent; }
MarkdownView { font-family: $sans; font-size: 10.5pt; background: transparent; }
QCheckBox, QRadioButton { spacing: 8px; background: transparent; }
QCheckBox::indicator, QRadioButton::indicator { width: 14px; height: 14px; border: 1px solid $muted; background: $panel; }
QCheckBox::indicator { border-radius: 4px; }
QRadioButton::indicator { border-radius: 8px; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; }
QRadioButton::indicator:checked {
    border-color: $accent;
    background: qradialgradient(cx: 0.5, cy: 0.5, radius: 0.5, fx: 0.5, fy: 0.5,
                                stop: 0 $accent, stop: 0.5 $accent, stop: 0.6 $panel);
}
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border: 2px solid $accent; width: 12px; height: 12px; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: $line; }
QCheckBox:disabled, QRadioButton:disabled { color: $muted; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 2px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 2px; }
QScrollBar::handle { background: $line; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: 0; }
QSplitter::handle { background: transparent; }
"""
