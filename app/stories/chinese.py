"""The story in Chinese, with the Chinese starter, family and classifier."""

from __future__ import annotations

from app.stories.story import FamilyTexts, SampleGroup, SampleTable, SampleText, Story

_FAULT = ("这不是我的错误，而是你的错误。", "错误")  # a whole word, and one that the starter guesses

STORY = Story(
    starter="chinese",
    classifier="tuned-chinese",
    family="family-chinese",
    table=SampleTable(
        "chinese_questions",
        "提问分类",
        epochs=4,
        asked=(
            "这座桥是哪一年建成的？",
            "这条河有多少公里长？",
            "这本书的作者是谁？",
            "这所大学在哪个城市？",
            "他为什么离开了家乡？",
            "这场战争是什么时候结束的？",
        ),
    ),
    text=("chinese_question_passage", "passage"),
    first=_FAULT,
    start=_FAULT,
    tour=_FAULT,
    pair=("从前有一个老爷爷，住在山里。", "他每天上山打柴。"),
    pair_words=(("爷", "住", "山"), ("他", "山", "柴")),
    template=("这里有三[MASK]{马|鱼|花|信}。", "匹, 只, 朵, 封"),
    pins=(
        "他出生在[北]京。",
        "她打开[门]走进屋子。",
        "因为下雨，[所]以我们没有去。",
        "中国的首都是北[京]。",
        "这本书是他[写]的。",
    ),
    family_texts=FamilyTexts(
        # Of the first, BERT trained in practice and ELMo guess the character; none who reads the left side
        # alone does.
        blanks=(
            ("因为下雨，____以我们没有去。", "所"),
            ("这条____流入大海。", "河"),
            ("本条例由国务____负责解释。", "院"),
            ("数据存____在服务器上。", "储"),
            ("北____是中国的首都。", "京"),
        ),
        senses={
            "行": (
                (
                    "中国人民银行负责管理外汇。",
                    "商业银行应当保护存款人的利益。",
                    "他在银行存了钱。",
                    "她每天去银行上班。",
                    "这家银行的利息很低。",
                ),
                (
                    "行政机关应当依法办理。",
                    "他们在路上行走。",
                    "船在江上行了三天。",
                    "他骑车行了十里路。",
                    "车在路上慢慢地行着。",
                ),
            ),
            "重": (
                ("这个箱子很重。", "石头太重，搬不动。", "他的病很重。", "这条鱼重五斤。"),
                ("他重新写了一遍。", "请重新启动服务器。", "系统会重新加载页面。", "大楼重建了。"),
            ),
        },
        near="走",
        analogy="东 西 南",
        beginning="从前有一个",
        follows=("第一条为了保护环境，制定本法。", "第二条本法适用于中华人民共和国领域。"),
    ),
    sentences=(
        SampleGroup(
            "一词多义",
            (
                SampleText("他在银行存了钱。", "“行”读 háng：存钱的地方。"),
                SampleText("他们在路上行走。", "“行”读 xíng：走路。"),
                SampleText("这个苹果又甜又脆。", "“苹果”是水果。"),
                SampleText("苹果发布了新款手机。", "同一个词，这里是一家公司。"),
                SampleText("我把东西放在箱子里。", "“东西”指物品。"),
                SampleText("东西两边都是山。", "“东西”指方位：东边和西边。"),
                SampleText("他打了一个电话给妈妈。", "“打”电话：不是打人的“打”。"),
                SampleText("他举起棍子打狗。", "“打”：击打。"),
                SampleText("这本书很有意思。", "“有意思”：有趣。"),
                SampleText("我不明白他的意思。", "“意思”：含义。"),
            ),
        ),
        SampleGroup(
            "句对：后一句接得上吗？",
            (
                SampleText(
                    "从前有一个老爷爷，住在山里。", pair="他每天上山打柴。", words="后一句接着前一句。"
                ),
                SampleText(
                    "从前有一个老爷爷，住在山里。", pair="数据存储在服务器上。", words="后一句来自别处。"
                ),
                SampleText("昨天下了一场大雨。", pair="路上都是水。", words="前因后果。"),
                SampleText(
                    "长江流经许多城市。", pair="它是中国最长的河流。", words="“它”指长江。小模型会判错。"
                ),
            ),
        ),
        SampleGroup(
            "要猜的词",
            (
                SampleText("因为下雨，[MASK]以我们没有去。", "靠左边的“因为”，也靠右边的“以”。"),
                SampleText("中国的首都是北[MASK]。", "一个空，合适的字很少。"),
                SampleText("这件事没有[MASK]么意思。", "“什么”“这么”都说得通。"),
                SampleText("本[MASK]例由国务[MASK]负责解释。", "两个空：可以逐个填，也可以一起填。"),
                SampleText("虽[MASK]很累，[MASK]是他还在工作。", "“虽然……但是……”，两头各缺一个字。"),
                SampleText("太阳从东[MASK]升起。", "常识：看模型是否从文本里学到了一点。"),
                SampleText("冬天到了，天气很[MASK]。", "把“冬天”换成“夏天”，小模型猜的往往还是同一个字。"),
                SampleText("老师说，[MASK]很忙。", "“他”还是“她”？比较两者的概率。"),
            ),
        ),
        SampleGroup(
            "语法和指代",
            (
                SampleText("孩子们高兴[MASK]跳起来。", "“的”“地”“得”：动词之前该用哪个？"),
                SampleText("他跑[MASK]很快。", "“的”“地”“得”：动词之后呢？"),
                SampleText("桌子上有一[MASK]书。", "量词：“个”到处能用，“本”才最贴切。"),
                SampleText("小明把书还给小红，因为她要看书。", "“她”是小红。看“她”的注意力给了谁。"),
                SampleText("小明把书还给小红，因为他看完了。", "“他”是小明。前半句一字没变。"),
                SampleText("咬死了猎人的狗。", "歧义：死的是猎人，还是狗？句子没有说。"),
                SampleText("这部电影一点也不好看。", "一个“不”字，褒义变贬义。"),
            ),
        ),
        SampleGroup(
            "文本怎样变成词片",
            (
                SampleText("我爱吃饭", "汉字一字一个词片，词与词之间没有空格。"),
                SampleText("南京市长江大桥", "“南京市／长江大桥”还是“南京市长／江大桥”？词片不管词的边界。"),
                SampleText("乒乓球拍卖完了", "“球拍／卖”还是“球／拍卖”？"),
                SampleText("我们在学校读书。", "简体。与下一句比较：同一句话，词片不同。"),
                SampleText("我們在學校讀書。", "繁体。词表里两种字都有，各有各的向量。"),
                SampleText(
                    "使用语言模型来预测下一个词的probability。", "中文全词掩码论文的例句，末尾是一个英文词。"
                ),
                SampleText("我在2026年用Transformer读文章。", "数字和外文词拆成几片，## 表示接续。"),
                SampleText(
                    "２０２６年，ＢＥＲＴ 出了新版本 👍🏽！",
                    "全角数字和字母，还有表情符号：并排比较几个词表。",
                ),
                SampleText(
                    "It was an unbelievably antidisestablishmentarian speech.",
                    "一句英文：长词拆成许多词片。中文模型认得字母，却没读过多少英文。",
                ),
            ),
        ),
    ),
)
