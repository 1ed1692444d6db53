"""What ships with Cloze: sample tables, sentences and models, in assets/ or, once installed, in app/assets.

Everything is optional: a build without the models works, and says what is missing. What the samples are
called and what they show stands here, not beside them, so that it is collected for translation.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.errors import marked
from engine.hub.recommended import starters_for
from engine.language import spoken_language
from engine.shipped import CHINESE_STARTER
from engine.text.roles import Roles

WORDS_A_MINUTE, LOOK_S = 130, 10  # read aloud; to look at the picture of a scene


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedTable:
    """A table that may be opened at once. title, size and words are marked, for `words.tr_engine`.

    size: its rows and its labels, as they are in the file.
    """

    key: str
    file: str  # in assets/samples
    title: str
    size: str
    words: str
    roles: Roles
    licence: str

    @property
    def path(self) -> Path:
        return assets() / "samples" / self.file


@dataclass(frozen=True, slots=True)
class SampleText:
    """A sentence or pair to look at, and what it shows: marked, for `words.tr_engine`."""

    text: str
    words: str
    pair: str = ""


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Sentences that show the same kind of thing. title: marked, for `words.tr_engine`."""

    title: str
    texts: tuple[SampleText, ...]


@dataclass(frozen=True, slots=True)
class ShippedLecture:
    """A lecture that may be shown at once. title and words are marked, for `words.tr_engine`."""

    file: str  # in assets/lectures
    title: str
    words: str

    @property
    def path(self) -> Path:
        return assets() / "lectures" / self.file

    def length(self) -> tuple[int, int]:
        """Return how many scenes it has, and the minutes to read them aloud and to look at each.

        Reads its file; (0, 0) where that cannot be read.
        """
        try:
            scenes = json.loads(self.path.read_text(encoding="utf-8"))["scenes"]
            said = sum(len(f"{one['title']} {one['sentence']}".split()) for one in scenes)
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0
        return len(scenes), max(1, round(said / WORDS_A_MINUTE + len(scenes) * LOOK_S / 60))


@cache
def assets() -> Path:
    """Return the folder of what ships with Cloze."""
    inside = Path(__file__).parent / "assets"
    return inside if inside.is_dir() else Path(__file__).parents[1] / "assets"


def sample_data_path() -> Path:
    """Return the sentences that ship with Cloze (Pang and Lee 2005, CC BY 4.0)."""
    return assets() / "samples" / "sentence_polarity.csv"


def starter_model(script: str = "") -> Path | None:
    """Return the model that is ready to be looked into, or None in a build without it.

    Args: script: that it has to read, as `engine.text.languages` has them; "": English.
    """
    return next(filter(None, map(_model, starters_for(script))), None)


def home_model() -> Path | None:
    """Return the starter model that reads the language of the window, else the English one."""
    return (chinese_model() if speaks_chinese() else None) or starter_model()


def speaks_chinese() -> bool:
    """Whether the window speaks Chinese: what it shows first is then in Chinese, too."""
    return spoken_language().partition("_")[0] == "zh"


def chinese_model() -> Path | None:
    """Return the model that reads Chinese, or None in a build without it."""
    return _model(CHINESE_STARTER)


def tuned_model() -> Path | None:
    """Return the small model of the run after it was fine-tuned, or None in a build without it."""
    return _model("tuned")


def chinese_tuned_model() -> Path | None:
    """Return the model that reads Chinese after it was fine-tuned, or None in a build without it."""
    return _model("tuned-chinese")


def shipped_family() -> Path | None:
    """Return the small family that can be asked at once, or None in a build without it."""
    return next(iter(shipped_families()), None)


def shipped_families() -> tuple[Path, ...]:
    """Return the families that can be asked at once: the one in the language of the window first."""
    names = ("family", "family-chinese")
    found = (assets() / "models" / name for name in (names[::-1] if speaks_chinese() else names))
    return tuple(family for family in found if (family / "family.json").is_file())


def history_run() -> Path | None:
    """Return the small run whose weights were kept along the way, or None in a build without it."""
    run = assets() / "models" / "tiny"
    return run if (run / "config.toml").is_file() else None


def samples() -> tuple[ShippedTable, ...]:
    """Return the tables that ship with Cloze."""
    return tuple(sample for sample in TABLES if sample.path.is_file())


def lectures() -> tuple[ShippedLecture, ...]:
    """Return the lectures that ship with Cloze."""
    return tuple(lecture for lecture in LECTURES if lecture.path.is_file())


def sample_sentences() -> tuple[SampleText, ...]:
    """Return sentences and pairs to look at."""
    return SENTENCES


def sample_groups() -> tuple[SampleGroup, ...]:
    """Return the same sentences under headings; a heading stands before the sentence that it is kept with."""
    groups: list[tuple[str, list[SampleText]]] = []
    for one in SENTENCES:
        heading = HEADINGS.get(one.text + one.pair)
        if heading is not None or not groups:
            groups.append((heading or "", []))
        groups[-1][1].append(one)
    return tuple(SampleGroup(title, tuple(texts)) for title, texts in groups)


@cache
def sample_passages() -> tuple[tuple[str, ...], ...]:
    """Return passages of Wikipedia, those of each language together; read from the disk at the first call."""
    files = ("question_passage.csv", "chinese_question_passage.csv")
    return tuple(_passages(assets() / "samples" / name) for name in files)


def _passages(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(dict.fromkeys(row["passage"] for row in csv.DictReader(file)))


def _model(name: str) -> Path | None:
    folder = assets() / "models" / name
    return folder if (folder / "config.json").is_file() else None


TABLES = (
    ShippedTable(
        key="polarity",
        file="sentence_polarity.csv",
        title=marked("engine", "Film reviews: for or against"),
        size=marked("engine", "10,662 sentences, 2 labels"),
        words=marked(
            "engine",
            "10,662 sentences from film reviews, half of them favourable. One text, two "
            "labels: the usual first classifier.",
        ),
        roles=Roles(text="text", label="label"),
        licence="CC BY 4.0",
    ),
    ShippedTable(
        key="question_passage",
        file="question_passage.csv",
        title=marked("engine", "Is the question answered?"),
        size=marked("engine", "922 questions with passages, 2 labels"),
        words=marked(
            "engine",
            "922 questions, each with a passage from Wikipedia. It holds the answer, or "
            "comes from another paragraph of the same article and does not. A pair of texts, "
            "two labels. A pretrained model learns it in a minute, random weights do not.",
        ),
        roles=Roles(text="question", text_pair="passage", label="label"),
        licence="CC BY-SA 4.0",
    ),
    ShippedTable(
        key="chinese_questions",
        file="chinese_questions.csv",
        title=marked("engine", "Chinese: what is asked?"),
        size=marked("engine", "455 Chinese questions, 5 labels"),
        words=marked(
            "engine",
            "455 Chinese questions, labelled by rule with what they ask for: 时间 time, 数量 "
            "number, 人物 person, 地点 place, 原因 reason. With a Chinese vocabulary even a "
            "small new model learns it, in about ten epochs.",
        ),
        roles=Roles(text="question", label="label"),
        licence="CC BY-SA 4.0",
    ),
    ShippedTable(
        key="chinese_question_passage",
        file="chinese_question_passage.csv",
        title=marked("engine", "Chinese: is it answered?"),
        size=marked("engine", "842 Chinese questions with passages, 2 labels"),
        words=marked(
            "engine",
            "842 Chinese questions, each with a passage from Wikipedia. It holds the answer, "
            "or comes from elsewhere in the article and does not. A pair of texts, two "
            "labels. It takes a pretrained Chinese model.",
        ),
        roles=Roles(text="question", text_pair="passage", label="label"),
        licence="CC BY-SA 4.0",
    ),
    ShippedTable(
        key="emotions",
        file="emotions.csv",
        title=marked("engine", "Several labels: which emotions?"),
        size=marked("engine", "2,000 comments from Reddit, 7 labels"),
        words=marked(
            "engine",
            "2,000 comments from Reddit, each with one or more of seven emotions. Some have "
            "two or three. People labelled them, and often disagree, so a micro F1 of 0.6 is "
            "good.",
        ),
        roles=Roles(text="text", label="labels"),
        licence="CC BY 4.0",
    ),
    ShippedTable(
        key="similarity",
        file="similarity.csv",
        title=marked("engine", "A number: how similar are they?"),
        size=marked("engine", "64 pairs, a number each"),
        words=marked(
            "engine",
            "64 pairs of sentences with their similarity, 0 to 5. Written for Cloze, and "
            "rated by feel. That is enough to try how a number is learned, but too few to "
            "train on.",
        ),
        roles=Roles(text="sentence1", text_pair="sentence2", label="score"),
        licence="Apache-2.0",
    ),
    ShippedTable(
        key="endings",
        file="endings.csv",
        title=marked("engine", "Multiple choice: how does it continue?"),
        size=marked("engine", "96 texts, 4 endings each"),
        words=marked(
            "engine",
            "96 texts of everyday life with four endings each, of which one continues the "
            "text. Written for Cloze. By chance one answer in four is right. The starter "
            "gets about six in ten with batch size 8 and 10 epochs.",
        ),
        roles=Roles(text="text", label="label", choices=("ending1", "ending2", "ending3", "ending4")),
        licence="Apache-2.0",
    ),
    ShippedTable(
        key="corrections",
        file="chinese_corrections.csv",
        title=marked("engine", "Chinese: which character is wrong?"),
        size=marked("engine", "780 sentences of Chinese laws, with their right texts"),
        words=marked(
            "engine",
            "780 sentences of Chinese laws, each with its right text. A program put errors into "
            "389 of them: characters of the same sound. With batch size 16 and 10 epochs the "
            "Chinese starter, which has read some of the laws, gets a correction F1 of about 0.3.",
        ),
        roles=Roles(text="text", label="right"),
        licence="Apache-2.0",
    ),
    ShippedTable(
        key="names",
        file="names_in_tweets.conll",
        title=marked("engine", "Tags of words: names in tweets"),
        size=marked("engine", "2,700 tweets, tagged words"),
        words=marked(
            "engine",
            "2,700 tweets with tagged words: persons, places, groups, products and works. "
            "Good models find half of the names. The starter nears that with batch size 16 "
            "and 4 epochs. With 32 and 3 it finds one in ten.",
        ),
        roles=Roles(text=""),
        licence="CC BY 4.0",
    ),
    ShippedTable(
        key="questions",
        file="questions.json",
        title=marked("engine", "Questions: where is the answer?"),
        size=marked("engine", "493 questions, answers in passages"),
        words=marked(
            "engine",
            "493 questions about passages of 18 Wikipedia articles, each with the words that "
            "answer it. A pretrained model learns it, random weights do not.",
        ),
        roles=Roles(text=""),
        licence="CC BY-SA 4.0",
    ),
)

LECTURES = (
    ShippedLecture(
        "how-bert-reads.json",
        marked("engine", "How BERT reads a sentence"),
        marked("engine", "From text to pieces, vectors, attention and a guess, every number real."),
    ),
    ShippedLecture(
        "from-counting-to-bert.json",
        marked("engine", "From counting to BERT"),
        marked("engine", "Eight models, trained on one text, answer the same questions."),
    ),
    ShippedLecture(
        "what-fine-tuning-changes.json",
        marked("engine", "What fine-tuning changes"),
        marked("engine", "One small model before and after it learned to separate praise from blame."),
    ),
)

SENTENCES = (
    SampleText(
        "my dog is hairy",
        marked(
            "engine",
            "The BERT paper’s own example of masking. Mask “hairy” and see which words the model expects.",
        ),
    ),
    SampleText(
        "my dog is cute",
        pair="he likes playing",
        words=marked(
            "engine", "The pair in the BERT paper’s picture of the input: words, segments and positions."
        ),
    ),
    SampleText(
        "He sat on the bank by the river.", marked("engine", "The bank by the river: here it is land.")
    ),
    SampleText(
        "He put his money in the bank by the river.",
        marked("engine", "The same words, “the bank by the river”, but here it is where money is kept."),
    ),
    SampleText("She deposited the money at the bank.", marked("engine", "Bank: where money is kept.")),
    SampleText(
        "The pilot had to bank the plane to the left.",
        marked("engine", "Bank as a verb: to lean to one side."),
    ),
    SampleText("You can bank on her help.", marked("engine", "Bank as a verb: to rely on somebody.")),
    SampleText(
        "The man went to the store.",
        pair="He bought a gallon of milk.",
        words=marked("engine", "Two sentences that belong together. The second follows the first."),
    ),
    SampleText(
        "The man went to the store.",
        pair="Penguins are flightless birds.",
        words=marked(
            "engine", "Two sentences that do not belong together. The second comes from somewhere else."
        ),
    ),
    SampleText(
        "The river flows through the city of London.",
        pair="It is the longest river in England.",
        words=marked("engine", "A pair where “it” must be the river."),
    ),
    SampleText(
        "The river flows through the city of London.",
        pair="The recipe needs two eggs and some butter.",
        words=marked("engine", "A pair without a link between its halves."),
    ),
    SampleText("He was born in the united [MASK].", marked("engine", "One mask, and few words that fit.")),
    SampleText(
        "The king and the [MASK] had two children.",
        marked("engine", "One mask, filled from what the word before it suggests."),
    ),
    SampleText(
        "Water is made of hydrogen and [MASK].",
        marked("engine", "A fact that a model may have picked up from its texts."),
    ),
    SampleText(
        "He was born in [MASK] and she was born in [MASK].",
        marked("engine", "Two masks: filled one at a time, or together."),
    ),
    SampleText(
        "The keys to the cabinet [MASK] on the table.",
        marked("engine", "Agreement across a distance: the keys are there, not the cabinet."),
    ),
    SampleText(
        "The chef who ran to the store [MASK] out of food.",
        marked("engine", "The mask belongs to the chef at the beginning, not to the store next to it."),
    ),
    SampleText(
        "The doctor called the nurse because [MASK] needed help.",
        marked(
            "engine", "Who needs help? The answer shows what a model takes for granted about men and women."
        ),
    ),
    SampleText(
        "A robin is a [MASK].",
        marked("engine", "Compare with the next one: one word makes all the difference."),
    ),
    SampleText(
        "A robin is not a [MASK].",
        marked("engine", "Small models often expect the same words with “not” as without it."),
    ),
    SampleText(
        "The animal did not cross the street because it was too tired.",
        marked("engine", "“It” is the animal. See where “it” attends to."),
    ),
    SampleText(
        "The animal did not cross the street because it was too wide.",
        marked("engine", "“It” is the street. Only the last word has changed."),
    ),
    SampleText("Time flies like an arrow.", marked("engine", "“Flies” is what time does, “like” compares.")),
    SampleText(
        "Fruit flies like a banana.", marked("engine", "“Flies” are insects, “like” is what they do.")
    ),
    SampleText(
        "I saw the man with the telescope.",
        marked("engine", "Who has the telescope? The sentence does not say."),
    ),
    SampleText(
        "The horse raced past the barn fell.",
        marked("engine", "Most readers stumble over the last word. Does a model stumble too?"),
    ),
    SampleText(
        "The film was not good at all.",
        marked("engine", "One small word turns praise into its opposite."),
    ),
    SampleText(
        "It was an unbelievably antidisestablishmentarian speech.",
        marked("engine", "Long words are split into WordPieces. ## marks a piece that continues a word."),
    ),
    SampleText(
        "The café served crème brûlée to Zoë.",
        marked("engine", "An uncased vocabulary drops capitals and accents before it splits words."),
    ),
    SampleText(
        "On 12/10/2024 at 3.45 p.m. we paid $19.99!",
        marked("engine", "Every punctuation mark is a separate piece, even inside numbers."),
    ),
    SampleText(
        "In 2026 Zoë PAID 3 euros for 我爱看电影 👍🏽!",
        marked(
            "engine", "Numbers, accents, capitals, Chinese and an emoji: compare vocabularies side by side."
        ),
    ),
    SampleText("我每天 playing 足球。", marked("engine", "Two scripts in one text, split by two rules.")),
    SampleText(
        "我爱吃饭",
        marked(
            "engine", "Chinese is split into single characters. An English vocabulary lacks most of these."
        ),
    ),
    SampleText(
        "我把钱存在银行里。", marked("engine", "Chinese without spaces: 银行, the bank, is two pieces.")
    ),
)

HEADINGS = {  # by the sentence, with its pair, that a group begins with
    "my dog is hairy": marked("engine", "From the BERT paper"),
    "He sat on the bank by the river.": marked("engine", "One word, several senses"),
    "The man went to the store." + "He bought a gallon of milk.": marked("engine", "Pairs: does B follow A?"),
    "He was born in the united [MASK].": marked("engine", "Words to guess"),
    "The animal did not cross the street because it was too tired.": marked("engine", "Grammar, reference"),
    "It was an unbelievably antidisestablishmentarian speech.": marked("engine", "How text becomes pieces"),
}
