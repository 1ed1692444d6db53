"""What vector has a word, wherever it stands?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import UserError, marked
from engine.events import Noted, Steps
from engine.questions.flags import TextArgument
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Models, Question, asked, out_field
from engine.questions.writing import write_arrays
from engine.text.reading.kinds import A_TABLE

if TYPE_CHECKING:
    from engine.inspect.embeddings.contexts import Contexts
    from engine.inspect.loaded_model import ModelSummary

    ContextsFound = tuple[Contexts, list[str], ModelSummary]


@dataclass(frozen=True)
class WordInContextQuestion(
    Question["ContextsFound"],
    command="word-in-context",
    help="write a word’s vectors wherever it occurs, as an .npz file",
):
    """The vectors of a word in sentences, or in a column of a file; and the texts that were searched."""

    is_done_told = True

    word: str = asked(help="the word, or consecutive words, to look for")
    sentences: tuple[str, ...] = asked((), "where to look for it", flag=TextArgument("SENTENCE"))
    data: Path | None = asked(None, f"{A_TABLE} to look for it in", kw_only=True)
    text: str = asked("", "with --data: the column with the text", kw_only=True)
    out: Path = out_field("the .npz to write", is_needed=True)
    how: ReadSettings = how_field()

    def check(self) -> None:
        if bool(self.data) == bool(self.sentences):
            template = marked("engine", "Give either sentences or a table with --data and --text, not both.")
            raise UserError(template)

    def answer(self, models: Models) -> Steps[ContextsFound]:
        from engine.inspect.embeddings.contexts import embed_word
        from engine.text.table import read_table

        subject, texts = models.subject(self.model), list(self.sentences)
        if self.data is not None:
            table = read_table(self.data, **self.how.named())
            texts = table.frame[table.column(self.text)].tolist()
        found = yield from embed_word(subject, self.word, texts)
        for note in found.notes:
            yield Noted(sentence=note)
        return found, texts, subject.about

    def write(self, found: ContextsFound, out: Path) -> None:
        """Write vectors (layers + 1, places, width), where each stands, and how alike any two tokens are."""
        contexts, texts, about = found
        places = contexts.places
        arrays = {
            "vectors": contexts.vectors,
            "sentences": [texts[place.sentence] for place in places],
            "rows": [place.sentence for place in places],
            "starts": [place.start for place in places],
            "stops": [place.stop for place in places],
            "background": contexts.background,
            "word": contexts.word,
            "model": about.name,
            "fingerprint": about.fingerprint,
        }
        write_arrays(out, arrays)
