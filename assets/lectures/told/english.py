"""The lectures in English, with the English starter, family and classifier."""

from __future__ import annotations

from assets.lectures.told.parts import Counting, Reading, Tuning
from engine.family.sense_sentences import SENTENCES

_BANK = "He put his money in the bank by the river."

READING = Reading(
    file="how-bert-reads.json",
    title="How BERT reads a sentence",
    model="starter",
    cut="It was an unbelievably antidisestablishmentarian speech.",
    torn="antidisestablishmentarian",
    main=_BANK,
    piece="bank",
    before=(1, 3),
    after=(2, 9),
    guessed=("He was born in the united states.", "states"),
    grammar=("The keys to the cabinet were on the table.", "were"),
    forms=("are", "were", "is"),
    both=(_BANK, "bank"),
    left="He put his money in the bank.",
    first="The river flows through the city of London.",
    next="It is the longest river in England.",
    other="The recipe needs two eggs and some butter.",
    said={
        "pieces": (
            "A word becomes pieces",
            "BERT writes with {vocabulary} pieces. A word that is not one of them is split, from the left, "
            "into the longest pieces that are, here into {cut}. ## marks one that continues a word.",
        ),
        "row": (
            "A text becomes a row of numbers",
            "[CLS] comes before it and [SEP] after it: {tokens} pieces. From here on only their numbers "
            "count.",
        ),
        "sum": (
            "A piece begins as a sum of three vectors",
            "One for the piece, one for its position, one for its sentence: three learned vectors of {width} "
            "numbers, added number by number.",
        ),
        "qkv": (
            "Query, key and value",
            "Each head makes three short vectors of every piece, {narrow} numbers each: what it looks for, "
            "what it is found by, and what it passes on.",
        ),
        "softmax": (
            "Softmax turns scores into shares",
            "The query of “{piece}” times every key gives scores. Softmax turns them into shares that add up "
            "to 1. Here {share} goes to “{neighbour}”, the piece before.",
        ),
        "before": (
            "This head looks one piece back",
            "The same head for every piece of the sentence: on average {back} of its attention goes to the "
            "piece before.",
        ),
        "after": (
            "Another looks one piece ahead",
            "BERT also sees what is on the right. Layer {layer}, head {head} learned to look there on its "
            "own: {ahead}.",
        ),
        "heads": (
            "{heads} heads, and many look at [CLS]",
            "{layers} layers of {each} heads. In {num_cls} of them, more than half of the words’ attention "
            "goes to [CLS]. It is thought to be where a head looks when there is nothing to find.",
        ),
        "guess": (
            "How it learned: a masked word",
            "Replace a word with [MASK], and BERT guesses it from all the others. Here “{one}” comes first, "
            "with {chance}. “{two}” and “{three}” follow.",
        ),
        "layers": (
            "Layer by layer",
            "What each layer would guess if it were the last: “{one}” comes first from layer {from_layer} "
            "on.",
        ),
        "grammar": (
            "Grammar, by guessing alone",
            "The keys are on the table, not the cabinet. “{forms[0]}” comes first, and “{forms[1]}” before "
            "“{forms[2]}”.",
        ),
        "both": (
            "Both sides count",
            "The first guess is “{decided}”, a word on the right. Without “by the river” it is not among "
            "the first ten.",
        ),
        "next": (
            "Does the second sentence follow the first?",
            "The other thing it learned: it says that these two belong together, with {follows}.",
        ),
        "other": (
            "And when it does not?",
            "The same first sentence, followed by one from elsewhere. Now it says rather not: {not_follows}.",
        ),
    },
)

COUNTING = Counting(
    file="from-counting-to-bert.json",
    title="From counting to BERT",
    family="family",
    model="starter",
    begun=("The [MASK] flows into the sea.", "river"),
    blank=("The capital of [MASK] is paris.", "france"),
    bag=("She is the [MASK] of the king.", "queen"),
    near="river",
    beginning="The city is",
    sense=("bank", SENTENCES["bank"]),
    practice=False,
    word="bank",
    sentences=(
        ("money", "She deposited the check at the bank before noon."),
        ("money", "The bank raised its interest rates again."),
        ("money", "He asked the bank for a loan to buy a house."),
        ("money", "The bank closed my account without notice."),
        ("river", "They sat on the bank of the river and fished."),
        ("river", "The boat drifted towards the muddy bank."),
        ("river", "Trees grew along the bank of the stream."),
        ("river", "The flood washed away part of the bank."),
    ),
    group="sense",
    said={
        "eight": (
            "Eight models, one question",
            "The oldest is on the left. All were trained on one text, for {minutes} minutes or less. Each "
            "column says what its model may see.",
        ),
        "counts": (
            "Counting: only what comes before",
            "The n-gram counted which word came after others. “{rest}” comes after the blank. Without it, "
            "the guess is “{ngram}” all the same.",
        ),
        "vectors": (
            "Words become vectors",
            "Counts know no similarity, vectors do. The word nearest to “{near}” is “{cbow}” for CBOW, "
            "“{skipgram}” for skip-gram and “{glove}” for GloVe.",
        ),
        "bag": (
            "Neighbours in a bag",
            "CBOW sees both sides and says “{bag}” first. But it sees them without their order. Backwards "
            "it says “{bag}” all the same.",
        ),
        "senses": (
            "One word, one vector?",
            "“{sense}” in {num_sense} sentences. NNLM, CBOW, skip-gram and GloVe have one vector for all of "
            "them. In ELMo, GPT and BERT the sentence changes it.",
        ),
        "write": (
            "From the left, one can write",
            "A model that predicts the next word can continue a text: the n-gram, NNLM, ELMo’s left half and "
            "GPT. After {minutes} minutes of training, none writes well.",
        ),
        "both": (
            "BERT: both sides, in order",
            "GPT reads only “{seen}” here. For it, “{right}” is number {gpt}. For ELMo, one half from each "
            "side, it is number {elmo}, and for BERT, which reads everything at once, number {bert}. Over "
            "500 sentences GPT fills {filled[gpt]}, BERT {filled[bert]}, ELMo {filled[elmo]}.",
        ),
        "cannot": (
            "What BERT cannot do",
            "It does not write, and it guesses each of two masked words without knowing the other. Its "
            "column says so on this sentence.",
        ),
        "card": (
            "All questions on one card",
            "One sentence proves little. Over hundreds, ELMo and BERT, which read both sides in order, fill "
            "{filled[elmo]} and {filled[bert]}. Those that read the left side alone fill at most {left}.",
        ),
        "one": (
            "A BERT that read far more: “{word}” as one word",
            "{num_word} sentences, before the first layer: {own_before} of them have their nearest neighbour "
            "in their own sense. Only the word’s position in its sentence separates these points, so some "
            "overlap.",
        ),
        "two": (
            "… and as two senses",
            "After the last layer it is {own_after} of the {num_word}. The other words decided which "
            "{word} is meant.",
        ),
    },
)

TUNING = Tuning(
    file="what-fine-tuning-changes.json",
    title="What fine-tuning changes",
    before="tiny/model",
    after="tuned",
    blank="The film was released in the united [MASK].",
    text="an original and moving film, full of warmth and humor.",
    meaning={"pos": "praise", "neg": "blame"},
    score="{score} for {label}",
    of="200 held-out film reviews",
    group="label",
    card="## Tuned",
    of_each=100,
    said={
        "guesses": (
            "Before: it guesses words",
            "This small model was trained on Wikipedia to fill blanks. Here it predicts “{one}” ({chance}), "
            "then “{two}” and “{three}”. It has had no labels for praise or blame.",
        ),
        "vectors": (
            "The same reviews, before and after",
            "{texts} film reviews that it was not trained on, each a point: the vector of [CLS] after the "
            "last layer. On the left, before, the nearest review has the same label for {near_before}, where "
            "chance gives {by_chance}. On the right, after {trained} other reviews, it is {near_after}. The "
            "points moved because the label is read off them.",
        ),
        "looks": (
            "Where it looks has changed",
            "Layer {layer}, head {head}, after minus before: of its {heads} heads the one that changed most. "
            "[CLS] now looks more at “{gained}” (+{more} percentage points) and less at “{lost}” "
            "(−{less}). Every head changed: on average a piece moved {least} to {most} % of its attention. "
            "Where a head looks is not yet why it answers.",
        ),
        "head": (
            "All that is new: one small head",
            "C is made of the vector of [CLS], {width} numbers. The label head turns them into {labels}. It "
            "has {labels} × {width} weights and {labels} biases: {new} numbers, added to the {old} that were "
            "there before and were trained with it. Its scores are {logits}: {answer}, with {share}.",
        ),
        "rests": (
            "The most influential words",
            "Its answer is {answer}, with {share}. For the same sentence with every word masked, {answer} "
            "has {baseline}. In log-odds “{words[0][0]}” ({words[0][1]}) adds most, then “{words[1][0]}” "
            "({words[1][1]}), and “{words[2][0]}” ({words[2][1]}) least. All words together make "
            "up the whole difference, within 1 %.",
        ),
        "lost": (
            "What it can no longer do",
            "Asked to fill the blank of the first scene, it has no answer. Its masked-word head was removed "
            "when the label head came, as is usual. And it is a small model, not a good judge. Of {tested} "
            "held-out reviews it gets {accuracy} right (95 %: {low} to {high}), where guessing gives 50 %.",
        ),
    },
)
