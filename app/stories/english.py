"""The story in English, and in every language that has none of its own."""

from __future__ import annotations

from app.stories.story import FamilyTexts, SampleGroup, SampleTable, SampleText, Story
from engine.errors import marked
from engine.family.sense_sentences import SENTENCES

STORY = Story(
    starter="starter",
    classifier="tuned",
    family="family",
    table=SampleTable(
        "polarity",
        marked("engine", "Film reviews"),
        epochs=2,
        asked=(
            "A warm, funny and beautifully acted film.",
            "The plot is dull, the jokes are stale and the ending is a mess.",
            "One of the most moving stories of the year.",
            "It is too long, too loud and never once surprising.",
            "An honest and touching portrait of a family.",
            "There is not a single idea in this lazy sequel.",
        ),
    ),
    text=("polarity", "text"),
    # one word is split, another is guessed well
    first=("The doctor asked the superstitious patient.", "doctor"),
    start=("The doctor said that the patient would feel better.", "doctor"),
    tour=("The children were playing in the garden.", "were"),
    pair=("The man went to the store.", "He bought a gallon of milk."),
    pair_words=(("man", "went", "store"), ("he", "bought", "gallon", "milk")),
    template=("{he|she} works as a [MASK].", "doctor, nurse, teacher, engineer"),
    pins=(
        "He was [born] in London in 1950.",
        "The team won the last [game] of the season.",
        "She opened the [door] and went into the house.",
        "The king and the [queen] lived in an old castle.",
        "The capital of France is [Paris].",
    ),
    family_texts=FamilyTexts(
        # The first was chosen among some 80 by a rule. BERT trained in practice guesses its word first, and
        # BERT of the family in the box ranks it higher than all who read the left side alone. Of those
        # sentences, it is the one of whose word the former is most certain.
        blanks=(
            ("The ____ was written by a French author.", "book"),
            ("The ____ flows into the sea.", "river"),
            ("He was born in ____ and moved to London.", "England"),
            ("She is the ____ of the king.", "queen"),
            ("The capital of France is ____.", "Paris"),
        ),
        senses=SENTENCES,
        near="river",
        analogy="man king woman",
        beginning="The city is",
        follows=("He was born in London.", "He moved to the city of New York in 1920."),
    ),
    sentences=(
        SampleGroup(
            marked("engine", "From the BERT paper"),
            (
                SampleText(
                    "my dog is hairy",
                    marked(
                        "engine",
                        "The BERT paper’s own example of masking. Mask “hairy” and see which words "
                        "the model expects.",
                    ),
                ),
                SampleText(
                    "my dog is cute",
                    pair="he likes playing",
                    words=marked(
                        "engine",
                        "The pair in the BERT paper’s picture of the input: words, segments and positions.",
                    ),
                ),
            ),
        ),
        SampleGroup(
            marked("engine", "One word, several senses"),
            (
                SampleText(
                    "He sat on the bank by the river.",
                    marked("engine", "The bank by the river: here it is land."),
                ),
                SampleText(
                    "He put his money in the bank by the river.",
                    marked(
                        "engine",
                        "The same words, “the bank by the river”, but here it is where money is kept.",
                    ),
                ),
                SampleText(
                    "She deposited the money at the bank.", marked("engine", "Bank: where money is kept.")
                ),
                SampleText(
                    "The pilot had to bank the plane to the left.",
                    marked("engine", "Bank as a verb: to lean to one side."),
                ),
                SampleText(
                    "You can bank on her help.", marked("engine", "Bank as a verb: to rely on somebody.")
                ),
            ),
        ),
        SampleGroup(
            marked("engine", "Pairs: does B follow A?"),
            (
                SampleText(
                    "The man went to the store.",
                    pair="He bought a gallon of milk.",
                    words=marked(
                        "engine", "Two sentences that belong together. The second follows the first."
                    ),
                ),
                SampleText(
                    "The man went to the store.",
                    pair="Penguins are flightless birds.",
                    words=marked(
                        "engine",
                        "Two sentences that do not belong together. The second comes from somewhere else.",
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
            ),
        ),
        SampleGroup(
            marked("engine", "Words to guess"),
            (
                SampleText(
                    "He was born in the united [MASK].", marked("engine", "One mask, and few words that fit.")
                ),
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
                    marked(
                        "engine",
                        "The mask belongs to the chef at the beginning, not to the store next to it.",
                    ),
                ),
                SampleText(
                    "The doctor called the nurse because [MASK] needed help.",
                    marked(
                        "engine",
                        "Who needs help? The answer shows what a model takes for granted about "
                        "men and women.",
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
            ),
        ),
        SampleGroup(
            marked("engine", "Grammar, reference"),
            (
                SampleText(
                    "The animal did not cross the street because it was too tired.",
                    marked("engine", "“It” is the animal. See where “it” attends to."),
                ),
                SampleText(
                    "The animal did not cross the street because it was too wide.",
                    marked("engine", "“It” is the street. Only the last word has changed."),
                ),
                SampleText(
                    "Time flies like an arrow.",
                    marked("engine", "“Flies” is what time does, “like” compares."),
                ),
                SampleText(
                    "Fruit flies like a banana.",
                    marked("engine", "“Flies” are insects, “like” is what they do."),
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
            ),
        ),
        SampleGroup(
            marked("engine", "How text becomes pieces"),
            (
                SampleText(
                    "It was an unbelievably antidisestablishmentarian speech.",
                    marked(
                        "engine",
                        "Long words are split into WordPieces. ## marks a piece that continues a word.",
                    ),
                ),
                SampleText(
                    "The café served crème brûlée to Zoë.",
                    marked(
                        "engine", "An uncased vocabulary drops capitals and accents before it splits words."
                    ),
                ),
                SampleText(
                    "On 12/10/2024 at 3.45 p.m. we paid $19.99!",
                    marked("engine", "Every punctuation mark is a separate piece, even inside numbers."),
                ),
                SampleText(
                    "In 2026 Zoë PAID 3 euros for 我爱看电影 👍🏽!",
                    marked(
                        "engine",
                        "Numbers, accents, capitals, Chinese and an emoji: compare vocabularies "
                        "side by side.",
                    ),
                ),
                SampleText(
                    "我每天 playing 足球。", marked("engine", "Two scripts in one text, split by two rules.")
                ),
                SampleText(
                    "我爱吃饭",
                    marked(
                        "engine",
                        "Chinese is split into single characters. An English vocabulary lacks most of these.",
                    ),
                ),
                SampleText(
                    "我把钱存在银行里。",
                    marked("engine", "Chinese without spaces: 银行, the bank, is two pieces."),
                ),
            ),
        ),
    ),
)
