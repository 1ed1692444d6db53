"""`download`: a published model by its name, looked at and then fetched into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands.screen import answered, show
from engine.errors import listed, marked
from engine.hub.asked import TRANSPORTS, HubSettings
from engine.language import said, spoken

if TYPE_CHECKING:
    from engine.hub.look import PublishedModel


def add_download_command(commands: Any) -> None:
    """Add the command to the parser's."""
    download = commands.add_parser(
        "download", help="download a published model by name, or continue a download"
    )
    download.add_argument("name", metavar="NAME", help="such as bert-base-chinese, or its page’s address")
    download.add_argument("--out", type=Path, metavar="DIR", help="the model folder to write")
    download.add_argument("--revision", default="", help="a branch, a tag or a commit")
    download.add_argument("--look", action="store_true", help="describe it, and download nothing")
    download.add_argument("--mirror", default="", metavar="ADDRESS", help="used instead of HF_ENDPOINT")
    download.add_argument(
        "--transport", choices=TRANSPORTS, default="http", help="how large files are transferred"
    )
    download.add_argument("--offline", action="store_true", help="use only the cache of this computer")
    download.add_argument(
        "--send-token",
        action="store_true",
        help="also send your token to the mirror; by default it goes only to its own hub",
    )
    download.set_defaults(run=_download, parser=download)


def _download(options: argparse.Namespace) -> int:
    from engine.hub.download import downloading
    from engine.hub.look import looking

    if not options.look and options.out is None:
        options.parser.error("the following arguments are required: --out (or --look)")
    settings = HubSettings(
        mirror=options.mirror,
        transport=options.transport,
        offline=options.offline,
        send_token=options.send_token,
    )
    code, look = answered(looking(options.name, options.revision, settings, options.out))
    if code or look is None:
        return code
    if look.problem is not None and not options.look:
        raise look.problem
    print("\n".join(look_lines(look)))
    if options.look:
        return 0
    return show(downloading(look.name, options.out, settings=settings, look=look))


def look_lines(look: PublishedModel) -> list[str]:
    """Return what a published model is, for a terminal."""
    from engine.model.inventory import PARTS

    licence = look.licence or spoken(marked("engine", "licence not stated"))
    template = marked("engine", "{name} at {commit} ({revision}), {licence}")
    values = {"name": look.name, "commit": look.commit[:12], "revision": look.revision}
    lines = [said(template, **values, licence=licence)]
    if look.problem is not None:
        return [*lines, said(marked("engine", "cannot be opened: {why}"), why=look.problem)]
    if look.config is not None:
        template = marked("engine", "{kind}: {layers} layers, {width} wide, {pieces:,} pieces")
        config = look.config
        sizes = {"layers": config.num_hidden_layers, "width": config.hidden_size, "pieces": config.vocab_size}
        lines.append(said(template, kind=look.kind or "BERT", **sizes))
    if look.inventory is not None:
        counts = {part: look.inventory.count_of(part) for part in PARTS}
        parts = listed(f"{part.replace('_', ' ')} {count:,}" for part, count in counts.items() if count)
        template = marked("engine", "will be loaded: {count:,} weights ({parts})")
        lines.append(said(template, count=look.inventory.num_weights, parts=parts))
        left = listed(f"{spoken(one.what)} {one.num_weights:,}" for one in look.inventory.leftovers)
        lines += [said(marked("engine", "will be ignored: {parts}"), parts=left)] if left else []
    else:
        lines.append(
            spoken(marked("engine", "the contents of its weights are known only after the download"))
        )
    size, count = look.num_bytes / 2**20, len(look.files)
    template = marked("engine", "{size:.1f} MB in {count} files: {names}")
    lines.append(said(template, size=size, count=count, names=listed(look.files)))
    if look.cached:
        template = marked("engine", "{size:.1f} MB of it are in this computer’s cache")
        lines.append(said(template, size=(look.num_bytes - look.to_fetch) / 2**20))
    return lines
