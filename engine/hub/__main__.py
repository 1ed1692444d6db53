"""The child process that talks to a hub. What it has written is whole or a part that is gone on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.child import Line, Tell, serve
from engine.errors import Sentence, marked
from engine.hub.asked import HubSettings


def answer(asked: Line, tell: Tell) -> Any:
    """Search, look or fetch, and return what was found. Raises: UserError in one sentence."""
    from engine.hub.client import Client  # here: huggingface_hub takes a moment, and the parent may be gone
    from engine.hub.fetch import fetch, look
    from engine.hub.refusals import explained

    client = Client(HubSettings(**asked["settings"]))
    try:
        if asked["what"] == "search":
            return client.search(asked["words"])
        if asked["what"] == "fetch":
            return fetch(client, asked, Path(asked["folder"]), tell)
        parts = Path(asked["parts"]) if asked.get("parts") else None
        found = look(client, asked["name"], asked["revision"], Path(asked["folder"]), tell, parts)
        if client.guard.withheld:
            template = marked(
                "engine", "Your token was not sent to {host}, which is not the hub that it belongs to."
            )
            tell("noted", Sentence(template, {"host": client.guard.withheld}))
        return found
    except Exception as error:
        withheld, revision = client.guard.withheld, asked.get("revision", "")
        said = explained(error, asked.get("name", ""), client.host, revision, withheld=withheld)
        if said is None:
            raise
        raise said from error


if __name__ == "__main__":
    serve(answer)
