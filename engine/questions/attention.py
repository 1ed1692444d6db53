"""Where does every head look?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.questions.fields import off_field, pair_field, switches, text_field
from engine.questions.question import Models, Question, out_field
from engine.questions.writing import write_arrays

if TYPE_CHECKING:
    from engine.inspect.attention.weights import AttentionMaps


@dataclass(frozen=True)
class AttentionQuestion(
    Question["AttentionMaps"], command="attention", help="write where every head looks, as an .npz file"
):
    """The attention of all heads; for a file, what each layer makes of the tokens too."""

    is_done_told = True

    text: str = text_field()
    text_pair: str | None = pair_field()
    out: Path | None = out_field("the .npz to write", is_needed=True)
    off: tuple[str, ...] = off_field()

    def answer(self, models: Models) -> AttentionMaps:
        from engine.inspect.attention.weights import look

        subject = models.subject(self.model)
        on = switches(self.off, subject)
        return look(subject, self.text, self.text_pair, on=on, want_hidden=self.out is not None)

    def write(self, found: AttentionMaps, out: Path) -> None:
        arrays = {
            "tokens": found.encoding.tokens,
            "input_ids": found.encoding.input_ids,
            "token_type_ids": found.encoding.token_type_ids,
            "attentions": found.attentions,
            "hidden_states": found.hidden_states,
            "model": found.model_name,
            "fingerprint": found.fingerprint,
        }
        write_arrays(out, arrays if found.on is None else {**arrays, "heads_on": found.on})
