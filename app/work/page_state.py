"""What a page shows, as one frozen value: the page gives it, and shows the same again when given it back.

A page that can be kept has a `state.py` with such a value, a dataclass of `PageState`, and nothing else: what
a scene holds of it, how a scene that a stranger wrote is read, what is refused and with which words, which
models have to be found, all follow from its fields. For instance:

    @dataclass(frozen=True, slots=True)
    class RowsState(PageState):
        model: Path = model_field()
        text: str = ""
        text_pair: str = ""
        tab: str = limited("rows", choices=("rows", "columns"))
        most: int = limited(10, minimum=1, maximum=500)
        beside: Path | None = other_model("beside")

`text` and `text_pair` are those that the pages share. `limited` takes what `Setting` has of a file: minimum,
maximum, choices, longest, most, key, form, and the kinds "given", "inline" and "spare". A field without it
has the limits that hold for all. Fields may be dataclasses themselves. A method `misfit` refuses what does
not go together. Nothing here knows Qt.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from engine.errors import UserError, marked
from engine.settings.setting import Setting
from engine.settings.values import Unfit, plain, read_value

MODEL = "model"  # the role of the model that is looked into
NO_MODEL = marked("engine", "This scene cannot be shown: it names no model.")
MISFIT = marked(
    "engine",
    "This scene cannot be shown. Its “{name}” is missing or does not fit this page. "
    "It may have been kept by another version of Cloze.",
)
TEXTS = ("text", "text_pair")  # fields that are the pages' shared ones
_ROLE = "models/"  # before a role, among the values
MODELS, VOCABULARIES, FAMILIES = "models", "vocabularies", "families"  # what a path can be of

State = TypeVar("State", bound="PageState")


@dataclass(frozen=True, slots=True)
class SceneValues:
    """A page's state as a scene holds it.

    values: the page's own, as JSON has them. models: folders, or files of vocabularies, by what they are for:
    "model" is looked into. text, text_pair: those that the pages share, where this one looks at them.
    """

    values: Mapping[str, Any]
    models: Mapping[str, Path] = field(default_factory=dict)
    text: str = ""
    text_pair: str = ""


@dataclass(frozen=True, slots=True)
class PageState:
    """What the state of every page is that can be kept."""

    def misfit(self) -> str:
        """Return the name of a field that does not go with the others; "" where all do."""
        return ""


def limited(default: Any = dataclasses.MISSING, **limits: Any) -> Any:
    """Return a field of a state; without a default it has to be given. Args: limits: as in `Setting`."""
    return field(default=default, metadata={"setting": Setting(label="", help="", **limits)})


def model_field(role: str = MODEL, *, lacking: str = NO_MODEL, of: str = MODELS) -> Any:
    """Return the field of a model, vocabulary or family that a state needs.

    Args: role: what a scene calls it. lacking: said of a scene without it. of: what a person is asked for
    where it is not on this computer.
    """
    about = Setting(label="", help="", key=_ROLE + role)
    return field(metadata={"setting": about, "lacking": lacking, "of": of})


def other_model(role: str, *, of: str = MODELS) -> Any:
    """Return the field of one that a state may have beside it; None: it has none. Args: as there."""
    about = Setting(label="", help="", key=_ROLE + role)
    return field(default=None, metadata={"setting": about, "of": of})


def kind_of_model(kind: type[PageState], role: str) -> str:
    """Return what a model in this role is: one of MODELS, VOCABULARIES, FAMILIES."""
    fields = (one for one in dataclasses.fields(kind) if _role(one) == role)
    return next((str(one.metadata["of"]) for one in fields), MODELS)


def values_of(state: PageState) -> SceneValues:
    """Return a state as a scene holds it."""
    models = dict[str, Path]()
    values = _without_models(plain(state), models)
    return SceneValues(values, models, *(values.pop(name, "") for name in TEXTS))


def state_of(kind: type[State], scene: SceneValues) -> State:
    """Return the state of a page that a scene holds. Raises: UserError: it is not what the page keeps."""
    for one in dataclasses.fields(kind):
        if "lacking" in one.metadata and _role(one) not in scene.models:
            raise UserError(one.metadata["lacking"])
    values = {**scene.values, "text": scene.text, "text_pair": scene.text_pair}
    try:
        state = read_value(kind, _WithModels(values, scene.models))
    except Unfit as error:
        raise UserError(MISFIT, name=error.name) from error
    if state.misfit():
        raise UserError(MISFIT, name=state.misfit())
    return state


class _WithModels(dict[str, Any]):
    """What a scene holds with its models among the values, wherever a field asks for one."""

    def __init__(self, values: Mapping[str, Any], models: Mapping[str, Path]) -> None:
        super().__init__(
            (name, _WithModels(one, models) if isinstance(one, dict) else one) for name, one in values.items()
        )
        self._models = models

    def __missing__(self, name: str) -> Any:
        if not name.startswith(_ROLE):
            raise KeyError(name)
        path = self._models.get(name.removeprefix(_ROLE))
        return None if path is None else str(path)


def _without_models(values: dict[str, Any], models: dict[str, Path]) -> dict[str, Any]:
    """Return values without the models among them, which are put into `models` by their roles."""
    found = {name: path for name, path in values.items() if name.startswith(_ROLE)}
    models |= {name.removeprefix(_ROLE): Path(path) for name, path in found.items() if path is not None}
    rest = {name: one for name, one in values.items() if name not in found}
    return {
        name: _without_models(one, models) if isinstance(one, dict) else one for name, one in rest.items()
    }


class _Texts(Protocol):
    @property
    def values(self) -> Mapping[str, Any]: ...
    @property
    def text(self) -> str: ...
    @property
    def text_pair(self) -> str: ...


def texts_of(scene: _Texts) -> tuple[str, ...]:
    """Return what a scene is asked about, in words: its texts, or the question that stands in their place."""
    return scene.text, scene.text_pair, str(scene.values.get("question", ""))


def _role(one: dataclasses.Field[Any]) -> str:
    key: str = one.metadata["setting"].key if "of" in one.metadata else ""
    return key.removeprefix(_ROLE)
