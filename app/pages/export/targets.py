"""What the dialog says of each target, and what it asks for it; in the order in which it offers them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from app.look.boxes import ChoiceBox
from app.look.files import ask_file
from app.look.inputs import LineEdit
from app.look.labels import label, tip
from app.look.layout import column, row
from app.look.widgets import button, named
from engine.export.targets.graph import GraphFolder
from engine.export.targets.one_file import OneFile
from engine.export.targets.sentence_transformers import SentenceFolder
from engine.export.targets.target import ExportTarget
from engine.export.targets.transformers import TransformersFolder
from engine.train.run.kept import run_of

BELOW_RADIO = 26  # px, at which the words of a radio button begin


class TargetOptions(QWidget):
    """A target: its words, and its own options, none here. lacks: why it cannot be had, "" where it can.

    saved_as: of a file: what is asked where it is chosen, and how files like it are called.
    """

    kind: type[ExportTarget]
    ending = ""  # of a file; "" for a folder

    def __init__(self, model: Path) -> None:
        super().__init__()
        self.model, self.title, self.hint, self.lacks = model, "", "", ""
        self.saved_as = ("", "")

    @property
    def key(self) -> str:
        """Its name in the names of widgets and of new folders."""
        return self.kind.flag.name

    def target(self, out: Path) -> ExportTarget:
        """Return what is to be written."""
        return self.kind(self.model, out)


class TransformersOptions(TargetOptions):
    """A folder for transformers."""

    kind = TransformersFolder

    def __init__(self, model: Path) -> None:
        super().__init__(model)
        self.title = self.tr("transformers")
        self.hint = self.tr("A folder that AutoModel opens, for further work in Python.")


class SentenceOptions(TargetOptions):
    """A folder for sentence-transformers: how pieces become one vector."""

    kind = SentenceFolder

    def __init__(self, model: Path) -> None:
        super().__init__(model)
        self.title = self.tr("sentence-transformers")
        self.hint = self.tr("A folder for vectors of texts: search, similarity, clusters.")
        self.pooling = ChoiceBox("export_pooling", self.tr("Pooling"))
        for text, kind in (
            (self.tr("As the model says, or the mean"), ""),
            (self.tr("Mean of all pieces"), "mean"),
            (self.tr("[CLS]"), "cls"),
            (self.tr("Maximum of all pieces"), "max"),
        ):
            self.pooling.addItem(text, kind)
        self.normed = named(QCheckBox(self.tr("Scale each vector to length 1")), "export_normed")
        row((self.pooling, 1), self.normed, parent=self)

    def target(self, out: Path) -> SentenceFolder:
        return SentenceFolder(
            self.model, out, str(self.pooling.currentData()), self.normed.isChecked() or None
        )


class GraphOptions(TargetOptions):
    """A folder in ONNX: whether in 8-bit numbers too, and on what their cost is measured."""

    kind = GraphFolder

    def __init__(self, model: Path) -> None:
        super().__init__(model)
        self.title = self.tr("ONNX")
        self.hint = self.tr("One graph for onnxruntime, in any language, with a short program that uses it.")
        if not all(map(find_spec, ("onnx", "onnxscript", "onnxruntime"))):  # none of them is imported
            self.lacks = self.tr("Needs three more packages: pip install onnx onnxscript onnxruntime")
        self.int8 = named(QCheckBox(self.tr("Also in 8-bit numbers, much smaller")), "export_int8")
        self.int8.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.int8.setToolTip(tip(self.tr("The cost is measured and shown before they are kept.")))
        self.data = named(LineEdit(), "export_data", self.tr("A labelled file to measure on"))
        self.data.setPlaceholderText(
            self.tr("the validation rows of its run")
            if run_of(model) is not None
            else self.tr("a labelled file, if any")
        )
        browse = button(self.tr("Browse…"), name="export_data_browse")
        browse.clicked.connect(self._choose_data)
        measured = label(self.tr("Measured on"), "muted")
        measured.setBuddy(self.data)
        below = QWidget()
        row(measured, (self.data, 1), browse, margins=(BELOW_RADIO, 0, 0, 0), parent=below)
        policy = below.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        below.setSizePolicy(policy)
        below.hide()
        self.int8.toggled.connect(below.setVisible)
        column(self.int8, below, gap=4, parent=self)

    def _choose_data(self) -> None:
        ask_file(self, self.tr("A labelled file"), self.data.setText, name="export_data_dialog")

    def target(self, out: Path) -> GraphFolder:
        return GraphFolder(self.model, out, self.int8.isChecked(), self.data.text().strip())


class OneFileOptions(TargetOptions):
    """A zip with all of it."""

    kind = OneFile
    ending = "zip"

    def __init__(self, model: Path) -> None:
        super().__init__(model)
        self.saved_as = (self.tr("Save the zip"), self.tr("Zips (*.zip)"))
        self.title = self.tr("Everything in one file")
        self.hint = self.tr("A zip with these folders and the model’s card, to share or to keep.")


OPTIONS = (TransformersOptions, SentenceOptions, GraphOptions, OneFileOptions)
