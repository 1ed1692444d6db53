"""What is every number of one text in BERT?"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UserError, marked
from engine.inspect.anatomy.changes import PassSettings
from engine.language import heads, said
from engine.questions.fields import pair_field, text_field
from engine.questions.flags import Flag, flag_words
from engine.questions.question import Models, Question, asked, json_field, out_field
from engine.questions.writing import padded, write_arrays
from engine.settings.setting import Setting

if TYPE_CHECKING:
    from engine.inspect.anatomy.learning import Lesson
    from engine.inspect.anatomy.vectors import Anatomy
    from engine.inspect.loaded_model import LoadedModel

    Traced = tuple[Anatomy, Anatomy, Lesson | None]

_HEAD = re.compile(r"([1-9]\d*)\.([1-9]\d*)=([0-9.]+)")
_RESIDUAL = re.compile(r"([1-9]\d*)\.(attention|feed_forward)")
_TOKEN = re.compile(r"(\d+)=(\d+)")
_WEIGHT = re.compile(r"(.+)\[(\d+),\s*(\d+)\]")
_FORM = marked("engine", "{flag} {given}: write it as {form}.")
_FORMS = {
    "--scale": "LAYER.HEAD=X",
    "--no-residual": "LAYER.attention, LAYER.feed_forward",
    "--position": "TOKEN=N",
    "--segment": "TOKEN=N",
    "--weight": "NAME[ROW,COLUMN]",
}


@dataclass(frozen=True, slots=True)
class ChangeFlags(Flag):
    """A flag for each kind of change."""

    def add(self, place: Any, name: str, about: Setting, hint: Any, default: Any) -> None:
        for flag, form, words in (
            ("--scale", "LAYER.HEAD=X", "multiply a head’s output, 0 to 2; 0 is off"),
            ("--no-residual", "LAYER.PART", "drop the residual connection around attention or feed_forward"),
            ("--position", "TOKEN=N", "read a token at another position; tokens count from 0"),
            ("--segment", "TOKEN=N", "read a token in another segment"),
        ):
            place.add_argument(flag, action="append", default=[], metavar=form, help=f"{words}; repeatable")

    def given(self, options: Namespace, name: str) -> PassSettings:
        scales = [_read("--scale", _HEAD, given) for given in options.scale]
        residuals = [_read("--no-residual", _RESIDUAL, given) for given in options.no_residual]
        positions = [_read("--position", _TOKEN, given) for given in options.position]
        segments = [_read("--segment", _TOKEN, given) for given in options.segment]
        try:
            by_head = {(int(layer), int(head)): float(scale) for layer, head, scale in scales}
        except ValueError as error:
            raise UserError(_FORM, flag="--scale", given=options.scale[0], form="LAYER.HEAD=X") from error
        return PassSettings(
            tuple(sorted(by_head.items())),
            frozenset((int(layer), part) for layer, part in residuals),
            tuple(sorted({int(place): int(value) for place, value in positions}.items())),
            tuple(sorted({int(place): int(value) for place, value in segments}.items())),
        )

    def words(self, name: str, value: PassSettings) -> list[str]:
        said = {
            "--scale": [f"{layer}.{head}={scale:g}" for (layer, head), scale in value.scales],
            "--no-residual": [f"{layer}.{part}" for layer, part in sorted(value.no_residual)],
            "--position": [f"{place}={position}" for place, position in value.positions],
            "--segment": [f"{place}={segment}" for place, segment in value.segments],
        }
        return [word for flag, values in said.items() for one in values for word in flag_words(flag, one)]


@dataclass(frozen=True)
class TraceQuestion(
    Question["Traced"],
    command="anatomy",
    help="write every number of one text in a model, named, as an .npz file",
):
    """All numbers, those before changes, and what a step of learning would do."""

    is_done_told = True

    text: str = text_field()
    text_pair: str | None = pair_field()
    out: Path | None = out_field("the .npz to write")
    pad_to: int = asked(0, "pad the text to this many tokens with [PAD]", kw_only=True)
    changes: PassSettings = asked(PassSettings(), flag=ChangeFlags(), kw_only=True)
    learn: str = asked("", "the original word at the first [MASK]", flag=Flag("WORD"), kw_only=True)
    weight: str = asked(
        "",
        "with --learn: the weight that learns it, by its published name; both count from 0",
        flag=Flag("NAME[ROW,COLUMN]"),
        kw_only=True,
    )
    rate: float = asked(0.1, "with --learn: the learning rate of its step", kw_only=True)
    json: bool = json_field("print the answers at the end, before and after changes, and the lesson, as JSON")

    def check(self) -> None:
        if self.out is None and not (self.learn or self.json):
            raise UserError(marked("engine", "Name the file to write with --out."))

    def answer(self, models: Models) -> Traced:
        from engine.inspect.anatomy.vectors import trace

        subject = models.subject(self.model)
        found = trace(subject, self.text, self.text_pair, changes=self.changes, pad_to=self.pad_to)
        before = trace(subject, self.text, self.text_pair, pad_to=self.pad_to) if self.changes else found
        return before, found, self._lesson(subject) if self.learn or self.weight else None

    def _lesson(self, subject: LoadedModel) -> Lesson:
        from engine.inspect.anatomy.learning import learn

        if not (self.learn and self.weight):
            template = marked(
                "engine", "--learn names the masked word and --weight what learns it. Give both."
            )
            raise UserError(template)
        name, row, column = _read("--weight", _WEIGHT, self.weight)
        return learn(
            subject,
            self.text,
            self.text_pair,
            answer=self.learn,
            weight=name.removeprefix("bert."),
            row=int(row),
            column=int(column),
            rate=self.rate,
        )

    def write(self, found: Traced, out: Path) -> None:
        """Write all arrays by their names, and beside them what the model read."""
        now = found[1]
        arrays = {
            "pieces": now.pieces,
            "ids": now.ids,
            "segments": now.segments,
            "positions": now.positions,
            "mask": now.mask,
            "model": now.about.name,
            "fingerprint": now.about.fingerprint,
        }
        write_arrays(out, {**arrays, **now.arrays})

    def document(self, found: Traced) -> Any:
        from engine.inspect.anatomy.effect import MASKED, effect, masks, usual_head

        before, now, lesson = found
        head, hidden = usual_head(now), masks(now)
        places = (hidden or (0,)) if head == MASKED else (0,)
        ends = [
            {"token": place, "answers": [_answer(one) for one in effect(before, now, head, place, count=5)]}
            for place in (places if head else ())
        ]
        document: dict[str, Any] = {"tokens": list(now.pieces), "head": head, "ends": ends}
        if lesson is not None:
            names = ("loss", "probability", "gradient", "before", "after", "loss_after", "probability_after")
            document["lesson"] = {name: getattr(lesson, name) for name in names}
        return document

    def lines(self, found: Traced) -> Iterator[str]:
        lesson = found[2]
        if lesson is None:
            return
        chance = marked("engine", "{loss:.10f}  (probability {chance:.10f})")
        spot = marked("engine", "{gradient:+.6e}  of {weight}[{row},{column}]")
        step = marked("engine", "{before:+.10f} - {rate:g} x gradient = {after:+.10f}")
        fall = marked("engine", "{fall:.3e}  (by the slope {slope:.3e})")
        names = heads(
            marked("table", "loss"),
            marked("table", "gradient"),
            marked("table", "weight"),
            marked("table", "loss after it"),
            marked("table", "it falls by"),
        )
        told = (
            said(chance, loss=lesson.loss, chance=lesson.probability),
            said(spot, gradient=lesson.gradient, weight=lesson.weight, row=lesson.row, column=lesson.column),
            said(step, before=lesson.before, rate=lesson.rate, after=lesson.after),
            said(chance, loss=lesson.loss_after, chance=lesson.probability_after),
            said(fall, fall=lesson.loss - lesson.loss_after, slope=lesson.slope),
        )
        yield from (f"{padded(name, 16)}{one}" for name, one in zip(names, told, strict=True))


def _read(flag: str, form: re.Pattern[str], given: str) -> Sequence[str]:
    found = form.fullmatch(given)
    if found is None:
        raise UserError(_FORM, flag=flag, given=given, form=_FORMS[flag])
    return found.groups()


def _answer(one: Any) -> dict[str, Any]:
    return {"answer": one.name, "before": one.before, "now": one.now}
