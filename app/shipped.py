"""What ships with Cloze: sample tables, lectures and models, in assets/ or, once installed, in app/assets.

Everything is optional: a build without the models works, and says what is missing. What the samples are
called and what they show stands here, not beside them, so that it is collected for translation. What is shown
first, in the language of the window, is its story (`app/stories`).
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.stories.known import STORIES, language_here, story
from engine.errors import marked
from engine.hub.recommended import starters_for
from engine.language import ENGLISH
from engine.shipped import CHINESE_STARTER
from engine.text.roles import Roles

WORDS_A_MINUTE, LOOK_S = 130, 10  # read aloud; to look at the picture of a scene


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedTable:
    """A table that may be opened at once. title, size and words are marked, for `words.tr_engine`.

    size: its rows and its labels, as they are in the file. language: of its texts.
    """

    key: str
    file: str  # in assets/samples
    title: str
    size: str
    words: str
    roles: Roles
    licence: str
    language: str = ENGLISH

    @property
    def path(self) -> Path:
        return assets() / "samples" / self.file


@dataclass(frozen=True, slots=True)
class ShippedLecture:
    """A lecture that may be shown at once. title and words: in its language."""

    file: str  # in assets/lectures
    title: str
    words: str
    language: str = ENGLISH

    @property
    def path(self) -> Path:
        return assets() / "lectures" / self.file

    def length(self) -> tuple[int, int]:
        """Return how many scenes it has, and the minutes to read them aloud and to look at each.

        Reads its file; (0, 0) where that cannot be read.
        """
        try:
            scenes = json.loads(self.path.read_text(encoding="utf-8"))["scenes"]
            said = sum(num_words(f"{one['title']} {one['sentence']}") for one in scenes)
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0
        return len(scenes), max(1, round(said / WORDS_A_MINUTE + len(scenes) * LOOK_S / 60))


@cache
def assets() -> Path:
    """Return the folder of what ships with Cloze."""
    inside = Path(__file__).parent / "assets"
    return inside if inside.is_dir() else Path(__file__).parents[1] / "assets"


def num_words(text: str) -> int:
    """Return how many words it takes to read a text aloud; two Chinese characters count as one."""
    characters = sum("\u4e00" <= char <= "\u9fff" for char in text)
    return (
        len("".join(" " if "\u4e00" <= char <= "\u9fff" else char for char in text).split()) + characters // 2
    )


def home_table() -> ShippedTable:
    """Return the table to begin with, in the language of the window where its story has one."""
    return table_named(story().table.key)


def home_text() -> tuple[Path, str]:
    """Return the table to pretrain on, and its column."""
    key, column = story().text
    return table_named(key).path, column


def sample_data_path() -> Path:
    """Return the file of the table to begin with."""
    return home_table().path


def table_named(key: str) -> ShippedTable:
    """Return one of `TABLES`."""
    return next(one for one in TABLES if one.key == key)


def starter_model(script: str = "") -> Path | None:
    """Return the model that is ready to be looked into, or None in a build without it.

    Args: script: that it has to read, as `engine.text.languages` has them; "": English.
    """
    return next(filter(None, map(model_named, starters_for(script))), None)


def home_model() -> Path | None:
    """Return the starter model that reads the language of the window, else the English one."""
    return model_named(story().starter) or starter_model()


def chinese_model() -> Path | None:
    """Return the model that reads Chinese, or None in a build without it."""
    return model_named(CHINESE_STARTER)


def home_tuned_model() -> Path | None:
    """Return the classifier that reads the language of the window, or None in a build without it."""
    return model_named(story().classifier)


def tuned_model() -> Path | None:
    """Return the small model of the run after it was fine-tuned, or None in a build without it."""
    return model_named("tuned")


def chinese_tuned_model() -> Path | None:
    """Return the model that reads Chinese after it was fine-tuned, or None in a build without it."""
    return model_named("tuned-chinese")


def shipped_family() -> Path | None:
    """Return the small family that can be asked at once, or None in a build without it."""
    return next(iter(shipped_families()), None)


def shipped_families() -> tuple[Path, ...]:
    """Return the families that can be asked at once: the one in the language of the window first."""
    names = dict.fromkeys(one.family for one in (story(), *STORIES.values()))
    found = (assets() / "models" / name for name in names)
    return tuple(family for family in found if (family / "family.json").is_file())


def history_run() -> Path | None:
    """Return the small run whose weights were kept along the way, or None in a build without it."""
    run = assets() / "models" / "tiny"
    return run if (run / "config.toml").is_file() else None


def samples() -> tuple[ShippedTable, ...]:
    """Return the tables that ship with Cloze, those in the language of the window first."""
    found = [sample for sample in TABLES if sample.path.is_file()]
    return tuple(sorted(found, key=lambda sample: sample.language != language_here()))


def lectures() -> tuple[ShippedLecture, ...]:
    """Return the lectures that ship with Cloze in the language of the window."""
    return tuple(one for one in LECTURES if one.path.is_file() and one.language == language_here())


def other_lectures() -> tuple[ShippedLecture, ...]:
    """Return the lectures that ship with Cloze in other languages."""
    return tuple(one for one in LECTURES if one.path.is_file() and one.language != language_here())


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


def model_named(name: str) -> Path | None:
    """Return a model of assets/models, or None in a build without it."""
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
        title=marked("engine", "What is asked?"),
        size=marked("engine", "455 Chinese questions, 5 labels"),
        words=marked(
            "engine",
            "455 Chinese questions, labelled by rule with what they ask for: 时间 time, 数量 "
            "number, 人物 person, 地点 place, 原因 reason. With a Chinese vocabulary even a "
            "small new model learns it, in about ten epochs.",
        ),
        roles=Roles(text="question", label="label"),
        licence="CC BY-SA 4.0",
        language="zh",
    ),
    ShippedTable(
        key="chinese_question_passage",
        file="chinese_question_passage.csv",
        title=marked("engine", "Is it answered?"),
        size=marked("engine", "842 Chinese questions with passages, 2 labels"),
        words=marked(
            "engine",
            "842 Chinese questions, each with a passage from Wikipedia. It holds the answer, "
            "or comes from elsewhere in the article and does not. A pair of texts, two "
            "labels. It takes a pretrained Chinese model.",
        ),
        roles=Roles(text="question", text_pair="passage", label="label"),
        licence="CC BY-SA 4.0",
        language="zh",
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
        title=marked("engine", "Which character is wrong?"),
        size=marked("engine", "780 sentences of Chinese laws, with their right texts"),
        words=marked(
            "engine",
            "780 sentences of Chinese laws, each with its right text. A program put errors into "
            "389 of them: characters of the same sound. With batch size 16 and 10 epochs the "
            "Chinese starter, which has read some of the laws, gets a correction F1 of about 0.3.",
        ),
        roles=Roles(text="text", label="right"),
        licence="Apache-2.0",
        language="zh",
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
    ShippedTable(
        key="chinese_similarity",
        file="chinese_similarity.csv",
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
        language="zh",
    ),
    ShippedTable(
        key="chinese_tags",
        file="chinese_tags.conll",
        title=marked("engine", "Tags of words: parts of speech"),
        size=marked("engine", "500 Chinese sentences, tagged words"),
        words=marked(
            "engine",
            "500 Chinese sentences, each word with its part of speech, such as NOUN or VERB. With "
            "batch size 16 and 4 epochs the Chinese starter tags 82 % of the words right.",
        ),
        roles=Roles(text=""),
        licence="CC BY-SA 4.0",
        language="zh",
    ),
    ShippedTable(
        key="chinese_answers",
        file="chinese_answers.json",
        title=marked("engine", "Where is the answer?"),
        size=marked("engine", "435 Chinese questions, answers in passages"),
        words=marked(
            "engine",
            "435 Chinese questions about passages of Wikipedia, each with the words that answer it. It "
            "takes a larger pretrained model: the Chinese starter gets one answer in ten.",
        ),
        roles=Roles(text=""),
        licence="CC BY-SA 4.0",
        language="zh",
    ),
)

LECTURES = (
    ShippedLecture(
        "how-bert-reads.json",
        "How BERT reads a sentence",
        "From text to pieces, vectors, attention and a guess, every number real.",
    ),
    ShippedLecture(
        "from-counting-to-bert.json",
        "From counting to BERT",
        "Eight models, trained on one text, answer the same questions.",
    ),
    ShippedLecture(
        "what-fine-tuning-changes.json",
        "What fine-tuning changes",
        "One small model before and after it learned to separate praise from blame.",
    ),
    ShippedLecture(
        "how-bert-reads.zh.json",
        "BERT 如何读一个句子",
        "从文本到词片、向量、注意力，再到猜词，每个数都是真的。",
        "zh",
    ),
    ShippedLecture(
        "from-counting-to-bert.zh.json",
        "从计数到 BERT",
        "八个模型，用同一份文本训练，回答同样的问题。",
        "zh",
    ),
    ShippedLecture(
        "what-fine-tuning-changes.zh.json",
        "微调改变了什么",
        "一个小模型，学会分辨问题问的是什么之前和之后。",
        "zh",
    ),
)
