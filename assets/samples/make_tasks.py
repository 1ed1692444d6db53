"""Cut the samples of several labels, of tags and of questions from GoEmotions, WNUT 17 and XQuAD.

    python -m assets.samples.make_tasks train.tsv labels.txt wnut17train.conll xquad.en.json [FOLDER]

The same sources give the same bytes: rows are taken in their order, from the first.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

NUM_COMMENTS = 2000
NUM_TWEETS = 2700
NUM_ARTICLES = 18
# Comments with such words, or shorter or longer than this, are left out of a file that anybody may open.
ROUGH = re.compile(
    r"fuck|shit|bitch|cunt|dick|cock|pussy|ass(hole|es)?\b|bastard|slut|whore|wank|crap|damn|nigg|fag|retard"
    r"|rape|porn|sex|kill|suicid|jerk|piss|tits|boob|jew|gay|trans\b|muslim|nazi|hitler|drug|stupid|idiot",
    re.IGNORECASE,
)
LENGTHS = (25, 160)


def comments(path: Path, names: list[str]) -> list[tuple[str, str]]:
    """Return (text, labels with | between them) of the first comments that may be shown to anybody."""
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        text, _, rest = line.partition("\t")
        text = " ".join(text.split())
        if ROUGH.search(text) or not LENGTHS[0] <= len(text) <= LENGTHS[1] or text in found:
            continue
        found[text] = "|".join(names[int(number)] for number in rest.split("\t")[0].split(","))
        if len(found) == NUM_COMMENTS:
            break
    return list(found.items())


def tweets(path: Path) -> str:
    """Return the first sentences that are not rough, tokens and tags as they stand, each once."""
    blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    kept: dict[str, str] = {}  # by their words
    for block in blocks:
        if not ROUGH.search(block):
            kept.setdefault(" ".join(line.split("\t")[0].lower() for line in block.split("\n")), block)
    return "\n\n".join(list(kept.values())[:NUM_TWEETS]) + "\n"


def main(train: Path, labels: Path, words: Path, questions: Path, folder: Path) -> None:
    names = labels.read_text(encoding="utf-8").split()
    with (folder / "emotions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("text", "labels"), *comments(train, names)])
    (folder / "names_in_tweets.conll").write_text(tweets(words), encoding="utf-8", newline="\n")
    document = json.loads(questions.read_text(encoding="utf-8"))
    document["data"] = document["data"][:NUM_ARTICLES]
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    (folder / "questions.json").write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    if len(given) not in (4, 5):
        sys.exit(__doc__)
    main(*given[:4], given[4] if given[4:] else Path(__file__).parent)
