"""Sentences that ship with the demonstrations: a word of two senses, and topics to tell apart.

In English and in Chinese; which are shown depends on what a vocabulary can read.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class ExampleSenses:
    """A word and sentences that use it, each with the name of its sense."""

    word: str
    sentences: tuple[tuple[str, str], ...]  # sense, sentence


@dataclass(frozen=True, slots=True)
class Topics:
    """Sentences, each with the name of its topic."""

    sentences: tuple[tuple[str, str], ...]  # topic, sentence


BANK = ExampleSenses(
    "bank",
    (
        ("money", "He put his money in the bank."),
        ("money", "The bank raised its interest rates."),
        ("money", "She works at a bank in town."),
        ("money", "The bank refused the loan."),
        ("money", "I opened an account at the bank."),
        ("money", "The bank closed my account."),
        ("river", "They fished from the bank."),
        ("river", "The river broke its bank."),
        ("river", "Trees grew along the bank of the stream."),
        ("river", "The boat drifted towards the muddy bank."),
        ("river", "The flood washed away the bank."),
        ("river", "We met at the bank."),
    ),
)
APPLE = ExampleSenses(
    "苹果",
    (
        ("水果", "她在市场买了三斤苹果。"),
        ("水果", "这个苹果又甜又脆。"),
        ("水果", "院子里的苹果树开花了。"),
        ("水果", "每天吃一个苹果对身体好。"),
        ("水果", "妈妈把苹果切成了小块。"),
        ("水果", "孩子们在树下捡苹果。"),
        ("公司", "苹果发布了新款手机。"),
        ("公司", "苹果的股价昨天上涨了。"),
        ("公司", "他在苹果担任软件工程师。"),
        ("公司", "苹果公司今年的利润下降了。"),
        ("公司", "苹果昨天起诉了另一家公司。"),
        ("公司", "我在苹果的网站上买了电脑。"),
    ),
)
TOPICS = Topics(
    (
        ("weather", "It rained all day and the streets were flooded."),
        ("weather", "Heavy snow is expected in the mountains tonight."),
        ("weather", "The sun came out after the storm had passed."),
        ("weather", "Strong winds brought down trees along the coast."),
        ("weather", "A thick fog covered the valley this morning."),
        ("weather", "The summer was the hottest and driest in years."),
        ("food", "She fried the onions in butter until they were brown."),
        ("food", "The soup needs more salt and a little pepper."),
        ("food", "We had bread, cheese and olives for lunch."),
        ("food", "He baked an apple cake for the guests."),
        ("food", "The restaurant serves fresh fish with rice."),
        ("food", "Boil the potatoes and mash them with milk."),
        ("sport", "The home team scored twice in the second half."),
        ("sport", "She won the race in a new record time."),
        ("sport", "The goalkeeper saved a penalty in the last minute."),
        ("sport", "He lost the tennis match in three sets."),
        ("sport", "The coach was pleased with his young players."),
        ("sport", "The cyclists finished the final stage in Paris."),
        ("music", "The orchestra played a symphony by Mozart."),
        ("music", "She sings in a choir and plays the piano."),
        ("music", "The band released a new album last week."),
        ("music", "He tuned his guitar before the concert."),
        ("music", "The song was written for two violins and a cello."),
        ("music", "The singer forgot the words of the second verse."),
        ("health", "The doctor told him to stay in bed for a week."),
        ("health", "She took a pill against her headache."),
        ("health", "The nurse changed the bandage twice a day."),
        ("health", "The patient recovered quickly after the operation."),
        ("health", "He caught a cold and lost his voice."),
        ("health", "A new vaccine protects children from the disease."),
        ("travel", "The train to the airport leaves in ten minutes."),
        ("travel", "They booked a small hotel near the beach."),
        ("travel", "Our flight was cancelled and we missed the ferry."),
        ("travel", "The bus drove through the old town to the station."),
        ("travel", "She packed her suitcase and looked for her passport."),
        ("travel", "We crossed the border by car late at night."),
    )
)
TOPICS_CHINESE = Topics(
    (
        ("天气", "昨天下了一整天的雨，街道都积水了。"),
        ("天气", "今晚山区预计会有大雪。"),
        ("天气", "暴风雨过后太阳出来了。"),
        ("天气", "今天早上山谷里起了浓雾。"),
        ("饮食", "她用黄油把洋葱炒成了金黄色。"),
        ("饮食", "这碗汤还需要加一点盐。"),
        ("饮食", "我们午饭吃了米饭和炒青菜。"),
        ("饮食", "他为客人做了一条红烧鱼。"),
        ("体育", "主队在下半场进了两个球。"),
        ("体育", "她以新的纪录赢得了比赛。"),
        ("体育", "守门员在最后一分钟扑出了点球。"),
        ("体育", "教练对年轻的队员很满意。"),
        ("音乐", "乐团演奏了莫扎特的交响曲。"),
        ("音乐", "她会弹钢琴，还在合唱团唱歌。"),
        ("音乐", "乐队上周发行了新专辑。"),
        ("音乐", "演唱会开始前他给吉他调了音。"),
        ("健康", "医生让他卧床休息一个星期。"),
        ("健康", "她头疼，吃了一片药。"),
        ("健康", "病人手术后恢复得很快。"),
        ("健康", "护士每天给他换两次药。"),
    )
)


def reads_english(wordpiece: Tokenizer) -> bool:
    """Whether a vocabulary knows the words of the English sentences; the Chinese ones are shown otherwise."""
    return _known(wordpiece, TOPICS) >= _known(wordpiece, TOPICS_CHINESE)


def senses_for(wordpiece: Tokenizer) -> ExampleSenses:
    """Return the word of two senses that a vocabulary can read."""
    return BANK if reads_english(wordpiece) else APPLE


def topics_for(wordpiece: Tokenizer) -> Topics:
    """Return the sentences of several topics that a vocabulary can read."""
    return TOPICS if reads_english(wordpiece) else TOPICS_CHINESE


def _known(wordpiece: Tokenizer, topics: Topics) -> float:
    """Return the share of words that are one piece of the vocabulary, 0..1."""
    texts = [ids.tolist() for ids in wordpiece.encode_ids([sentence for _, sentence in topics.sentences])]
    whole: int = sum(
        number != wordpiece.unk_id and not goes_on
        for ids in texts
        for number, goes_on in zip(ids, wordpiece.continues(ids), strict=True)
    )
    return float(whole / max(1, sum(map(len, texts))))
