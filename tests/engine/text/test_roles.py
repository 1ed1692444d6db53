"""Which columns of a table are what, whatever the roles are."""

from __future__ import annotations

import pickle

import pytest

from engine.text.roles import LABEL, TEXT, USUAL, Roles


def test_roles_are_a_mapping_that_is_the_same_where_its_columns_are() -> None:
    roles = Roles("said", label="kind")
    assert dict(roles) == {"text": ("said",), "label": ("kind",)} and roles.text_pair == ""
    assert roles == Roles(label=["kind"], text="said", text_pair="") != Roles("said")
    assert {roles: 1}[Roles("said", "", "kind")] == 1 and not Roles() and Roles("", "b").read == ("b",)
    assert pickle.loads(pickle.dumps(roles)) == roles
    with pytest.raises(AttributeError, match="frozen"):
        roles.text = "other"  # type: ignore[misc]
    with pytest.raises(TypeError, match="tail"):
        Roles("said", tail="other")


def test_what_is_kept_of_roles_is_read_again_and_what_is_no_name_is_not() -> None:
    roles = Roles("said", "answered", "kind")
    kept = roles.as_json(USUAL)
    assert kept == {"text": "said", "text_pair": "answered", "label": "kind"}
    assert Roles.from_json(kept) == roles and roles.only([TEXT, LABEL]) == Roles("said", label="kind")
    assert Roles.from_json({"text": 3, "label": None, "other": "x"}) == Roles() == Roles.from_json(["said"])
    assert roles.settings() == kept | {"choices": ""}
    several = Roles("said", choices=["a", "b,c"])
    assert several.settings()["choices"] == "a; b,c" and several.with_role("d", "choices").read[1:] == (
        "a",
        "b,c",
        "d",
    )


def test_two_columns_with_a_role_change_places() -> None:
    roles = Roles("a", "b", "c")
    assert roles.with_role("c", "text") == Roles("c", "b", "a")
    assert roles.with_role("", "text_pair") == Roles("a", "", "c") == roles.with_role("b", "")
    assert Roles("a", "", "c").with_role("d", "label") == Roles("a", "", "d")
