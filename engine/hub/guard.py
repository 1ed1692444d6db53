"""What an answer of a hub may be, and where a token may go: looked at with every request of huggingface_hub.

Imported by the child process alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import constants, set_client_factory
from huggingface_hub.utils._http import default_client_factory

from engine.errors import UserError, marked
from engine.hub.refusals import host_of, no_hub

MOST_ANSWER = 8 * 2**20  # bytes of what a hub says of models, unpacked; the largest real ones have 2 MB
_PIECE = 2**16  # bytes that are unpacked at a time
_WHOLE = "identity"  # the packing of files, which who asks for them counts
_PACKED = ("gzip", "deflate")
_ANY_HEADER = 47  # of zlib: gzip's or its own


class Guard:
    """Watches the requests of a client. withheld: the host that a token was not sent to."""

    def __init__(self, endpoint: str, *, sends_token: bool) -> None:
        self.withheld = ""
        trusted = [constants.HUGGINGFACE_CO_URL_HOME, *([endpoint] if sends_token else [])]
        self._trusted = {_origin(httpx2.URL(one)) for one in trusted}
        set_client_factory(self._client)

    def may_have_token(self, url: str | httpx2.URL) -> bool:
        """Whether a token may go there: to the hub that it is for, or where a person has allowed it."""
        return _origin(httpx2.URL(url)) in self._trusted

    def _client(self) -> httpx2.Client:
        client = default_client_factory()
        hooks = client.event_hooks
        client.event_hooks = {
            "request": [*hooks["request"], self._look_at_request],
            "response": [*hooks["response"], self._look_at_response],
        }
        return client

    def _look_at_request(self, request: httpx2.Request) -> None:
        """Let no token go elsewhere; also after a redirect."""
        if "authorization" in request.headers and not self.may_have_token(request.url):
            del request.headers["authorization"]
            self.withheld = host_of(request.url)

    def _look_at_response(self, response: httpx2.Response) -> None:
        """Refuse what leads nowhere or has no end. Raises: UserError, httpx2.UnsupportedProtocol."""
        if response.has_redirect_location and not _is_address(response.headers["location"]):
            raise httpx2.UnsupportedProtocol("no address", request=response.request)
        packing = response.headers.get("content-encoding", _WHOLE).strip().lower() or _WHOLE
        if packing not in (_WHOLE, *_PACKED):
            raise no_hub(host_of(response.url))
        is_file = response.request.headers.get("accept-encoding") == _WHOLE
        if not is_file or response.has_redirect_location:
            response.headers.pop("content-encoding", None)
            response.stream = _Counted(response, is_packed=packing in _PACKED)


class _Counted(httpx2.SyncByteStream):
    """The bytes of an answer, unpacked; no more of them than an answer has."""

    def __init__(self, response: httpx2.Response, *, is_packed: bool) -> None:
        assert isinstance(response.stream, httpx2.SyncByteStream)
        self._stream, self._request = response.stream, response.request
        self._is_packed = is_packed

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        for piece in self._pieces():
            count += len(piece)
            if count > MOST_ANSWER:
                template = marked(
                    "engine",
                    "{host} answers with more than {most} MB, which no model hub does. Check the "
                    "address of the mirror.",
                )
                raise UserError(template, host=host_of(self._request.url), most=MOST_ANSWER // 2**20)
            yield piece

    def _pieces(self) -> Iterator[bytes]:
        if not self._is_packed:
            yield from self._stream
            return
        unpacking = zlib.decompressobj(_ANY_HEADER)
        try:
            for raw in self._stream:
                while raw and not unpacking.eof:
                    yield unpacking.decompress(raw, _PIECE)
                    raw = unpacking.unconsumed_tail
            yield unpacking.flush()
        except zlib.error as error:
            raise httpx2.DecodingError(str(error), request=self._request) from error

    def close(self) -> None:
        self._stream.close()


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _is_address(location: str) -> bool:
    """Whether an answer may send to an address, whole or as seen from its own."""
    try:
        httpx2.URL(location).host.encode("idna")
        return urlsplit(location).port != 0
    except (ValueError, httpx2.InvalidURL):
        return False
