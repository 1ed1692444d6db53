"""The child process that talks to a hub. What it has written is whole or a part that is gone on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.child import Line, Tell, serve
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
        if asked["what"] == "look":
            parts = Path(asked["parts"]) if asked.get("parts") else None
            return look(client, asked["name"], asked["revision"], Path(asked["folder"]), tell, parts)
        return fetch(client, asked, Path(asked["folder"]), tell)
    except Exception as error:
        said = explained(error, asked.get("name", ""), client.host, asked.get("revision", ""))
        if said is None:
            raise
        raise said from error


if __name__ == "__main__":
    serve(answer)
