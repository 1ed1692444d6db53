"""The Tokenizer page's sentences: why a character changed, how a word became pieces, what rows are for."""

from __future__ import annotations

from app import words
from app.look.direction import is_right_to_left
from app.pages.tokenizer.requests import OpenVocabulary, Tokenization
from engine.errors import isolated
from engine.inspect.treatment import ACCENTS, CAPITALS, EMOJI, IDEOGRAPHS, NUMBERS, SPELLING
from engine.text.merges import MergedBytes
from engine.text.trace import LONGEST, Change, TracedWord
from engine.text.ways import SpelledWays
from engine.text.wordpiece import WordPiece


def vocabulary_words(found: OpenVocabulary) -> str:
    """Return a vocabulary in a line: how many pieces, and how text is cleaned for it."""
    wordpiece = found.wordpiece
    return f"{pieces_words(wordpiece.vocab_size)} · {_casing(found)}"


def way_words(found: OpenVocabulary) -> str:
    """Return what kind of pieces a vocabulary has, and how many."""
    return f"{words.tr_engine(found.wordpiece.way)} · {pieces_words(found.wordpiece.vocab_size)}"


def unknown_words(count: int) -> str:
    """Return how many pieces are unknown."""
    if not count:
        return words.translate("tokenizer_words", "none unknown")
    return words.translate("tokenizer_words", "{count} unknown").format(count=words.number(count))


def topic_words(topic: str) -> str:
    """Return what of a text is told of."""
    return {
        CAPITALS: words.translate("tokenizer_words", "Capitals"),
        ACCENTS: words.translate("tokenizer_words", "Accents"),
        IDEOGRAPHS: words.translate("tokenizer_words", "Chinese"),
        EMOJI: words.translate("tokenizer_words", "Emoji"),
        NUMBERS: words.translate("tokenizer_words", "Numbers"),
        SPELLING: words.translate("tokenizer_words", "Restored"),
    }[topic]


def _casing(found: OpenVocabulary) -> str:
    wordpiece = found.wordpiece
    if wordpiece.lowercase:
        return (
            words.translate("tokenizer_words", "lower case")
            if wordpiece.strips
            else words.translate("tokenizer_words", "lower case, accents stay")
        )
    return (
        words.translate("tokenizer_words", "capitals stay, no accents")
        if wordpiece.strips
        else words.translate("tokenizer_words", "capitals and accents stay")
    )


def changes_words(count: int) -> str:
    """Return a count of changes."""
    return (
        words.translate("tokenizer_words", "1 change")
        if count == 1
        else words.translate("tokenizer_words", "{count} changes").format(count=words.number(count))
    )


def words_words(count: int) -> str:
    """Return a count of words."""
    return (
        words.translate("tokenizer_words", "1 word")
        if count == 1
        else words.translate("tokenizer_words", "{count} words").format(count=words.number(count))
    )


def pieces_words(count: int) -> str:
    """Return a count of pieces."""
    return (
        words.translate("tokenizer_words", "1 piece")
        if count == 1
        else words.translate("tokenizer_words", "{count} pieces").format(count=words.number(count))
    )


def change_words(change: Change) -> str:
    """Return why cleaning changed some characters."""
    if change.kinds == ("removed",):
        why = {
            "control": words.translate("tokenizer_words", "control, removed"),
            "format": words.translate("tokenizer_words", "invisible, removed"),
            "private": words.translate("tokenizer_words", "private, removed"),
            "replacement": words.translate("tokenizer_words", "unreadable, removed"),
            "half": words.translate("tokenizer_words", "half a character, removed"),
        }
        return why.get(change.why, words.translate("tokenizer_words", "unknown to Unicode, removed"))
    said = {
        "space": words.translate("tokenizer_words", "blank, now a space"),
        "alone": words.translate("tokenizer_words", "Chinese, spaces around"),
        "accent": words.translate("tokenizer_words", "accent off"),
        "lower": words.translate("tokenizer_words", "lower case"),
        "plain": words.translate("tokenizer_words", "its plain form"),
        "composed": words.translate("tokenizer_words", "letter and accent as one"),
    }
    return words.listed(said[kind] for kind in change.kinds)


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
        "word": words.translate("tokenizer_words", "word"),
        "punctuation": words.translate("tokenizer_words", "punctuation mark"),
        "ideograph": words.translate("tokenizer_words", "Chinese character"),
        "added": words.translate("tokenizer_words", "token written out"),
    }[word.kind]


def clean_words(found: Tokenization) -> str:
    """Return what cleaning is, with this vocabulary."""
    wordpiece = found.asked.first.wordpiece
    if not isinstance(wordpiece, WordPiece):
        return words.tr_engine(wordpiece.cleaning)
    said = [
        words.translate(
            "tokenizer_words", "Invisible characters are removed, and every blank becomes a space."
        )
    ]
    if wordpiece.lowercase:
        said.append(
            words.translate(
                "tokenizer_words", "This vocabulary has only lower case, so capitals and accents are removed."
            )
        )
    else:
        said.append(
            words.translate("tokenizer_words", "This vocabulary has capitals and accents, so they stay.")
        )
    if wordpiece.chinese_chars:
        said.append(words.translate("tokenizer_words", "Chinese characters are split one by one."))
    if not any(trace.changes for trace in found.traces):
        said.append(words.translate("tokenizer_words", "Nothing had to change here."))
    return words.sentences(said)


def split_words(found: Tokenization) -> str:
    """Return what the basic split is."""
    if splitting := found.asked.first.wordpiece.splitting:
        return words.tr_engine(splitting)
    return words.translate(
        "tokenizer_words",
        "The cleaned text is split at spaces, and every punctuation mark becomes a "
        "separate word. Each word is then split into pieces on its own.",
    )


def match_words(
    word: TracedWord | None, ways: SpelledWays | None = None, merges: MergedBytes | None = None
) -> str:
    """Return how a word became pieces.

    Args: ways: of pieces with scores, what else was possible. merges: of bytes, what joined them.
    """
    if word is None:
        return words.translate("tokenizer_words", "Choose a piece of the text to see how it was found.")
    name = isolated(words.shorten(word.text, 40))
    match word.outcome:
        case "whole":
            said = words.translate("tokenizer_words", "“{word}” is in the vocabulary as a whole.")
        case "pieces":
            said = words.translate(
                "tokenizer_words",
                "“{word}” is not in the vocabulary as a whole. Its longest beginning there is "
                "{first}. The rest is looked up in the same way, with ## before it.",
            )
        case "likeliest":
            said = words.translate(
                "tokenizer_words", "“{word}” is not in the vocabulary as a whole, or not likely enough."
            )
        case "merged":
            said = words.translate("tokenizer_words", "“{word}” ends as several pieces: no merge joins them.")
        case "partly":
            said = words.translate(
                "tokenizer_words",
                "The vocabulary has no piece for some of “{word}”, so that becomes unknown.",
            )
        case "unknown":
            return _unknown_words(word, name)
        case "too_long":
            said = words.translate(
                "tokenizer_words",
                "“{word}” has {count} characters. Words of more than {most} are not tried: [UNK].",
            )
        case "added":
            said = words.translate(
                "tokenizer_words",
                "“{word}” was written out. Such tokens are found before the text is cleaned and split.",
            )
        case _:
            said = words.translate(
                "tokenizer_words", "“{word}”: the steps of this word are not known, but its pieces are right."
            )
    first = isolated(word.matches[0].tried[-1]) if word.matches else ""
    if is_right_to_left([word.text]):
        said = f"\u200e{said}"
    said = said.format(word=name, first=first, count=words.number(len(word.text)), most=LONGEST)
    more = _ways_words(ways) if ways is not None else _merges_words(merges) if merges is not None else ""
    return f"{said}\n\n{more}" if more else said


def _merges_words(found: MergedBytes) -> str:
    """Return how many merges joined some bytes."""
    count, total = len(found.merges), len(found.pieces)
    if not count:
        return words.translate("tokenizer_words", "No two of its bytes are joined by a merge.")
    said = (
        words.translate("tokenizer_words", "Its {total} bytes are joined once.")
        if count == 1
        else words.translate("tokenizer_words", "Its {total} bytes are joined {count} times.")
    )
    order = words.translate(
        "tokenizer_words",
        "Of all merges that fit, the one that was learned first comes first. Its number is at the right.",
    )
    return f"{said} {order}".format(total=words.number(total), count=words.number(count))


def _ways_words(ways: SpelledWays) -> str:
    """Return the sum of scores of a spelling, and that of the next best."""
    said = words.translate(
        "tokenizer_words",
        "Of all ways to spell “{whole}” in pieces, the first one below has the largest sum of scores, {sum}.",
    ).format(whole=isolated(ways.whole), sum=words.decimal(sum(ways.scores), 1))
    if not ways.other:
        return words.sentences([said, words.translate("tokenizer_words", "There is no other way.")])
    other = words.translate(
        "tokenizer_words", "The next best has {sum}. Below them are all other pieces that fit."
    )
    return f"{said} {other.format(sum=words.decimal(sum(ways.other_scores), 1))}"


def _unknown_words(word: TracedWord, name: str) -> str:
    failed = word.failed
    assert failed is not None
    missing = failed.tried[-1]
    if len(word.text) == 1:
        return words.translate(
            "tokenizer_words", "The vocabulary has no piece for the character “{word}”, so it becomes [UNK]."
        ).format(word=name)
    return words.translate(
        "tokenizer_words",
        "The vocabulary has no piece {missing}, so “{word}” cannot be spelled to its "
        "end. A word is spelled whole or not at all, so all of it becomes [UNK].",
    ).format(word=name, missing=missing)


def frame_words(found: Tokenization) -> str:
    """Return what the marks around the texts are for."""
    wordpiece = found.asked.first.wordpiece
    said = [
        words.translate(
            "tokenizer_words",
            "{piece} (id {id}) begins the text. Its vector represents the whole text, and a "
            "classifier reads its answer there.",
        ).format(piece=wordpiece.tokens[wordpiece.cls_id], id=wordpiece.cls_id),
        words.translate(
            "tokenizer_words",
            "{piece} (id {id}) ends each text, so the model knows where A ends and B begins.",
        ).format(piece=wordpiece.tokens[wordpiece.sep_id], id=wordpiece.sep_id),
    ]
    if not wordpiece.tells_segments:
        said.append(
            words.translate(
                "tokenizer_words", "Segment ID: 0 everywhere. Only the separators show where B begins."
            )
        )
    elif len(found.traces) > 1:
        said.append(
            words.translate(
                "tokenizer_words", "Segment ID: 0 for [CLS], A and its [SEP], 1 for B and its [SEP]."
            )
        )
    else:
        said.append(
            words.translate("tokenizer_words", "Segment ID: 0 everywhere, because there is no text B.")
        )
    return "\n\n".join(said)


def rows_words(found: Tokenization) -> str:
    """Return what the columns of the rows say, and what was cut or filled up."""
    said = [
        words.translate(
            "tokenizer_words", "Position: 0, 1, 2 and so on, by which the model knows the order."
        ),
        words.translate("tokenizer_words", "Attention mask: 1 for what is read, 0 for padding."),
    ]
    real, most = words.number(found.num_real), words.number(found.asked.max_length)
    if found.num_cut:
        said.append(
            words.translate(
                "tokenizer_words",
                "{count} pieces are truncated: only {most} are allowed, special tokens included.",
            ).format(count=words.number(found.num_cut), most=most)
        )
    else:
        said.append(
            words.translate(
                "tokenizer_words", "Nothing is truncated: {real} of at most {most} pieces."
            ).format(real=real, most=most)
        )
    if found.num_padding:
        said.append(
            words.translate(
                "tokenizer_words",
                "{count} rows of {pad} are added, so that texts of different lengths fit one table.",
            ).format(count=words.number(found.num_padding), pad=_pad_of(found))
        )
    return "\n\n".join(said)


def summary(found: Tokenization) -> str:
    """Return pieces and unknown words; beside those of the second vocabulary where there is one."""

    def one(traces: tuple[object, ...], pieces: int, unknown: int) -> str:
        said = pieces_words(pieces)
        return (
            said
            if not unknown
            else f"{said}, "
            + words.translate("tokenizer_words", "{count} unknown").format(count=words.number(unknown))
        )

    parts = [
        one(traces, sum(len(trace.ids) for trace in traces), sum(trace.num_unknown for trace in traces))
        for traces in (found.traces, found.beside)
        if traces
    ]
    said = words.translate("tokenizer_words", "{first} · second vocabulary: {second}").format(
        first=parts[0], second=parts[-1]
    )
    return said if len(parts) > 1 else parts[0]


def _pad_of(found: Tokenization) -> str:
    tokenizer = found.asked.first.wordpiece
    return tokenizer.tokens[tokenizer.pad_id]
