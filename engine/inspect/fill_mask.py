"""A model folder that answers: words for [MASK], and whether one sentence follows another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelError, UserError, marked
from engine.model.folder import read_json
from engine.model.guess import MaskGuess, fill_mask, next_sentence
from engine.model.heads import PreTraining
from engine.model.weights import LoadReport, load_pretraining
from engine.text.wordpiece import WordPiece


@dataclass(frozen=True)
class Filler:
    """A language model and its tokenizer, ready to be asked."""

    folder: Path
    model: PreTraining
    wordpiece: WordPiece
    report: LoadReport

    @classmethod
    def open(cls, folder: Path) -> Filler:
        """Load a model folder. Raises: ModelError, DataError."""
        wordpiece = WordPiece.from_folder(folder)
        model, report = load_pretraining(folder, seed=0)
        return cls(folder, model.eval(), wordpiece, report)

    def fill(self, text: str, text_pair: str | None = None, *, top_k: int = 5) -> list[MaskGuess]:
        """Return the likeliest words for each [MASK]. Raises: UserError; ModelError without the head."""
        if top_k < 1:
            raise UserError(marked("engine", "{count} guesses are none. Ask for 1 or more."), count=top_k)
        self._require("cls.predictions.", marked("engine", "masked-word"))
        return fill_mask(self.model, self.wordpiece, text, text_pair, top_k=top_k)

    def next_sentence(self, a: str, b: str) -> float:
        """Return how probable it is that B follows A. Raises: ModelError without a trained head."""
        self._require("cls.seq_relationship.", marked("engine", "next-sentence"))
        notes = self.folder / "cloze.json"
        if notes.is_file() and read_json(notes).get("next_sentence") is False:
            raise ModelError(
                marked(
                    "engine",
                    "The model in {folder} was pretrained without next sentences, so it cannot answer this. "
                    "Pretrain it further with next_sentence on.",
                ),
                folder=self.folder,
            )
        return next_sentence(self.model, self.wordpiece, a, b)

    def _require(self, start: str, head: str) -> None:
        if any(name.startswith(start) for name in self.report.missing):
            raise ModelError(
                marked(
                    "engine",
                    "The model in {folder} has no {head} head, so it cannot answer this. Pretrain it further "
                    "on some text first.",
                ),
                folder=self.folder,
                head=head,
            )
