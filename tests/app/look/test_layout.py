"""Rows, columns and forms: what is written first stands first, and gaps are those that are written."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.look.labels import label
from app.look.layout import STRETCH, column, dialog_buttons, form_rows, row
from app.look.widgets import EmptyState, button, named


def shown(qtbot: QtBot, owner: QWidget, width: int = 300, height: int = 200) -> None:
    qtbot.addWidget(owner)
    owner.resize(width, height)
    owner.show()


def fixed(name: str, width: int = 40, height: int = 20) -> QLabel:
    made = label(name=name)
    made.setFixedSize(width, height)
    return made


def test_a_row_puts_its_items_side_by_side_with_the_gap_that_is_written(qtbot: QtBot) -> None:
    owner, (first, second, last) = QWidget(), [fixed(name) for name in "abc"]
    row(first, second, STRETCH, last, gap=7, margins=(3, 5, 11, 13), parent=owner)
    shown(qtbot, owner)
    assert (first.x(), second.x()) == (3, 3 + 40 + 7)
    assert last.geometry().right() + 1 == 300 - 11
    assert owner.layout().contentsMargins().bottom() == 13


def test_a_row_within_a_column_keeps_its_own_gap(qtbot: QtBot) -> None:
    owner, (above, left, right) = QWidget(), [fixed(name) for name in "abc"]
    column(above, row(left, right, STRETCH), STRETCH, gap=21, parent=owner)
    shown(qtbot, owner)
    assert left.y() == above.geometry().bottom() + 1 + 21
    assert right.x() == left.geometry().right() + 1 + 8


def test_an_item_takes_the_share_and_the_place_that_stand_beside_it(qtbot: QtBot) -> None:
    owner, wide, wider, small = QWidget(), QWidget(), QWidget(), fixed("small")
    row((wide, 1), (wider, 2), (small, Qt.AlignmentFlag.AlignBottom), gap=0, parent=owner)
    shown(qtbot, owner, 340)
    assert (wide.width(), wider.width()) == (100, 200)
    assert small.geometry().bottom() + 1 == 200


def test_an_item_that_is_only_aligned_takes_no_share_of_the_spare_room(qtbot: QtBot) -> None:
    owner, wide, at_top, at_left = QWidget(), QWidget(), label("short"), QWidget()
    row((wide, 1), (at_top, Qt.AlignmentFlag.AlignTop), gap=0, parent=owner)
    shown(qtbot, owner)
    assert at_top.width() == at_top.sizeHint().width() and wide.width() == 300 - at_top.width()
    under = column((at_left, 1, Qt.AlignmentFlag.AlignLeft), gap=0)  # 1, as the share is
    assert under.stretch(0) == 1 and under.itemAt(0).alignment() == Qt.AlignmentFlag.AlignLeft


def test_the_keyboard_goes_through_nested_layouts_in_the_order_in_which_they_are_written(
    qtbot: QtBot,
) -> None:
    owner, fields = QWidget(), [QLineEdit(objectName=f"field_{i}") for i in range(5)]
    column(fields[0], row(fields[1], column(fields[2], fields[3])), fields[4], parent=owner)
    shown(qtbot, owner)
    here, order = fields[0], [fields[0]]
    while (here := here.nextInFocusChain()) is not owner:
        if isinstance(here, QLineEdit) and here not in order:
            order.append(here)
        elif here is fields[0]:
            break
    assert order == fields


def test_a_form_names_its_fields_by_their_captions_and_gives_them_the_room(qtbot: QtBot) -> None:
    owner, name, path, note = QWidget(), QLineEdit(), QLineEdit(), QLineEdit()
    form_rows(("Name", name), ("File", row((path, 1), fixed("x"))), (None, note), parent=owner)
    shown(qtbot, owner)
    captions = {found.text(): found for found in owner.findChildren(QLabel) if found.text()}
    assert captions["Name"].buddy() is name
    assert captions["Name"].y() < captions["File"].y() < note.y()
    assert (note.x(), note.width()) == (0, 300)
    assert name.geometry().right() + 1 == 300


def test_enter_does_what_a_dialog_is_for_wherever_the_platform_puts_its_button(qtbot: QtBot) -> None:
    dialog, pressed = QDialog(), []
    save, cancel = button("Save"), button("Cancel")
    for one in (save, cancel):
        one.clicked.connect(lambda _checked=False, one=one: pressed.append(one.text()))
    column(QLineEdit(), dialog_buttons(accept=save, reject=cancel), parent=dialog)
    shown(qtbot, dialog)
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert pressed == ["Save"]
    assert (
        max(
            save.mapTo(dialog, save.rect().topRight()).x(), cancel.mapTo(dialog, cancel.rect().topRight()).x()
        )
        == 299
    )


def test_what_is_named_is_found_heard_and_explains_itself(qtbot: QtBot) -> None:
    for made in (
        named(QLineEdit(), "x", "File", tool_tip="why"),
        label("a", name="x", tool_tip="why"),
        button("a", name="x", tool_tip="why"),
    ):
        qtbot.addWidget(made)
        assert (made.objectName(), made.toolTip()) == ("x", "why")
        assert made.accessibleName() == ("File" if isinstance(made, QLineEdit) else "")


def test_what_an_empty_card_says_stands_with_its_button_in_the_middle(qtbot: QtBot) -> None:
    made = EmptyState("Nothing is open.", "Open")
    shown(qtbot, made, 300, 400)
    assert made.button.y() - made.label.geometry().bottom() < 20
    assert abs((made.label.y() + made.button.geometry().bottom()) / 2 - 200) < 10
