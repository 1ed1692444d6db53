"""What a family of models states of itself: its config.json, its names of weights, its parts and heads.

`Family` is BERT, and each other family is a subclass in a file of its own that states what differs. Nobody
else asks which family a model is of: whoever wants to know something asks the family. Not to be broken: no
torch before a model is built, for config.json is read before the window is painted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from engine.model import names
from engine.model.families.shape import Shape

if TYPE_CHECKING:
    from torch import Tensor, nn

    from engine.model.families.rotary_shape import RotaryConfig
    from engine.model.parts import PartKind

_LAYER = re.compile(r"(?:(?<=\blayer\.)|(?<=\blayers\.))\d+(?=\.)")


class Family:
    """BERT; a subclass states what is otherwise in another family.

    model_type: as config.json says it. older: as its older files do. name: as it is published. paper: that
    presents it, its year last. stem: how the names of its classes begin. prefix: before the names of its
    weights under a head. marks: how names of weights begin that no other family has. modules: module or
    weight as it is published -> as BERT's is, # for the layer's number. stacks: our module -> the names as
    BERT's would be, where its rows are stored together or apart otherwise.
    heads: BERT's class -> the same for its head. own_classes: BERT's class -> its own, where not the stem
    alone differs. at_zero: BERT's weights that it lacks and that start at zero. not_needed: how names begin
    that nothing here uses -> what they are for, and the sentence of a report. other_classifier: a weight of
    its classifier where that is not built like BERT's. lacks: "next_sentence" and the like -> why a model
    {name} has none. has_projection: whether its embeddings have a width of their own, and a projection.
    has_segments: whether its embeddings tell the second text of a pair from the first. shares_layers: whether
    one block is every layer. has_equal_layers: whether all have weights of the same names and shapes; else
    the first and the last may have others than those between.
    has_next_sentence: whether its model for pretraining has a pooler and a head for next sentences.
    tokens_pass_pooler: whether heads over tokens read them through the pooler. pools: of POOLINGS in
    config.py, what its published classifier can read of a text. pooling_act: the activation of its pooler.
    guessing_act: that of its masked-word head; "": that of its layers. has_plain_scores: whether its scores
    are products of queries and keys, turned or not, and at most a number for the distance. straight: what a
    pooler multiplies by, and adds, so that its activation passes on what it reads, to one part in a million;
    None: it cannot, and a head that is solved for has none.
    """

    model_type: ClassVar[str] = "bert"
    older: ClassVar[tuple[str, ...]] = ()
    name: ClassVar[str] = "BERT"
    paper: ClassVar[str] = "Devlin et al. 2018"
    stem: ClassVar[str] = "Bert"
    prefix: ClassVar[str] = "bert."
    marks: ClassVar[tuple[str, ...]] = ()
    modules: ClassVar[Mapping[str, str]] = {}
    stacks: ClassVar[names.Stacks] = {}
    heads: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    own_classes: ClassVar[Mapping[str, str]] = {}
    at_zero: ClassVar[tuple[str, ...]] = ()
    not_needed: ClassVar[Mapping[str, tuple[str, str]]] = {}
    other_classifier: ClassVar[str] = ""
    lacks: ClassVar[Mapping[str, str]] = {}
    has_projection: ClassVar[bool] = False
    has_segments: ClassVar[bool] = True
    shares_layers: ClassVar[bool] = False
    has_equal_layers: ClassVar[bool] = True
    has_next_sentence: ClassVar[bool] = True
    tokens_pass_pooler: ClassVar[bool] = False
    pools: ClassVar[tuple[str, ...]] = ("",)
    pooling_act: ClassVar[str] = "tanh"
    guessing_act: ClassVar[str] = ""
    has_plain_scores: ClassVar[bool] = True
    straight: ClassVar[tuple[float, float] | None] = (2.0**-10, 0.0)  # tanh, next to 0

    @property
    def year(self) -> int:
        """When it was presented."""
        return int(self.paper[-4:])

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a config.json's object under BERT's keys and classes; its model_type says what is built.

        Raises: ModelError: it describes a kind of this family that is not read.
        """
        return document

    def kept(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return a config.json's object with BERT's class, of a model that stays of this family."""
        own = class_of(document)
        head = _turned(self.own_classes).get(own, _from(own, self.stem, Family.stem))
        return {**document, "model_type": self.model_type} | ({"architectures": [head]} if own else {})

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return an object under BERT's keys and classes as this family's config.json has it."""
        head = class_of(document)
        if self.own_class(head) != head:
            document["architectures"] = [self.own_class(head)]
        return document

    def plain_name(self, name: str, head: str = "") -> str:
        """Return a weight's name as BERT's is published, without a prefix. head: BERT's class."""
        plain = name.removeprefix(self.prefix)
        return names.plain_name(_renamed(plain, {**self.modules, **self.heads.get(head, {})}))

    def own_name(self, name: str, head: str = "") -> str:
        """Return this family's name of a weight, of BERT's with its `bert.`. head: BERT's class."""
        plain = name.removeprefix(names.PREFIX)
        of_head = _renamed(plain, _turned(self.heads.get(head, {})))
        if of_head != plain:  # its head has what is in BERT's encoder
            return of_head
        return (self.prefix if plain != name else "") + _renamed(plain, _turned(self.modules))

    def names_of_part(self, part: str, config: Shape) -> tuple[str, ...]:
        """Return the plain names of all weights of one of names.PARTS."""
        return tuple(names.plain_name(name) for name in names.names_of_part(part))

    def lent(self, config: Shape) -> Mapping[str, str]:
        """Return weights of a new classifier's pooler -> of the masked-word head, as which they begin."""
        return {}

    def own_class(self, head: str) -> str:
        """Return BERT's published class as this family's."""
        return self.own_classes.get(head, _from(head, Family.stem, self.stem))

    def has_written(self, stored: Iterable[str]) -> bool:
        """Whether the names of some weights are this family's and no other's."""
        return any(name.startswith(self.marks) for name in stored)

    def added(self, config: Shape) -> Mapping[str, tuple[str, int]]:
        """Return weight, by BERT's plain name -> the table whose first row is added to each of its rows when
        it is read, and how many rows that has.
        """
        return {}

    def rows_before(self, config: Shape) -> Mapping[str, int]:
        """Return weight, by BERT's plain name -> how many rows of it, at its beginning, are not read."""
        return {}

    def restored(self, tensors: dict[str, Tensor], config: Shape) -> dict[str, Tensor]:
        """Return what is written, by this family's names, with what was added or left out in reading."""
        return tensors

    def note(self, config: Shape) -> str:
        """Return what a person should know of a model that is opened, marked; "" for nothing."""
        return ""

    @property
    def is_built_as_bert(self) -> bool:
        """Whether its encoder is BERT's, with other names at most."""
        return not self.has_projection and not self.shares_layers

    def counts(self, config: Shape) -> dict[str, int]:
        """Return part -> number of weights, of the encoder with its pooler."""
        width, inner, narrow = config.hidden_size, config.intermediate_size, config.embedding_width
        layers = 1 if self.shares_layers else config.num_hidden_layers
        parts = {
            "token embeddings": config.vocab_size * narrow,
            "position embeddings": config.max_position_embeddings * narrow,
            "segment embeddings": config.type_vocab_size * narrow,
            "embedding norm": 2 * narrow,
        }
        if self.has_projection:
            parts["projection"] = narrow * width + width
        return parts | {
            "attention": layers * 4 * (width * width + width),
            "feed-forward": layers * (2 * width * inner + inner + width),
            "layer norms": layers * 4 * width,
            "pooler": width * width + width,
        }

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        """Return the same of the heads of pretraining; scoring words uses the token embeddings again."""
        width, narrow = config.hidden_size, config.embedding_width
        return {
            "masked-word head": width * narrow + 3 * narrow + config.vocab_size,
            "next-sentence head": 2 * width + 2,
        }

    def part_kinds(self, config: Shape, usual: Sequence[PartKind]) -> Sequence[PartKind]:
        """Return the parts of such a model. Args: usual: BERT's."""
        return usual

    def embeddings(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        """Return its embeddings. Args: usual: makes BERT's."""
        if not self.has_projection:
            return usual(config, noise)
        from engine.model.families.modules import ProjectedEmbeddings

        return ProjectedEmbeddings(config, noise)

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        """Return its layers. Args: usual: makes one of BERT's blocks."""
        from torch import nn

        return nn.ModuleList(usual(config, noise) for _ in range(config.num_hidden_layers))

    def as_last(self, layers: Any, states: Tensor) -> Tensor:
        """Return hidden states below the last layer as a head could read them."""
        return states

    def pooler(self, config: Shape) -> nn.Linear:
        """Return its pooler, without the activation."""
        from torch import nn

        return nn.Linear(config.hidden_size, config.hidden_size)

    def pooler_activation(self) -> Callable[[Tensor], Tensor]:
        """Return what follows the product of its pooler."""
        from engine.model.activations import activation

        return activation(self.pooling_act)

    def acts_of_heads(self, config: Shape) -> tuple[str, str]:
        """Return the activations of its pooler and of its masked-word head, by name."""
        return self.pooling_act, self.guessing_act or config.hidden_act

    def rotation(self, config: Shape) -> RotaryConfig | None:
        """Return how queries and keys are turned by their places; None where a place is a vector."""
        return None

    def guessing(self, config: Shape) -> tuple[nn.Linear, Callable[[Tensor], Tensor], nn.LayerNorm]:
        """Return what its masked-word head does before words are scored: a product, an activation, a norm."""
        from torch import nn

        from engine.model.activations import activation
        from engine.model.kernels import Linear

        norm = nn.LayerNorm(config.embedding_width, eps=config.layer_norm_eps)
        act = activation(self.acts_of_heads(config)[1])
        return Linear(config.hidden_size, config.embedding_width), act, norm

    def described(self, plain: str) -> tuple[str, str]:
        """Return what a weight that nothing here uses is for, and the sentence of it; "" where unknown."""
        return next((said for start, said in self.not_needed.items() if plain.startswith(start)), ("", ""))


BERT = Family()
SAME_HEADS = ("ForTokenClassification", "ForQuestionAnswering", "ForMaskedLM")  # as they are called anywhere


def class_of(document: Mapping[str, Any]) -> str:
    """Return the published class that a config.json's object names; "" where it names none."""
    named = document.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else ""


def as_plain_bert(document: Mapping[str, Any], heads: Iterable[str]) -> dict[str, Any]:
    """Return model_type and architectures as BERT's: the head where BERT has the same, else the encoder."""
    own = class_of(document)
    head = next((head for head in heads if own.endswith(head)), "Model")
    return {"model_type": BERT.model_type, "architectures": [f"{BERT.stem}{head}"]}


def _from(name: str, stem: str, other: str) -> str:
    """Return a class's name with another beginning; itself where it begins otherwise."""
    return other + name.removeprefix(stem) if name.startswith(stem) else name


def _turned(table: Mapping[str, str]) -> dict[str, str]:
    return {bert: own for own, bert in table.items()}


def _renamed(name: str, table: Mapping[str, str]) -> str:
    """Return a name by a table of modules and weights; itself where none of them is it."""
    for number in ("", *_LAYER.findall(name)[:1]):
        spelled = _LAYER.sub("#", name, count=1) if number else name
        module, dot, kind = spelled.rpartition(".")
        found = table.get(spelled) or (f"{table[module]}{dot}{kind}" if module in table else "")
        if found:
            return found.replace("#", number)
    return name
