"""Questions to begin with, in the language of a family: English words, or Chinese characters."""

from __future__ import annotations

from app.pages.family.requests import ANALOGY, FILL, FOLLOWS, NEAREST, SENSES, WRITE
from engine.family.senses import SENTENCES

BLANKS = {  # by whether a family is Chinese: sentences and the right word
    False: (
        ("The ____ flows into the sea.", "river"),
        ("He was born in ____ and moved to London.", "england"),
        ("She is the ____ of the king.", "queen"),
        ("The capital of France is ____.", "paris"),
    ),
    True: (
        ("中华人民共____国", "和"),
        ("本条例由国务____负责解释。", "院"),
        ("依法追究刑事责____。", "任"),
        ("县级以上地方人民政____", "府"),
    ),
}
SENSES_ZH: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "行": (
        ("中国人民银行负责管理外汇。", "商业银行应当保护存款人的利益。", "他在银行存了钱。"),
        ("行政机关应当依法办理。", "当事人可以申请行政复议。", "国家行政机关工作人员应当回避。"),
    )
}
WORDS: dict[bool, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    False: dict(SENTENCES),
    True: SENSES_ZH,
}
FIRST = {
    False: {
        FILL: BLANKS[False][0][0],
        WRITE: "The city is",
        NEAREST: "river",
        SENSES: "bank",
        ANALOGY: "man king woman",
        FOLLOWS: "He was born in London.",
    },
    True: {
        FILL: BLANKS[True][0][0],
        WRITE: "国务院",
        NEAREST: "省",
        SENSES: "行",
        ANALOGY: "东 西 南",
        FOLLOWS: "第一条为了保护环境，制定本法。",
    },
}
SECOND = {
    False: "He moved to the city of New York in 1920.",
    True: "第二条本法适用于中华人民共和国领域。",
}


def sentences_of(word: str, is_chinese: bool) -> str:
    """Return a word's sentences, a line each, an empty line between its senses."""
    return "\n\n".join("\n".join(group) for group in WORDS[is_chinese][word])
