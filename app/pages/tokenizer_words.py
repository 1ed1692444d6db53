"""The Tokenizer page's sentences: why a character changed, how a word became pieces, what rows are for."""

from __future__ import annotations

from functools import partial

from app import words
from app.pages.tokenizer_study import Looked, Vocabulary
from app.plots.word_flow import is_right_to_left
from engine.text.trace import LONGEST, Change, TracedWord

tr = partial(words.translate, "tokenizer_words")


def vocabulary_words(found: Vocabulary) -> str:
    """Return a vocabulary in a line: how many pieces, and how text is cleaned for it."""
    wordpiece = found.wordpiece
    return f"{pieces_words(wordpiece.vocab_size)} · {_casing(found)}"


def _casing(found: Vocabulary) -> str:
    wordpiece = found.wordpiece
    strips = wordpiece.lowercase if wordpiece.strip_accents is None else wordpiece.strip_accents
    if wordpiece.lowercase:
        return tr("lower case") if strips else tr("lower case, accents stay")
    return tr("capitals stay, no accents") if strips else tr("capitals and accents stay")


def changes_words(count: int) -> str:
    """Return a count of changes."""
    return tr("1 change") if count == 1 else tr("{count} changes").format(count=words.number(count))


def words_words(count: int) -> str:
    """Return a count of words."""
    return tr("1 word") if count == 1 else tr("{count} words").format(count=words.number(count))


def pieces_words(count: int) -> str:
    """Return a count of pieces."""
    return tr("1 piece") if count == 1 else tr("{count} pieces").format(count=words.number(count))


def change_words(change: Change) -> str:
    """Return why cleaning changed some characters."""
    if change.kinds == ("removed",):
        why = {
            "control": tr("control, removed"),
            "format": tr("invisible, removed"),
            "private": tr("private, removed"),
            "replacement": tr("unreadable, removed"),
            "half": tr("half a character, removed"),
        }
        return why.get(change.why, tr("unknown to Unicode, removed"))
    said = {
        "space": tr("blank, now a space"),
        "alone": tr("Chinese, spaces around"),
        "accent": tr("accent off"),
        "lower": tr("lower case"),
    }
    return ", ".join(said[kind] for kind in change.kinds)


def seen(text: str, most: int = 40) -> str:
    """Return a text with its blanks and invisible characters made visible."""
    shown = "".join(_sign(letter) for letter in text[:most])
    return f"{shown}…" if len(text) > most else shown


def _sign(letter: str) -> str:
    if letter == " ":
        return "␣"
    return letter if letter.isprintable() else f"U+{ord(letter):04X}"


def kind_words(word: TracedWord) -> str:
    """Return what a word of the basic split is."""
    return {
        "word": tr("word"),
        "punctuation": tr("punctuation mark"),
        "ideograph": tr("Chinese character"),
        "added": tr("token written out"),
    }[word.kind]


def clean_words(found: Looked) -> str:
    """Return what cleaning is, with this vocabulary."""
    said = [tr("Characters that cannot be seen are removed, every blank becomes a space.")]
    wordpiece = found.asked.first.wordpiece
    if wordpiece.lowercase:
        said.append(tr("This vocabulary knows lower case only, so capitals and accents go."))
    else:
        said.append(tr("This vocabulary knows capitals and accents, so they stay."))
    if wordpiece.chinese_chars:
        said.append(tr("Chinese characters stand alone."))
    if not any(trace.changes for trace in found.traces):
        said.append(tr("Here nothing had to change."))
    return " ".join(said)


def split_words(found: Looked) -> str:
    """Return what the basic split is."""
    return tr(
        "The cleaned text is split at spaces, and every punctuation mark becomes a word of its own. "
        "Each word is then cut into pieces by itself."
    )


def match_words(word: TracedWord | None) -> str:
    """Return how a word became pieces."""
    if word is None:
        return tr("Choose a piece of the text to see how it was found.")
    name = _isolated(words.shorten(word.text, 40))
    match word.outcome:
        case "whole":
            said = tr("“{word}” is in the vocabulary as a whole.")
        case "pieces":
            said = tr(
                "“{word}” is not in the vocabulary as a whole. The longest beginning that is there is "
                "{first}; the rest is looked for in the same way, with ## before it."
            )
        case "unknown":
            return _unknown_words(word, name)
        case "too_long":
            said = tr("“{word}” has {count} characters. Words of more than {most} are not tried: [UNK].")
        case "added":
            said = tr("“{word}” was written out. Such tokens are found before the text is cleaned and split.")
        case _:
            said = tr("“{word}”: the steps of this word are not known; its pieces are right.")
    first = _isolated(word.matches[0].tried[-1]) if word.matches else ""
    if is_right_to_left([word.text]):
        said = f"\u200e{said}"
    return said.format(word=name, first=first, count=words.number(len(word.text)), most=LONGEST)


def _isolated(name: str) -> str:
    """Return a word that runs to the left so that the sentence around it runs to the right."""
    return f"\u2068{name}\u2069" if is_right_to_left([name]) else name


def _unknown_words(word: TracedWord, name: str) -> str:
    failed = word.failed
    assert failed is not None
    missing = failed.tried[-1]
    if len(word.text) == 1:
        return tr("The vocabulary has no piece for the character “{word}”, so it becomes [UNK].").format(
            word=name
        )
    return tr(
        "The vocabulary has no piece {missing}, so “{word}” cannot be spelled to its end. A word is spelled "
        "whole or not at all: all of it becomes [UNK]."
    ).format(word=name, missing=missing)


def frame_words(found: Looked) -> str:
    """Return what the marks around the texts are for."""
    wordpiece = found.asked.first.wordpiece
    said = [
        tr(
            "[CLS] (id {cls}) stands before the text. What the model makes of it stands for the whole text: "
            "a classifier reads its answer there."
        ).format(cls=wordpiece.cls_id),
        tr("[SEP] (id {sep}) ends each text, so the model knows where A ends and B begins.").format(
            sep=wordpiece.sep_id
        ),
    ]
    if len(found.traces) > 1:
        said.append(tr("Segment ID: 0 for [CLS], A and its [SEP], 1 for B and its [SEP]."))
    else:
        said.append(tr("Segment ID: 0 everywhere, for there is no text B."))
    return "\n\n".join(said)


def rows_words(found: Looked) -> str:
    """Return what the columns of the rows say, and what was cut or filled up."""
    said = [
        tr("Position: 0, 1, 2 and so on; the model learned a vector for each."),
        tr("Attention mask: 1 for what is read, 0 for padding."),
    ]
    real, most = words.number(found.num_real), words.number(found.asked.max_length)
    if found.num_cut:
        said.append(
            tr("{count} pieces are cut off: only {most} rows are allowed, marks included.").format(
                count=words.number(found.num_cut), most=most
            )
        )
    else:
        said.append(tr("Nothing is cut: {real} of at most {most} rows.").format(real=real, most=most))
    if found.num_padding:
        said.append(
            tr("{count} rows of [PAD] fill up, so that texts of unlike length fit one table.").format(
                count=words.number(found.num_padding)
            )
        )
    return "\n\n".join(said)


def summary(found: Looked) -> str:
    """Return pieces and unknown words; beside those of the second vocabulary where there is one."""

    def one(traces: tuple[object, ...], pieces: int, unknown: int) -> str:
        said = pieces_words(pieces)
        return (
            said if not unknown else f"{said}, " + tr("{count} unknown").format(count=words.number(unknown))
        )

    parts = [
        one(traces, sum(len(trace.ids) for trace in traces), sum(trace.num_unknown for trace in traces))
        for traces in (found.traces, found.beside)
        if traces
    ]
    said = tr("{first} · second vocabulary: {second}").format(first=parts[0], second=parts[-1])
    return said if len(parts) > 1 else parts[0]
