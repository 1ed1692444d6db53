"""A settings form shows every setting as it is, gives it back as it was, and refuses beside the field."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QSpinBox

from app.form.fields import BoolField, IntField, ShareField, float_text
from app.form.form import SettingsForm
from engine.errors import ConfigError
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig, TrainingConfig
from engine.settings.pretrain import PretrainConfig
from engine.settings.setting import settings_of

CONFIG = FineTuneConfig()


@pytest.fixture
def form(qtbot) -> SettingsForm:
    form = SettingsForm(CONFIG)
    qtbot.addWidget(form)
    form.resize(312, 300)
    form.show()
    return form


def test_every_setting_comes_back_as_it_was(form: SettingsForm) -> None:
    hidden = {
        name
        for group in vars(CONFIG).values()
        for name, a in settings_of(group).items()
        if a.kind == "hidden"
    }
    assert form.values() == {name: value for name, value in values_of(CONFIG).items() if name not in hidden}
    for name, value in form.values().items():
        assert type(value) is type(values_of(CONFIG)[name]), name


def test_settings_of_pretraining_come_back_too_and_yes_or_no_is_a_box(qtbot) -> None:
    config = PretrainConfig()
    form = SettingsForm(config)
    qtbot.addWidget(form)
    for name, value in form.values().items():
        assert value == values_of(config)[name] and type(value) is type(values_of(config)[name]), name
    box, masked = form.widget("next_sentence"), form.widget("mask_rate")
    assert isinstance(box, BoolField) and isinstance(masked, ShareField)
    box.click()
    assert form.values()["next_sentence"] is not config.objective.next_sentence


@pytest.mark.usefixtures("styled")
@pytest.mark.parametrize("config", [FineTuneConfig(), PretrainConfig()])
def test_what_an_untouched_number_means_is_whole_in_its_field(qtbot, config) -> None:
    form = SettingsForm(config)
    qtbot.addWidget(form)
    form.resize(280, 900)  # what a page leaves it beside its margins
    form.show_more(True)
    form.show()
    shown = 0
    for name in form.names:
        field = form.widget(name)
        if isinstance(field, IntField) and field.specialValueText():
            line = field.lineEdit()
            room = line.width() - line.textMargins().left() - line.textMargins().right()
            shown += 1
            assert line.fontMetrics().horizontalAdvance(field.specialValueText()) <= room, name
    assert shown


def test_names_choose_the_fields_and_their_order(qtbot) -> None:
    form = SettingsForm(TrainingConfig(), ["seed", "batch_size"])
    qtbot.addWidget(form)
    assert form.names == ("seed", "batch_size")
    assert form.values() == {"seed": 42, "batch_size": 32}


def test_values_go_in_and_out_and_changed_comes_once(form: SettingsForm, qtbot) -> None:
    values = {
        "learning_rate": 3e-5,
        "batch_size": 16,
        "warmup_ratio": 0.125,
        "truncation": "head_tail",
        "other": 1,
    }
    heard = []
    form.changed.connect(lambda: heard.append(1))
    form.set_values(values)
    assert len(heard) == 1
    assert {name: form.values()[name] for name in values if name != "other"} == {
        name: value for name, value in values.items() if name != "other"
    }
    form.widget("batch_size").setValue(17)
    assert len(heard) == 2


@pytest.mark.parametrize("value", [3e-5, 2e-4, 1e-8, 0.01, 1.0, 0.1 + 0.2, 123456.789, 1 / 3])
def test_a_number_of_any_size_is_shown_exactly(form: SettingsForm, value: float) -> None:
    form.set_values({"learning_rate": value})
    assert form.values()["learning_rate"] == value
    assert float(float_text(value)) == value


def test_small_numbers_are_short() -> None:
    assert [float_text(x) for x in (5e-5, 2e-4, 0.01, 1.0)] == ["5e-5", "2e-4", "0.01", "1"]


def test_shares_are_shown_as_per_cent(form: SettingsForm) -> None:
    assert form.widget("warmup_ratio").text() == "10 %"
    form.set_values({"validation_share": 0.125})
    assert form.widget("validation_share").text() == "12.5 %"


def test_an_empty_number_says_what_it_means(form: SettingsForm) -> None:
    form.set_auto("learning_rate", "auto: 2e-4")
    assert form.widget("learning_rate").placeholderText() == "auto: 2e-4"
    assert form.values()["learning_rate"] is None


def test_text_that_is_no_number_is_refused_beside_its_field(form: SettingsForm) -> None:
    form.widget("learning_rate").setText("fast")
    with pytest.raises(ConfigError) as caught:
        with_values(CONFIG, form.values())
    assert form.show_error(caught.value)
    said = form.findChild(QLabel, "refusal_learning_rate")
    assert said.isVisible() and "Learning rate" in said.text() and "fast" in said.text()
    form.clear_refusals()
    assert not said.isVisible()


def test_a_refusal_unfolds_and_scrolls_to_an_advanced_field(form: SettingsForm, qtbot) -> None:
    form.activateWindow()
    form.show_refusal("micro_batch_tokens", "Too many.")
    field = form.widget("micro_batch_tokens")
    assert field.isVisible()
    place = field.mapTo(form, QPoint(0, field.height()))
    assert 0 < place.y() <= form.height() + field.height()
    qtbot.waitUntil(field.hasFocus)


def test_a_refusal_of_another_form_is_not_shown(form: SettingsForm) -> None:
    assert not form.show_error(ConfigError("There is no {field}.", field="nothing"))


def test_advanced_settings_fold(form: SettingsForm, qtbot) -> None:
    assert not form.widget("device").isVisible()
    qtbot.mouseClick(form.findChild(QPushButton, "more_settings"), Qt.MouseButton.LeftButton)
    assert form.widget("device").isVisible()


def test_help_is_in_tooltips_and_for_screen_readers(form: SettingsForm) -> None:
    for group in vars(CONFIG).values():
        for name, about in settings_of(group).items():
            if name in form.names:
                widget = form.widget(name)
                assert widget.accessibleDescription() == about.help
                assert widget.accessibleName() == about.label
                assert widget.toolTip() and form.findChild(QLabel, f"label_{name}").toolTip()


def test_choices_are_words_and_values_stay_the_engines(form: SettingsForm) -> None:
    field = form.widget("truncation")
    assert isinstance(field, QComboBox)
    assert field.currentText() == "Longest first" and form.values()["truncation"] == "longest_first"


def test_columns_are_offered_and_kept(form: SettingsForm) -> None:
    form.set_choices("text", ["sentence", "<b>note</b>"])
    assert form.values()["text"] == "sentence"
    form.set_values({"text": "gone"})
    form.set_choices("label", ["sentence", "polarity"])
    form.set_values({"label": "polarity"})
    assert form.values()["text"] == "gone" and form.values()["label"] == "polarity"


def test_the_wheel_changes_nothing_without_the_keyboard(form: SettingsForm) -> None:
    for name in ("batch_size", "warmup_ratio", "truncation"):
        field = form.widget(name)
        before = form.values()[name]
        _wheel(field)
        assert form.values()[name] == before, name


def test_a_locked_form_shows_its_values(form: SettingsForm) -> None:
    form.set_locked(True)
    assert not form.widget("batch_size").isEnabled() and form.values()["batch_size"] == 32
    form.set_locked(False)
    assert form.widget("batch_size").isEnabled()


def test_limits_are_the_engines_and_can_be_narrowed(form: SettingsForm) -> None:
    field = form.widget("max_length")
    assert isinstance(field, QSpinBox)
    assert (field.minimum(), field.maximum()) == (0, 8192)
    form.set_limits("max_length", maximum=512)
    assert field.maximum() == 512


@pytest.mark.usefixtures("styled")
def test_a_number_has_room_to_be_read(form: SettingsForm) -> None:
    QApplication.processEvents()
    for name in ("batch_size", "warmup_ratio"):
        line = form.widget(name).lineEdit()
        assert line.width() > 60 and line.height() >= line.fontMetrics().height()


@pytest.mark.usefixtures("styled")
def test_a_low_form_scrolls_instead_of_squeezing(form: SettingsForm) -> None:
    form.show_more(True)
    QApplication.processEvents()
    heights = {form.widget(name).height() for name in form.names if isinstance(form.widget(name), QSpinBox)}
    assert len(heights) == 1 and min(heights) >= 28


def test_a_single_group_is_enough(qtbot) -> None:
    form = SettingsForm(dataclasses.replace(TrainingConfig(), num_epochs=7))
    qtbot.addWidget(form)
    assert form.values()["num_epochs"] == 7


def _wheel(widget) -> None:
    middle = QPointF(widget.rect().center())
    event = QWheelEvent(
        middle, widget.mapToGlobal(middle), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)
