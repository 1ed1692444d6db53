"""The lectures in Chinese, with the Chinese starter, family and classifier."""

from __future__ import annotations

from app.stories.chinese import STORY
from assets.lectures.told.parts import Counting, Reading, Tuning

_RAIN = "因为下雨，所以我们没有去。"

READING = Reading(
    file="how-bert-reads.zh.json",
    title="BERT 如何读一个句子",
    model="chinese",
    cut="我在2026年用Transformer读文章。",
    torn="Transformer",
    main=_RAIN,
    piece="以",
    before=(1, 1),
    after=(1, 2),
    guessed=(_RAIN, "所"),
    grammar=("孩子们高兴地跳起来。", "地"),
    forms=("地", "的"),
    both=(_RAIN, "所"),
    left="因为下雨，[MASK]我们没有去。",
    first="从前有一个老爷爷，住在山里。",
    next="他每天上山打柴。",
    other="数据存储在服务器上。",
    missed=("长江流经许多城市。", "它是中国最长的河流。"),
    said={
        "pieces": (
            "词变成词片",
            "BERT 用 {vocabulary} 个词片书写。汉字一字一个词片；词表里没有的外文词，从左起拆成尽可能长"
            "的词片，"
            "这里拆成 {cut} 个。## 表示接续前面的词片。",
        ),
        "row": (
            "文本变成一行数字",
            "前面加 [CLS]，后面加 [SEP]：共 {tokens} 个词片。从这里起，只有它们的编号起作用。",
        ),
        "sum": (
            "词片的起点：三个向量之和",
            "一个表示词片，一个表示位置，一个表示所在的句子：三个学来的向量，各 {width} 个数，逐个相加。",
        ),
        "qkv": (
            "查询、键和值",
            "每个头为每个词片算出三个短向量，各 {narrow} 个数：它要找什么，凭什么被找到，要传出什么。",
        ),
        "softmax": (
            "Softmax 把得分变成比例",
            "“{piece}”的查询与每个键相乘，得到得分。Softmax 把得分变成总和为 1 的比例。"
            "这里 {share} 给了前一个词片“{neighbour}”。",
        ),
        "before": (
            "这个头看前一个词片",
            "还是这个头，看整个句子：它的注意力平均有 {back} 给了前一个词片。",
        ),
        "after": (
            "另一个头看后一个词片",
            "BERT 也能看到右侧。第 {layer} 层第 {head} 头自己学会了看那里：{ahead}。",
        ),
        "heads": (
            "{heads} 个头，各有分工",
            "{layers} 层，每层 {each} 个头。注意力一半以上给前一个词片的有 {num_previous} 个，"
            "给后一个的有 {num_next} 个，给自己的有 {num_self} 个。其余的各有不同。",
        ),
        "guess": (
            "它怎样学会的：被掩盖的词",
            "把一个字换成 [MASK]，BERT 就根据其他所有的字来猜它。这里“{one}”排第一，占 {chance}，"
            "其后是“{two}”和“{three}”。",
        ),
        "layers": (
            "逐层来看",
            "假如每一层都是最后一层，它会猜什么：前一层还是“{early}”（“可以”也是一个词），"
            "到第 {from_layer} 层才是“{one}”。",
        ),
        "grammar": (
            "只靠猜字，学会语法",
            "“的”“地”“得”在这里读音相同。动词“跳”之前该写“地”：“{forms[0]}”排第一，占 {chances[0]}，"
            "“{forms[1]}”只有 {chances[1]}。",
        ),
        "both": (
            "两侧都重要",
            "“所”靠的是右边的“以”。去掉这个字，“{decided}”连前十都进不了。",
        ),
        "next": (
            "第二句接在第一句之后吗？",
            "它学会的另一件事：判断后一句是否接着前一句。这两句它认为是连着的，概率 {follows}。",
        ),
        "other": (
            "要是接不上呢？",
            "第一句不变，后面换成别处的句子，概率降到 {not_follows}。这个小模型也会判错：“它是中国最长"
            "的河流。”"
            "接在“长江流经许多城市。”之后，它只给 {missed}。",
        ),
    },
)

COUNTING = Counting(
    file="from-counting-to-bert.zh.json",
    title="从计数到 BERT",
    family="family-chinese",
    model="chinese",
    begun=("这条[MASK]流入大海。", "河"),
    blank=("因为下雨，[MASK]以我们没有去。", "所"),
    bag=("这条[MASK]流入大海。", "河"),
    near="走",
    beginning="从前有一个",
    sense=("行", STORY.family_texts.senses["行"]),
    practice=True,
    word="东西",
    sentences=(
        ("物品", "他买了很多东西。"),
        ("物品", "桌上放着什么东西？"),
        ("物品", "这东西很贵。"),
        ("物品", "我把东西放在箱子里。"),
        ("方位", "河流东西长三百里。"),
        ("方位", "东西两边都是山。"),
        ("方位", "这条路东西走向。"),
        ("方位", "城墙东西各有一门。"),
    ),
    group="词义",
    said={
        "eight": (
            "八个模型，一个问题",
            "最早的在左边。所有模型都用同一份中文文本训练，最多 {minutes} 分钟，一个字算一个词。"
            "每一列说明该模型能看到什么。",
        ),
        "counts": (
            "计数：只看前文",
            "n-gram 统计的是哪个字出现在哪些字之后。“{rest}”在空的后面，去掉它，猜的仍是“{ngram}”。",
        ),
        "vectors": (
            "字变成向量",
            "计数不知道相似，向量知道。离“{near}”最近的字，在 CBOW 中是“{cbow}”，在 skip-gram "
            "中是“{skipgram}”，"
            "在 GloVe 中是“{glove}”。",
        ),
        "bag": (
            "装进袋子的邻字",
            "CBOW 看到两侧，首选“{bag}”。但它看不到顺序：把句子倒过来，它仍然首选“{bag}”。",
        ),
        "senses": (
            "一个字，一个向量？",
            "{num_sense} 个句子中的“{sense}”，有的读 háng，有的读 xíng。NNLM、CBOW、skip-gram "
            "和 GloVe 对它们都只有"
            "一个向量；在 ELMo、GPT 和 BERT 中，向量随句子变化。",
        ),
        "write": (
            "从左读起，才能写作",
            "能预测下一个字的模型可以续写文本：n-gram、NNLM、ELMo 的左半边和 GPT。只训练 {minutes} 分钟，"
            "哪个都写得不好。",
        ),
        "both": (
            "BERT：两侧都看，顺序也看",
            "GPT 在这里只读到“{seen}”，“{right}”排第 {gpt}。ELMo 从两侧各读一半：第 {elmo}。BERT "
            "一次读完整句，"
            "也是第 {bert}；这里用的是读得多得多的入门模型。家族自己的 BERT 只学了 {minutes} 分钟，排第"
            " {own}。",
        ),
        "cannot": (
            "BERT 做不到的事",
            "它不会写作；有两个字被掩盖时，猜其中一个并不知道另一个。这个句子下它的那一列就说明了这一点。"
            "家族的 BERT 学得太少，猜的多是标点。",
        ),
        "card": (
            "所有问题汇成一张表",
            "一个句子说明不了什么。500 个空，按顺序读两侧的 ELMo 填对 {filled[elmo]}，只读左侧的最多 "
            "{left}。BERT 只有 "
            "{filled[bert]}：它学得慢，{minutes} 分钟不够。",
        ),
        "one": (
            "读得多得多的 BERT：“{word}”还是一个词",
            "{num_word} 个句子，第一层之前：最近邻与自己词义相同的只有 {own_before} 个。这时只有词在句"
            "中的位置把这些点分开。",
        ),
        "two": (
            "……成为两个词义",
            "最后一层之后，{num_word} 个句子中有 {own_after} 个的最近邻与自己词义相同。"
            "是其他的字决定了“{word}”指物品还是方位。",
        ),
    },
)

TUNING = Tuning(
    file="what-fine-tuning-changes.zh.json",
    title="微调改变了什么",
    before="chinese",
    after="tuned-chinese",
    blank="因为下雨，[MASK]以我们没有去。",
    text="这座桥是哪一年建成的？",
    meaning={label: label for label in ("时间", "数量", "人物", "地点", "原因")},
    score="{label} {score}",
    of="没有用于训练的问题",
    group="标签",
    card="### Tuned to tell questions apart",
    of_each=20,
    said={
        "guesses": (
            "微调之前：它猜字",
            "这个小模型用中文文本训练过填空。这里它预测“{one}”（{chance}），其次是“{two}”和“{three}”。"
            "它没有见过任何标签，不知道一个问题问的是什么。",
        ),
        "vectors": (
            "同样的问题，微调前后",
            "{texts} 个没有用于训练的问题，每个是一个点：最后一层之后 [CLS] 的向量。左边是微调前：最近"
            "的问题标签相同的占 "
            "{near_before}，随机情况下为 {by_chance}。右边是用另外 {trained} 个问题微调后：{near_after}。"
            "点之所以移动，"
            "是因为标签就从这些向量读出。",
        ),
        "looks": (
            "看的地方变了",
            "第 {layer} 层第 {head} 头，微调后减去微调前：{heads} 个头中变化最大的一个。[CLS] "
            "现在更多看向“{gained}”"
            "（+{more} 个百分点），更少看向“{lost}”（−{less}）。每个头都变了：平均每个词片移动了 "
            "{least}% 至 {most}% "
            "的注意力。但头看向哪里，还不是模型这样回答的原因。",
        ),
        "head": (
            "新增的只有一个小小的头",
            "C 由 [CLS] 的向量得出，共 {width} 个数，标签头把它们变成 {labels} 个。这个头有 {labels} "
            "× {width} 个权重和 "
            "{labels} 个偏置：{new} 个数，加在原有的 {old} 个权重之上，一同训练。它的得分是{logits}：判"
            "为“{answer}”，概率 "
            "{share}。",
        ),
        "rests": (
            "影响最大的词",
            "它的回答是“{answer}”，概率 {share}。同一个句子把所有词都掩盖后，“{answer}”只有 {baseline}。"
            "以对数几率计，"
            "“{words[0][0]}”（{words[0][1]}）贡献最大，其次是“{words[1][0]}”（{words[1][1]}），“{words[2][0]}”"
            "（{words[2][1]}）最小。所有词加起来就是全部差值，误差不到 1%。",
        ),
        "lost": (
            "它不再会做的事",
            "让它填第一个场景的空，它已答不出来：按通常做法，加上标签头时去掉了掩码词头。{tested} "
            "个留出的问题它答对 "
            "{accuracy}（95%：{low} 至 {high}）。这个任务容易，标签由问题里的“多少”“为什么”这样的字眼得来；"
            "它并不真的读懂问题。",
        ),
    },
)
