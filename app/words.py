"""From the engine's sentences, numbers and events to what a person reads, in their language.

Engine text is marked with the context "engine"; what this file says itself has the context "words".
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache, partial
from typing import Any

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from engine import errors, events
from engine.errors import ConfigError, Sentence, UserError, VerbatimText, filled
from engine.language import is_english, metric_name
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.settings.setting import Setting, is_number, settings_of
from engine.train.metrics import ANSWERED, mean_interval, rounded, wilson_interval

translate = QCoreApplication.translate
listed, phrases, clauses = errors.listed, errors.phrases, errors.clauses
sentences, closed = errors.sentences, errors.closed
captioned, bracketed = errors.captioned, errors.bracketed

MINUS = "\u2212"  # as long as a plus, which a hyphen is not
MOST_SHARE_DIGITS = 3  # of a share that is nearly nothing or nearly all
NO_SHARES = ("pearson", "spearman", "r2", "mse", "mae", "loss", "perplexity")  # in the names of metrics
ROUNDING = 1e-9  # what a sum of shares that is all may miss


class TrContext:
    """What says words of its own and is no object of Qt's: it has its `tr`, in the context of its class."""

    def tr(self, text: str) -> str:
        """Return a text in the window's language."""
        found = (translate(one.__name__, text) for one in type(self).__mro__)
        return next((said for said in found if said != text), text)


def tr_engine(text: str) -> str:
    """Return a text that the engine has marked, translated."""
    return translate("engine", text) if text else ""


def within(caption: str) -> str:
    """Return a caption as it is said within a sentence: in English without its capital."""
    return caption[:1].lower() + caption[1:] if is_english() else caption


def say(sentence: Sentence | str) -> str:
    """Return a sentence translated and filled; a broken translation falls back to English, never raises."""
    if isinstance(sentence, str):
        return tr_engine(sentence)
    values = {name: _filler(value) for name, value in sentence.values.items()}
    for template in (tr_engine(sentence.template), sentence.template):
        try:
            return filled(template, values)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            continue
    return sentence.template


def say_error(error: BaseException) -> str:
    """Return what to tell a person: the error's own sentence, or that the fault is ours."""
    if isinstance(error, ConfigError):
        values = dict(error.sentence.values)
        if values.get("field") in settings():
            values["field"] = label_of(str(values["field"]))
        return say(Sentence(error.sentence.template, values))
    if isinstance(error, UserError):
        return say(error.sentence)
    if isinstance(error, MemoryError):
        return translate(
            "words", "The memory of this computer is full. Close other programs or choose a smaller model."
        )
    kind = type(error).__name__
    reason = shorten(str(error), 200)
    return translate("words", "This is an error in Cloze: {kind}: {reason}").format(kind=kind, reason=reason)


def _filler(value: Any) -> Any:
    """Return a sentence inside a sentence translated; names and texts of people stay as they are."""
    return VerbatimText(say(value)) if isinstance(value, Sentence) else value


@cache
def settings() -> Mapping[str, Setting]:
    """Return every setting by name; where fine-tuning and pretraining share a name, fine-tuning's."""
    found: dict[str, Setting] = {}
    for config in (PretrainConfig(), FineTuneConfig()):
        for field in dataclasses.fields(config):
            found |= settings_of(getattr(config, field.name))
    return found


def label_of(name: str) -> str:
    """Return a setting's label; the name itself when it is not a setting."""
    about = settings().get(name)
    return tr_engine(about.label) if about else name


def choice_word(name: str, value: str, auto: str = "") -> str:
    """Return a choice in words: "head_tail" -> "Head and tail". Args: auto: what "" means, as marked."""
    words = {
        ("truncation", "longest_first"): translate("words", "Longest first"),
        ("way", "fine-tuning"): translate("words", "Fine-tune all weights"),
        ("way", "auto"): translate("words", "Chosen for you"),
        ("way", "regression"): translate("words", "Regression on vectors"),
        ("way", "contrastive"): translate("words", "Contrastive pairs"),
        ("encoder", "fine-tuned"): translate("words", "Fine-tuned"),
        ("encoder", "frozen"): translate("words", "Frozen"),
        ("rare_labels", "weighted"): translate("words", "Weighted"),
        ("rare_labels", "repeated"): translate("words", "Repeated"),
        ("truncation", "head"): translate("words", "Keep the head"),
        ("truncation", "head_tail"): translate("words", "Keep head and tail"),
        ("device", "auto"): translate("words", "Automatic"),
        ("device", "cpu"): translate("words", "CPU"),
        ("device", "cuda"): translate("words", "GPU (CUDA)"),
        ("precision", "auto"): translate("words", "Automatic"),
        ("precision", "float32"): translate("words", "32 bit (float32)"),
        ("precision", "bfloat16"): translate("words", "16 bit (bfloat16)"),
        ("separator", ","): translate("words", "Comma"),
        ("separator", "\t"): translate("words", "Tab"),
        ("separator", ";"): translate("words", "Semicolon"),
        ("separator", "|"): translate("words", "Bar |"),
        ("quoting", "csv"): translate("words", "Quoted cells"),
        ("quoting", "none"): translate("words", "Plain text"),
        ("quoting", "backslash"): translate("words", "Backslashes"),
        ("header", "no"): translate("words", "No header"),
        ("layout", "paragraphs"): translate("words", "One paragraph per line"),
        ("layout", "sentences"): translate("words", "One sentence per line"),
        ("layout", "lines"): translate("words", "One document per line"),
        ("mask_unit", "piece"): translate("words", "Pieces"),
        ("mask_unit", "word"): translate("words", "Whole words"),
        ("mask_unit", "ngram"): translate("words", "A few words"),
        ("mask_unit", "span"): translate("words", "Spans"),
        ("mask_unit", "term"): translate("words", "Terms of a list"),
        ("segmenter", "jieba"): translate("words", "Dictionary (jieba)"),
        ("kernels", "auto"): translate("words", "Automatic"),
        ("scheme", "none"): translate("words", "None"),
        ("take", "regression"): translate("words", "Regression on vectors"),
        ("take", "contrastive"): translate("words", "Contrastive pairs"),
        ("take", "fine-tuning"): translate("words", "Fine-tune all weights"),
        ("pooling", "mean"): translate("words", "Mean of all tokens"),
        ("pooling", "first_last"): translate("words", "Mean of first and last layer"),
        ("starts", "frequencies"): translate("words", "Word frequencies"),
        ("starts", "none"): translate("words", "Nothing"),
        ("", "yes"): translate("words", "Yes"),
        ("", "no"): translate("words", "No"),
    }
    if value == "":
        about = settings().get(name)
        if auto:  # beside its caption, where it needs no more words
            meaning = tr_engine(auto)
            return meaning[:1].upper() + meaning[1:]
        meaning = tr_engine(about.auto if about else "")
        return (
            translate("words", "Automatic: {words}").format(words=meaning)
            if meaning
            else translate("words", "None")
        )
    if name == "header" and is_number(value):
        return translate("words", "Line {line}").format(line=value)
    return words.get((name, value)) or words.get(("", value)) or value


def _locale() -> QLocale:
    locale = QLocale()  # the C locale groups no digits
    return QLocale(QLocale.Language.English) if locale.language() == QLocale.Language.C else locale


def number(n: float) -> str:
    """Return a count with the locale's thousands separator."""
    return _locale().toString(int(n))


def counted(n: int, one: str, many: str) -> str:
    """Return a sentence on a count: `one` for 1, else `many`, with {count} filled. Both are translated."""
    return (one if n == 1 else many).replace("{count}", number(n))


def decimal(x: float | None, digits: int = 3) -> str:
    """Return a number with a fixed count of digits, below nothing with a minus sign; a dash for none."""
    if x is None or not math.isfinite(x):
        return "–"
    return _locale().toString(rounded(x, digits), "f", digits).replace("-", MINUS)


def quantity(x: float | None, spread: float, digits: int = 4) -> str:
    """Return a number of any unit, with as many decimals as `digits` of its distance to others want.

    Args: spread: how far such numbers lie apart; 0 where only this one is known.
    """
    far = spread or (abs(x) if x is not None else 0.0)
    known = math.isfinite(far) and far > 0
    return decimal(x, max(0, digits - 1 - math.floor(math.log10(far))) if known else digits - 1)


def share(x: float | None, digits: int = 1) -> str:
    """Return a share (0 to 1) as per cent: "12.3 %".

    A share of nothing and of all are said of nothing and of all only: where so few digits would round to
    them, more are written, "99.7 %", and at the end "> 99.999 %" or "< 0.001 %".
    """
    if x is None or not math.isfinite(x):
        return "–"
    if x < 0 or x == 0 or x >= 1 - ROUNDING:
        return _per_cent(x, digits)
    for more in range(digits, max(digits, MOST_SHARE_DIGITS) + 1):
        if 0 < round(100 * x, more) < 100:
            return _per_cent(x, more)
    finest = 10.0 ** -(max(digits, MOST_SHARE_DIGITS) + 2)
    if x < 0.5:
        return translate("words", "< {share}").format(share=share(finest, MOST_SHARE_DIGITS))
    return translate("words", "> {share}").format(share=share(1 - finest, MOST_SHARE_DIGITS))


def per_cent(number: str) -> str:
    """Return a number, as it is written, as per cent; of "" what stands behind any."""
    return translate("words", "{number} %").format(number=number)


def _per_cent(x: float, digits: int) -> str:
    return per_cent(decimal(x * 100, digits))


def with_interval(x: float | None, rows: int) -> str:
    """Return a share that was measured on so many rows, with its 95 % interval, the same words everywhere:
    "97.2 % (95 %: 94.4 to 98.6 %)"; the share alone where the rows are not known.
    """
    if x is None or not math.isfinite(x) or rows <= 0:
        return score(x)
    return _between(x, wilson_interval(x * rows, rows))


def score(x: float | None) -> str:
    """Return a score of 0 to 1, such as an accuracy or F1, as every share is written: "76.3 %"."""
    return share(x)


def metric_words(metric: str) -> str:
    """Return what a measure is called within a sentence: "micro_f1" is "micro f1"."""
    return metric_name(metric).replace("_", " ")


def is_share(metric: str) -> bool:
    """Whether a metric lies between 0 and 1 and is written as per cent, by its name."""
    return not any(name in metric for name in NO_SHARES)


def interval_help() -> str:
    """Return what the interval means, for a tooltip."""
    return translate(
        "words",
        "95 %: measured many times on as many other rows of the same kind, the range "
        "would contain the true value 95 times in a hundred. Fewer rows, wider range.",
    )


def _between(x: float, interval: tuple[float, float], is_share: bool = True) -> str:
    said, first = (score, partial(decimal, digits=1)) if is_share else (decimal, decimal)
    low, high = interval
    return translate("words", "{value} (95 %: {low} to {high})").format(
        value=said(x), low=first(100 * low if is_share else low), high=said(high)
    )


def probability(x: float) -> str:
    """Return a probability with as many digits as say something: "31 %", "3.1 %", "99.7 %", "< 0.001 %"."""
    if x < 0.00001:  # of words, of which none has no chance at all
        return translate("words", "< {share}").format(share=share(0.00001, 3))
    return share(x, 0 if x >= 0.0995 else 1 if x >= 0.00995 else 2 if x >= 0.000995 else 3)


def scientific(x: float, digits: int = 3) -> str:
    """Return a number of any size, short: 5e-5, 0.01, 1.5e6."""
    if x == 0 or not math.isfinite(x):
        return f"{x:g}"
    if 1e-3 <= abs(x) < 1e5:
        return f"{x:.{digits}g}" if abs(x) < 1000 else f"{x:g}"
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def duration(seconds: float) -> str:
    """Return a length of time, coarser the longer: "45 s", "3 min", "2 h 05 min"."""
    if not math.isfinite(seconds) or seconds < 0:
        return "–"
    if seconds < 59.5:
        return translate("words", "{number} s").format(number=max(1, round(seconds)) if seconds > 0 else 0)
    minutes = round(seconds / 60)
    if minutes < 60:
        return translate("words", "{number} min").format(number=minutes)
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        after = f"{rest:02d}" if is_english() else str(rest)  # others write no nought before it
        return translate("words", "{hours} h {minutes} min").format(hours=hours, minutes=after)
    return translate("words", "{number} days").format(number=round(hours / 24))


def duration_range(low: float, high: float) -> str:
    """Return "40 s to 2 min", "2 to 5 min", or "about 3 min" where both are written alike."""
    first, last = duration(low), duration(high)
    if first == last:
        return translate("words", "about {duration}").format(duration=first)
    (amount, *unit), (_, *other) = first.split(), last.split()
    if unit == other:
        first = amount
    return translate("words", "{low} to {high}").format(low=first, high=last)


def time_left(seconds: float) -> str:
    """Return "3 min left", or nothing while that is not known."""
    if not math.isfinite(seconds) or seconds < 0:
        return ""
    return translate("words", "{duration} left").format(duration=duration(seconds))


def rate(tokens_per_s: float) -> str:
    """Return "1,480 tokens/s"."""
    return translate("words", "{number} tokens/s").format(number=number(round(tokens_per_s)))


def file_size(num_bytes: float) -> str:
    """Return "1.1 GB"."""
    return _locale().formattedDataSize(
        int(num_bytes), 1 if num_bytes >= 1e6 else 0, QLocale.DataSizeFormat.DataSizeSIFormat
    )


def shorten(text: str, length: int = 80) -> str:
    """Return one line: white space folded, an ellipsis when there is more. Looks at the beginning only."""
    line = " ".join(text[: length * 8].split())
    whole = len(line) <= length and len(text) <= length * 8
    return line if whole else line[: length - 1].rstrip() + "…"


def event_words(event: events.Event, *, num_steps: int = 0) -> str:
    """Return an event in one line; nothing for a beat, nor for an answer."""
    match event:
        case events.Beat() | events.AnswerSoFar():
            return ""
        case events.Progress():
            return _progress_words(event)
        case events.Noted():
            return say(event.sentence)
        case events.Started():
            return _started_words(event)
        case events.Step():
            return _step_words(event, num_steps)
        case events.Evaluated():
            return _evaluated_words(event)
        case events.Saved():
            return translate("words", "Checkpoint saved at step {step}").format(step=number(event.step))
        case events.Pinned():
            return _pinned_words(event)
        case events.Gained():
            return _gained_words(event)
        case events.Judged():
            return _judged_words(event)
        case events.Predicted():
            one, many = translate("words", "1 row predicted"), translate("words", "{count} rows predicted")
            return counted(len(event.rows), one, many)
        case events.Fetched():
            return _fetched_words(event)
        case events.Finished():
            return translate("words", "Finished in {duration}").format(duration=duration(event.seconds))
    return type(event).__name__


def _fetched_words(event: events.Fetched) -> str:
    template = translate("words", "Downloading {file}: {done} of {total}")
    return template.format(file=event.file, done=file_size(event.done), total=file_size(event.total))


def _progress_words(event: events.Progress) -> str:
    stage = say(event.sentence)
    if event.total <= 0:
        return translate("words", "{stage}: {done}").format(stage=stage, done=number(event.done))
    if event.remaining_s is not None:
        parts = (captioned(stage, share(event.done / event.total, 0)), time_left(event.remaining_s))
        return " · ".join(filter(None, parts))
    return translate("words", "{stage}: {done} of {total}").format(
        stage=stage, done=number(event.done), total=number(event.total)
    )


def _started_words(event: events.Started) -> str:
    if not event.num_steps:  # minutes or tokens bound it
        return translate("words", "Training starts on {device}").format(device=event.device)
    return translate("words", "Training starts: {steps} steps on {device}").format(
        steps=number(event.num_steps), device=event.device
    )


def _judged_words(event: events.Judged) -> str:
    """Return which way is taken, or how many are judged."""
    taken = event.one_taken
    if taken is None:
        known = sum(1 for one in event.ways if one.accuracy is not None)
        text = translate("words", "Methods judged: {done} of {total}")
        return text.format(done=number(known), total=number(len(event.ways)))
    text = translate("words", "Method taken: {method}")
    if event.accuracy is None:
        return text.format(method=tr_engine(taken.said))
    text = translate("words", "Method taken: {method}, accuracy {accuracy}")
    return text.format(method=tr_engine(taken.said), accuracy=score(event.accuracy))


def _pinned_words(event: events.Pinned) -> str:
    """Return the first guess for each sentence."""
    guesses = (reading.guesses[0][0] for reading in event.readings if reading.guesses)
    return translate("words", "Guesses at step {step}: {guesses}").format(
        step=number(event.step), guesses=listed(guesses)
    )


def _gained_words(event: events.Gained) -> str:
    """Return what a stage of a pipeline has reached."""
    is_of_share = is_share(event.metric)
    value = score(event.mean) if is_of_share else decimal(event.mean)
    if (
        event.mean is not None
        and (interval := mean_interval(event.values, event.rows, event.metric)) is not None
    ):
        value = _between(event.mean, interval, is_of_share)
    template = translate("words", "Stage {stage}, {seeds} runs: {metric} {value}")
    return template.format(
        stage=event.stage,
        seeds=number(event.seeds_done),
        metric=metric_words(event.metric),
        value=value,
    )


def step_reached(step: int, num_steps: int) -> str:
    """Return "step 214 of 336". Args: num_steps: 0 where tokens or minutes bound the run."""
    if num_steps:
        return translate("words", "step {step} of {total}").format(step=number(step), total=number(num_steps))
    return translate("words", "step {step}").format(step=number(step))


def _step_words(event: events.Step, num_steps: int) -> str:
    reached = step_reached(event.step, num_steps)
    parts = (reached, rate(event.tokens_per_s), time_left(event.remaining_s))
    return " · ".join(part for part in parts if part)


def _evaluated_words(event: events.Evaluated) -> str:
    names = {
        "validation": translate("words", "Validation"),
        "test": translate("words", "Test"),
    }
    line = translate("words", "{split} at step {step}: loss {loss}").format(
        split=names.get(event.split, event.split), step=number(event.step), loss=decimal(event.loss)
    )
    measured = event.metrics.get("accuracy", event.metrics.get("mlm_accuracy"))
    if measured is not None:
        if event.confusion is not None:
            rows = int(event.confusion.sum())
        else:  # of so many classes that no matrix is kept; of other tasks the supports are no rows
            rows = sum(one[3] for one in event.per_label.values()) if ANSWERED in event.details else 0
        accuracy = translate("words", "accuracy {value}").format(value=with_interval(measured, rows))
        line = f"{line} · {accuracy}"
    return line


def day(moment: float) -> str:
    """Return the day of a moment, in seconds since 1970, near ones by their names."""
    then = datetime.fromtimestamp(moment)
    ago = (date.today() - then.date()).days
    if ago == 0:
        return translate("words", "today")
    if ago == 1:
        return translate("words", "yesterday")
    if 1 < ago < 7:
        return QLocale().dayName(then.isoweekday())
    form = translate("words", "d MMM") if ago < 300 else translate("words", "d MMM yyyy")
    return str(QLocale().toString(QDate(then.year, then.month, then.day), form))
