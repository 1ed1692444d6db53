"""What a new model is made of: the published sizes, and the vocabularies there are to cut its text with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_file, beside
from app.settings import AppSettings
from app.shipped import assets
from engine.model.config import PRESETS, BertConfig, count_parameters

MOST_VOCABULARIES = 10


def sample_vocabulary() -> Path:
    """Return the English vocabulary that ships with Cloze (Apache-2.0)."""
    return assets() / "samples" / "vocab.txt"


def chinese_vocabulary() -> Path:
    """Return the Chinese vocabulary that ships with Cloze (Apache-2.0)."""
    return assets() / "samples" / "chinese_vocab.txt"


def vocabulary_name(path: Path | str) -> str:
    """Return what a vocabulary is called."""
    if Path(path) == sample_vocabulary():
        return words.translate("model_parts", "English, lower case")
    if Path(path) == chinese_vocabulary():
        return words.translate("model_parts", "Chinese")
    return file_words(str(path))


def fill_sizes(box: ChoiceBox, vocab_size: int, *, pretraining: bool = False) -> None:
    """List the published sizes with their weights, for a vocabulary of `vocab_size`; the choice stays."""
    before = box.currentData()
    box.clear()
    for name, (layers, width, _heads) in PRESETS.items():
        shape = BertConfig.preset(name, vocab_size)
        weights = sum(count_parameters(shape, pretraining=pretraining).values())
        text = words.translate("model_parts", "{name} · {layers}×{width} · {count} M")
        count = words.decimal(weights / 1e6, 0 if weights >= 10e6 else 1)
        box.addItem(text.format(name=name, layers=layers, width=width, count=count), name)
    box.setCurrentIndex(max(0, box.findData(before)))


def vocabularies(settings: AppSettings) -> list[str]:
    """Return the vocabularies to offer, the newest first; none only where the files of Cloze are missing."""
    recent = [path for path in settings.value("vocabularies", list[str]()) if Path(path).is_file()]
    shipped = [str(path) for path in (sample_vocabulary(), chinese_vocabulary()) if path.is_file()]
    return [*recent, *(path for path in shipped if path not in recent)]


def remember_vocabulary(settings: AppSettings, path: str, *, to_train: bool = True) -> None:
    """Put a vocabulary first among those to offer; one that was only looked at comes second."""
    known = vocabularies(settings)
    if not to_train and path in known:
        return
    others = [other for other in known if other != path]
    place = 0 if to_train else 1
    found = [*others[:place], path, *others[place:]]
    settings.set_value("vocabularies", found[:MOST_VOCABULARIES])


def add_vocabularies(box: ChoiceBox, settings: AppSettings, current: str) -> None:
    """List the vocabularies to offer, `current` among them."""
    offered = vocabularies(settings)
    for path in offered if current in offered or not current else [current, *offered]:
        box.add_choice(vocabulary_name(path), path, path)


def file_words(path: str) -> str:
    """Return the file's name with its folder, for most vocabularies are named vocab.txt."""
    file = Path(path)
    return f"{file.parent.name}/{file.name}" if file.name == "vocab.txt" else file.name


def ask_for_vocabulary(parent: QWidget, settings: AppSettings, chosen: Callable[[str], None]) -> None:
    """Open the dialog for a vocab.txt."""
    ask_file(
        parent,
        words.translate("model_parts", "Choose a vocabulary"),
        chosen,
        name="vocab_dialog",
        start=beside(vocabularies(settings)),
        filters=[
            words.translate("model_parts", "Vocabulary (*.txt)"),
            words.translate("model_parts", "All files (*)"),
        ],
    )
