"""The steps before the first layer: from a text to a vector for each piece."""

from __future__ import annotations

from app import words
from app.pages.anatomy import vectors
from app.pages.anatomy.pictures import StepRows, each_scale, one_scale
from app.pages.anatomy.requests import ChangedAnatomy
from app.pages.anatomy.state import Walk
from app.pages.anatomy.steps.step import TAKEN, AnatomyStep, NormStep
from app.pages.anatomy.vectors import quoted
from app.plots.vector_rows import TEXT, VectorColumn
from engine.inspect.anatomy.vectors import Anatomy


class TextStep(AnatomyStep):
    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        template = (
            words.translate("anatomy", "One text. The model reads it as {count} pieces.")
            if anatomy.text_pair is None
            else words.translate("anatomy", "Two texts, A and B. The model reads them as {count} pieces.")
        )
        return template.format(count=words.number(anatomy.num_tokens))

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        spans, segments = rows.anatomy.encoding.offsets, rows.anatomy.encoding.token_type_ids
        where = ["–" if _is_special(rows.anatomy, i) else f"{a}–{b}" for i, (a, b) in enumerate(spans)]
        which = ["AB"[segment] if segment < 2 else str(segment) for segment in segments]
        return [
            _in_text(rows),
            VectorColumn(words.translate("anatomy", "characters"), TEXT, texts=rows.texts(where)),
            VectorColumn(words.translate("anatomy", "which text"), TEXT, texts=rows.texts(which)),
        ]


def _is_special(anatomy: Anatomy, place: int) -> bool:
    start, stop = anatomy.encoding.offsets[place]
    return bool(anatomy.encoding.special_tokens_mask[place]) and start == stop


def _in_text(rows: StepRows) -> VectorColumn:
    anatomy = rows.anatomy
    texts = (anatomy.text, anatomy.text_pair or "")
    said = []
    for place, (start, stop) in enumerate(anatomy.encoding.offsets):
        own = texts[anatomy.encoding.token_type_ids[place]]
        said.append("" if _is_special(anatomy, place) else own[start:stop])
    return VectorColumn(words.translate("anatomy", "in the text"), TEXT, texts=rows.texts(said))


class PiecesStep(AnatomyStep):
    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        if splitting := anatomy.about.wordpiece.splitting:
            return words.tr_engine(splitting)
        return words.translate(
            "anatomy",
            "A word in the vocabulary is one piece. Other words are split into several, "
            "and all but the first begin with ##. [CLS] and [SEP] are added.",
        )

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        pieces = rows.anatomy.pieces
        kinds = [_kind(rows.anatomy, place) for place in range(len(pieces))]
        piece = VectorColumn(words.translate("anatomy", "piece"), TEXT, sign="→", texts=rows.texts(pieces))
        kind = VectorColumn(words.translate("anatomy", "what it is"), TEXT, texts=rows.texts(kinds))
        return [_in_text(rows), piece, kind]


def _kind(anatomy: Anatomy, place: int) -> str:
    """Return what a piece is, by the one that follows it."""
    tokenizer, number = anatomy.about.wordpiece, anatomy.ids[place]
    special = {
        tokenizer.cls_id: words.translate("anatomy", "represents the whole text"),
        tokenizer.sep_id: words.translate("anatomy", "ends a text"),
        tokenizer.mask_id: words.translate("anatomy", "hides a word"),
        tokenizer.pad_id: words.translate("anatomy", "padding"),
        tokenizer.unk_id: words.translate("anatomy", "not in the vocabulary"),
    }
    continues = [*anatomy.encoding.continues, *[False] * anatomy.num_tokens]  # padding, too
    if number in special:
        return special[number]
    if continues[place]:
        return words.translate("anatomy", "continues the word before")
    if continues[place + 1]:
        return words.translate("anatomy", "begins a word")
    return words.translate("anatomy", "a whole word")


class IdsStep(AnatomyStep):
    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        template = (
            words.translate(
                "anatomy",
                "{piece} is row {id} of the {count} words, in segment {segment}, at position {position}.",
            )
            if SEGMENT in anatomy
            else words.translate(
                "anatomy", "{piece} is row {id} of the {count} words, at position {position}."
            )
        )
        place = walk.piece
        return template.format(
            piece=quoted(anatomy, place),
            id=words.number(anatomy.ids[place]),
            count=words.number(anatomy.config.vocab_size),
            segment=anatomy.segments[place],
            position=anatomy.positions[place],
        )

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        anatomy = rows.anatomy
        segment = (words.translate("anatomy", "segment"), words.translate("anatomy", "A 0, B 1"))
        return [
            VectorColumn(title, TEXT, hint, texts=rows.texts([str(x) for x in one]))
            for title, hint, one in (
                (
                    words.translate("anatomy", "id"),
                    words.translate("anatomy", "row of the words"),
                    anatomy.ids,
                ),
                *([(*segment, anatomy.segments)] if SEGMENT in anatomy else []),
                (
                    words.translate("anatomy", "position"),
                    words.translate("anatomy", "from 0"),
                    anatomy.positions,
                ),
            )
        ]

    def is_changed(self, found: ChangedAnatomy, walk: Walk) -> bool:
        return bool(found.now.changes.positions or found.now.changes.segments)


class VectorsStep(AnatomyStep):
    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        said = {
            1: words.translate("anatomy", "One row is looked up for {piece}: its word, {width} numbers."),
            2: words.translate(
                "anatomy", "Two rows are looked up for {piece}: word and segment, {width} numbers each."
            ),
            3: words.translate(
                "anatomy",
                "Three rows are looked up for {piece}: word, segment and position, {width} numbers each.",
            ),
        }[len(self.shown(anatomy, walk))]
        return said.format(piece=quoted(anatomy, walk.piece), width=anatomy.config.embedding_width)

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        return words.phrases(map(looked_up, self.shown(anatomy, walk)))

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        return one_scale(*rows.vectors(*("" for _ in rows.names)))


class SumStep(AnatomyStep):
    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        return words.translate("anatomy", "The vectors of a piece are added, number by number.")

    def formula_of(self, anatomy: Anatomy, walk: Walk) -> str:
        *added, made = (f"<i>{vectors.symbol(name)}</i>" for name in self.shown(anatomy, walk))
        return f"{made} = {' + '.join(added)}"

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        *added, made = rows.vectors("", *("+" for _ in rows.names[2:]), "=")
        return one_scale(*added, made)


class ProjectionStep(AnatomyStep):
    is_straight = False

    def sentence(self, anatomy: Anatomy, walk: Walk) -> str:
        return words.translate(
            "anatomy",
            "The embeddings have {narrow} numbers, the layers {width}. One matrix makes these from those.",
        ).format(narrow=anatomy.config.embedding_width, width=anatomy.config.hidden_size)

    def columns(self, rows: StepRows) -> list[VectorColumn]:
        return each_scale(*rows.vectors("", "→"))


SEGMENT = "embeddings.segment"


def looked_up(name: str) -> str:
    """Return the formula of a row that is looked up in a table of vectors."""
    formulas = {
        "embeddings.word": words.translate("anatomy", "<i>w</i> = W<sub>id</sub>"),
        SEGMENT: words.translate("anatomy", "<i>s</i> = S<sub>segment</sub>"),
        "embeddings.position": words.translate("anatomy", "<i>p</i> = P<sub>position</sub>"),
    }
    return formulas[name]


EMBEDDING_STEPS = (
    TextStep("text", lambda: words.translate("anatomy", "Text")),
    PiecesStep("pieces", lambda: words.translate("anatomy", "Pieces")),
    IdsStep("ids", lambda: words.translate("anatomy", "Ids")),
    VectorsStep("vectors", lambda: words.translate("anatomy", "Vectors")),
    SumStep("sum", lambda: words.translate("anatomy", "Sum")),
    NormStep("embedding_norm", formula=f"<i>x</i> = ({TAKEN} − μ) / σ · γ + β"),
    ProjectionStep(
        "projection",
        lambda: words.translate("anatomy", "Projection"),
        f"<i>x</i>′ = {TAKEN} W + <i>b</i>",
    ),
)
