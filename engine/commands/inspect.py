"""The commands that look inside a model: attention, embed, attribute, fill-mask, next-sentence and so on.

What a program reads goes to stdout or into a file; see command_line.py.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.commands.ask import add_question, answered
from engine.commands.screen import percent, print_json, show
from engine.durable import check_writable, replaced_file
from engine.errors import UserError, marked
from engine.events import Finished
from engine.questions.fields import switches
from engine.questions.fill_mask import FillMask

if TYPE_CHECKING:
    from engine.inspect.attention.weights import AttentionMaps
    from engine.inspect.attribution.gradients import Attribution
    from engine.inspect.attribution.target import Target
    from engine.inspect.loaded_model import LoadedModel

TARGETS = {"mask": "masked_words", "next": "next_sentence"}
POOLINGS = ("sentence", "mean", "cls", "max", "last_four", "pooled", "mix")
METHODS = ("integrated_gradients", "gradient_x_input")


def inspect_command(name: str, model: Path, *texts: str | None, **flags: object) -> str:
    """Return the line that asks this without the window: `python -m engine NAME --model MODEL ... TEXT`.

    Args: texts: None is left out. flags: top_k=5 is --top-k 5, a list repeats its flag; "" and None are left
        out.
    """
    words = ["python", "-m", "engine", name]
    for flag, values in {"model": model, **flags}.items():
        for value in values if isinstance(values, list) else [values]:
            if value is not None and value != "":
                words += _flag(f"--{flag.replace('_', '-')}", str(value))
    given = [text for text in texts if text is not None]
    if any(text.startswith("-") for text in given):
        words.append("--")  # else it would be read as a flag
    return shlex.join(words + given)


def attention_command(
    folder: Path, text: str, text_pair: str | None, out: Path | str, off: Sequence[tuple[int, int]] = ()
) -> str:
    """Return the line that writes the attention of a text without the window. off: (layer, head) from 0."""
    heads = [f"{layer + 1}.{head + 1}" for layer, head in off]
    return inspect_command("attention", folder, text, text_pair, out=out, off=heads)


def _flag(name: str, value: str) -> list[str]:
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def add_inspect_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    add_question(commands, FillMask)
    said = "tell whether a second text follows a first"
    follows = add_command(commands, "next-sentence", _next_sentence, said)
    follows.add_argument("text", metavar="A")
    follows.add_argument("text_pair", metavar="B")
    add_off(follows)
    add_json(follows, "print is_next and its probability as JSON")
    said = "write where every head looks, as an .npz file"
    attention = add_command(commands, "attention", _attention, said)
    add_text(attention)
    attention.add_argument("--out", required=True, type=Path, help="the .npz to write")
    add_off(attention)
    _add_attribute(commands)
    _add_embed(commands)
    score = add_command(
        commands, "perplexity", _perplexity, "tell how well a model foresees each piece of a text"
    )
    add_text(score)
    add_off(score)
    add_json(score, "print each piece's probability and rank as JSON")


def add_command(commands: Any, name: str, run: Any, words: str) -> argparse.ArgumentParser:
    """Add a command that opens a model."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=words)
    command.add_argument("--model", required=True, type=Path, help="a model folder")
    command.set_defaults(run=run)
    return command


def add_text(command: argparse.ArgumentParser) -> None:
    """Let it read a text or a pair."""
    command.add_argument("text", metavar="TEXT")
    command.add_argument("text_pair", metavar="TEXT_PAIR", nargs="?")


def add_json(command: argparse.ArgumentParser, words: str) -> None:
    """Let it print JSON."""
    command.add_argument("--json", action="store_true", help=words)


def add_off(command: argparse.ArgumentParser) -> None:
    """Let heads be switched off."""
    command.add_argument(
        "--off",
        action="append",
        default=[],
        metavar="LAYER.HEAD",
        help="switch a head off, both counted from 1; LAYER alone for all of its heads; repeatable",
    )


def _add_attribute(commands: Any) -> None:
    attribute = add_command(commands, "attribute", _attribute, "tell what each word adds to an answer")
    add_text(attribute)
    attribute.add_argument(
        "--target",
        required=True,
        metavar="LABEL|mask|next",
        help="a label of the classifier; mask: the word at the first [MASK]; next: whether TEXT_PAIR follows",
    )
    attribute.add_argument("--answer", default="", help="with mask: the word asked for, else the likeliest")
    attribute.add_argument("--method", default=METHODS[0], choices=METHODS)
    attribute.add_argument(
        "--baseline", default="", choices=("mask", "pad", "zero"), help="what words are compared with"
    )
    attribute.add_argument("--measure", default="log_odds", choices=("log_odds", "probability"))
    add_json(attribute, "print scores of pieces and words, sum and residual as JSON")


def _add_embed(commands: Any) -> None:
    embed = add_command(
        commands, "embed", _embed, "write one vector for each text of a table, as an .npz file"
    )
    embed.add_argument("--data", required=True, type=Path, help="a CSV, TSV or JSON lines file")
    embed.add_argument("--text", required=True, help="the column with the text")
    embed.add_argument("--text-pair", default="", help="the column with the second text")
    embed.add_argument("--label", default="", help="a column to keep beside the vectors")
    words = (
        "how its pieces become one vector; else as sentence-transformers' files in the folder say, or mean"
    )
    embed.add_argument("--pooling", default="", choices=POOLINGS, help=words)
    embed.add_argument("--layer", type=int, default=-1, help="0: the embeddings, -1: the last")
    embed.add_argument("--max-length", type=int, help="WordPieces of each text that are read")
    embed.add_argument("--out", required=True, type=Path, help="the .npz to write")
    embed.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))


# --- what they do --------------------------------------------------------------------------------------


def open_subject(options: argparse.Namespace) -> LoadedModel:
    """Return the model that was named. Raises: ModelError, DataError."""
    from engine.inspect.loaded_model import LoadedModel

    return LoadedModel.open(options.model)


def _next_sentence(options: argparse.Namespace) -> int:
    from engine.inspect.masked.follows import follows

    subject = open_subject(options)
    on = switches(options.off, subject)
    share = follows(subject, options.text, options.text_pair, on=on).probability
    if options.json:
        print_json({"is_next": share >= 0.5, "probability": share})
    else:
        print(f"{'B follows A' if share >= 0.5 else 'B does not follow A'}: {percent(share)} that it does")
    return 0


def _attention(options: argparse.Namespace) -> int:
    from engine.inspect.attention.weights import look

    check_writable(options.out)
    subject = open_subject(options)
    on = switches(options.off, subject)
    seen = look(subject, options.text, options.text_pair, on=on, want_hidden=True)
    _write_look(options.out, seen)
    return show(iter([Finished(path=options.out, seconds=0.0)]))


def _write_look(out: Path, seen: AttentionMaps) -> None:
    encoding = seen.encoding
    arrays: dict[str, Any] = {
        "tokens": np.array(encoding.tokens),
        "input_ids": np.array(encoding.input_ids),
        "token_type_ids": np.array(encoding.token_type_ids),
        "attentions": seen.attentions,
        "hidden_states": seen.hidden_states,
        "model": np.array(seen.model_name),
        "fingerprint": np.array(seen.fingerprint),
    }
    if seen.on is not None:
        arrays["heads_on"] = seen.on
    with replaced_file(out) as beside, beside.open("wb") as file:
        np.savez(file, **arrays)


def _attribute(options: argparse.Namespace) -> int:
    from engine.inspect.attribution.gradients import attribute

    subject = open_subject(options)
    code, found = answered(
        attribute(
            subject,
            options.text,
            options.text_pair,
            target=_target(options, subject),
            method=options.method,
            baseline=options.baseline,
            measure=options.measure,
        )
    )
    if found is None:
        return code
    if options.json:
        print_json(found.report())
    else:
        _print_attribution(found)
    return code


def _target(options: argparse.Namespace, subject: LoadedModel) -> Target:
    from engine.inspect.attribution.target import Target

    question = TARGETS.get(options.target, "labels")
    if options.target in subject.labels:  # a label may be called mask
        question = "labels"
    if options.answer and question != "masked_words":
        raise UserError(marked("engine", "--answer is for --target mask only. Leave it out."))
    answer = options.answer if question == "masked_words" else ""
    return Target(question=question, answer=options.target if question == "labels" else answer)


def _print_attribution(found: Attribution) -> None:
    print(found.question)
    for word, score in zip(found.words, found.word_scores.tolist(), strict=True):
        print(f"  {score:+8.4f}  {word.text}")
    if found.method == METHODS[0]:
        print(
            f"sum {found.total:.4f} of {found.value:.4f} - {found.baseline_value:.4f}; "
            f"residual {found.residual:.2%} in {found.steps} steps"
        )


def _embed(options: argparse.Namespace) -> int:
    from engine.inspect.embeddings.table import embed_table

    return show(
        embed_table(
            options.model,
            options.data,
            options.out,
            text=options.text,
            text_pair=options.text_pair,
            label=options.label,
            pooling=options.pooling,
            layer=options.layer,
            max_length=options.max_length,
            encoding=options.encoding or "",
            separator=options.separator or "",
            quoting=options.quoting or "",
            header=options.header or "",
            device=options.device,
        )
    )


def _perplexity(options: argparse.Namespace) -> int:
    from engine.inspect.masked.perplexity import pseudo_perplexity

    subject = open_subject(options)
    on = switches(options.off, subject)
    code, found = answered(pseudo_perplexity(subject, options.text, options.text_pair, on=on))
    if found is None:
        return code
    if options.json:
        pieces = [
            {"piece": one.piece, "probability": one.probability, "rank": one.rank} for one in found.scores
        ]
        print_json({"pseudo_perplexity": found.perplexity, "pieces": pieces})
        return code
    for one in found.scores:
        print(f"{one.piece:<20}{one.probability:8.4f}  rank {one.rank}")
    print(f"pseudo-perplexity {found.perplexity:.2f}")
    return code
