"""Questions that were asked of a model, kept with it in the window's settings; the newest first."""

from __future__ import annotations

import json
from dataclasses import dataclass

from app.pages.probe.masked_text import MaskedText
from app.settings import AppSettings
from engine.inspect.loaded_model import ModelSummary
from engine.train.run.kept import run_of

MOST_KEPT = 40
LONGEST = 2_000  # characters of a question that is kept


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question with how it reads and the first guess for each gap."""

    question: MaskedText
    written: str
    guesses: str


class QuestionHistory:
    """What was asked of one model; the checkpoints of a run share theirs."""

    def __init__(self, settings: AppSettings, about: ModelSummary) -> None:
        run = run_of(about.folder)
        self._settings = settings
        self._key = f"probe_history/{run.name if run is not None else about.fingerprint}"
        self.asked: list[PastQuestion] = self._read()

    def add(self, asked: PastQuestion) -> None:
        """Put a question first."""
        if len(asked.question.text) + len(asked.question.text_pair) > LONGEST:
            return
        others = [one for one in self.asked if one.question != asked.question]
        self.asked = [asked, *others][:MOST_KEPT]
        self._write()

    def clear(self) -> None:
        """Forget all of them."""
        self.asked = []
        self._write()

    def _write(self) -> None:
        rows = [
            {**one.question.to_json(), "written": one.written, "guesses": one.guesses} for one in self.asked
        ]
        self._settings.set_value(self._key, json.dumps(rows, ensure_ascii=False))

    def _read(self) -> list[PastQuestion]:
        try:
            rows = json.loads(self._settings.value(self._key, "[]"))
        except ValueError:
            return []
        asked = []
        for row in rows if isinstance(rows, list) else []:
            question = MaskedText.from_json(row)
            if question is not None:
                asked.append(PastQuestion(question, str(row.get("written", "")), str(row.get("guesses", ""))))
        return asked[:MOST_KEPT]
