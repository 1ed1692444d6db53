"""What goes wrong on the way to a hub, in one sentence that names the host that failed.

Imported by the child process alone: it knows the errors of huggingface_hub and of its HTTP client.
"""

from __future__ import annotations

import re
import urllib.request
from contextlib import suppress
from typing import Any

import httpx2
from huggingface_hub import errors

from engine.errors import UserError, marked

_RESET = re.compile(r"\bt\s*=\s*(\d+)")  # of the header RateLimit: seconds until more is allowed
_NUMBERED = re.compile(r"^\[Errno -?\d+\] ")  # which says nothing to a person
PASSING = (408, 425, 429, 500, 502, 503, 504)  # worth another try


class TransferCut(Exception):
    """A transfer ended before its file did."""

    def __init__(self, host: str, file: str, done: int, size: int | None) -> None:
        super().__init__(host, file, done, size)
        self.host, self.file, self.done, self.size = host, file, done, size


class HostRefusal(Exception):
    """A host answered a transfer with a refusal."""

    def __init__(self, host: str, status: int, code: str, wait_s: float | None, file: str = "") -> None:
        super().__init__(host, status, code)
        self.host, self.status, self.code, self.wait_s, self.file = host, status, code, wait_s, file


def host_of(url: Any) -> str:
    """Return the host that an address names, with its port where that is not the usual one."""
    try:
        parts = httpx2.URL(str(url))
    except (httpx2.InvalidURL, ValueError):
        return str(url)[:80]
    return f"{parts.host}:{parts.port}" if parts.port else parts.host or str(url)[:80]


def answered(response: httpx2.Response) -> HostRefusal:
    """Return the refusal that a response is."""
    headers = response.headers
    limit = _RESET.search(headers.get("RateLimit", ""))
    wait = limit[1] if limit else headers.get("Retry-After", "").strip()
    return HostRefusal(
        host_of(response.url),
        response.status_code,
        headers.get("X-Error-Code", ""),
        float(wait) if wait.isdecimal() and len(wait) < 8 else None,
        response.url.path.rpartition("/")[2],
    )


def as_answered(error: BaseException) -> HostRefusal | None:
    """Return the answer of a host that an error tells of; None where nobody answered."""
    if isinstance(error, HostRefusal):
        return error
    response = getattr(error, "response", None)
    return answered(response) if isinstance(response, httpx2.Response) else None


def is_passing(error: BaseException) -> bool:
    """Whether another try may go better."""
    if (said := as_answered(error)) is not None:
        return said.status in PASSING or said.status == 416
    lasting = (httpx2.UnsupportedProtocol, httpx2.ProxyError, httpx2.DecodingError, httpx2.TooManyRedirects)
    return isinstance(error, TransferCut | httpx2.TransportError) and not isinstance(error, lasting)


def is_unreachable(error: BaseException) -> bool:
    """Whether nobody answered at all, so that what is on this computer has to do."""
    offline = errors.OfflineModeIsEnabled
    return isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError | offline)


def explained(
    error: BaseException, name: str, host: str, revision: str = "", *, withheld: str = ""
) -> UserError | None:
    """Return the sentence for an error on the way to `host`; None for a fault of ours.

    Args: name: of the model; "" where none was named, in a search. withheld: a host that got no token.
    """
    if isinstance(error, UserError):
        return error
    if isinstance(error, errors.OfflineModeIsEnabled):
        return UserError(
            marked(
                "engine",
                "Cloze works offline, and {name} is not complete in the cache of this computer.",
            ),
            name=name,
        )
    if (said := as_answered(error)) is not None:
        if name and said.status in (401, 403) and said.host == withheld:
            return _of_withheld(said, name)
        return _of_answer(said, name, revision)
    if isinstance(error, TransferCut):
        return _of_cut(error)
    if isinstance(error, errors.FileMetadataError | errors.HFValidationError):
        return no_hub(host)
    if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
        return _of_line(error, host)
    return None


def no_hub(host: str) -> UserError:
    """Return the refusal of a host that answers otherwise than a hub does."""
    return UserError(
        marked("engine", "{host} does not answer as a model hub does. Check the address of the mirror."),
        host=host,
    )


def _of_withheld(said: HostRefusal, name: str) -> UserError:
    return UserError(
        marked(
            "engine",
            "{host} does not give you {name} ({status}). Your token was not sent, because it "
            "belongs to another hub. Allow that under “Download options”, or with "
            "--send-token.",
        ),
        host=said.host,
        name=name,
        status=str(said.status),
    )


def _of_answer(said: HostRefusal, name: str, revision: str) -> UserError:
    values = {"host": said.host, "name": name, "status": str(said.status)}
    if said.code == "RevisionNotFound":
        template = marked("engine", "{host} has no revision {revision} of {name}.")
        return UserError(template, host=said.host, name=name, revision=revision or "main")
    if not name and said.status in (400, 401, 403, 404, 405, 410):
        template = marked("engine", "{host} cannot be searched ({status}). Type a model’s whole name.")
        return UserError(template, **values)
    if said.status == 403 and said.code not in ("GatedRepo", "RepoNotFound"):
        return UserError(
            marked(
                "engine",
                "{host} does not give you {name} ({status}). If its page asks you to accept "
                "terms, do so, and sign in with: hf auth login",
            ),
            **values,
        )
    if said.code == "GatedRepo":
        return UserError(
            marked(
                "engine",
                "{host} gives {name} only to those who have accepted its terms ({status}). "
                "Accept them on its page, and sign in with: hf auth login",
            ),
            **values,
        )
    if said.status == 401:
        return UserError(
            marked(
                "engine",
                "{host} does not show you {name} ({status}). It does not exist, or it is "
                "private. Check the name, or sign in with: hf auth login",
            ),
            **values,
        )
    if said.code == "EntryNotFound":
        template = marked("engine", "{host} does not have the file {file} of {name} ({status}).")
        return UserError(template, file=said.file, **values)
    if said.status in (404, 410) or said.code == "RepoNotFound":
        template = marked("engine", "{host} has no model named {name} ({status}). Check the spelling.")
        return UserError(template, **values)
    if said.status == 429:
        if said.wait_s is None:
            template = marked(
                "engine", "{host} allows no more requests for now ({status}). Try again in a while."
            )
            return UserError(template, **values)
        return UserError(
            marked("engine", "{host} allows no more requests for {seconds} s ({status}). Try again then."),
            seconds=f"{said.wait_s:.0f}",
            **values,
        )
    if said.status == 416:
        template = marked("engine", "{host} refuses to continue a file of {name} where it ended ({status}).")
        return UserError(template, **values)
    if said.status >= 500:
        template = marked("engine", "{host} has an error of its own ({status}). Try again later.")
        return UserError(template, **values)
    return UserError(marked("engine", "{host} refuses {name} ({status})."), **values)


def _of_cut(error: TransferCut) -> UserError:
    if error.size is None:
        template = marked(
            "engine", "{host} stops sending {file} each time. Continue later, or choose a mirror."
        )
        return UserError(template, host=error.host, file=error.file)
    return UserError(
        marked(
            "engine",
            "{host} stops sending {file} after {done:,} of {size:,} bytes. The bytes so far "
            "are kept. Continue later, or choose a mirror.",
        ),
        host=error.host,
        file=error.file,
        done=error.done,
        size=error.size,
    )


def _of_line(error: Exception, host: str) -> UserError:
    with suppress(AttributeError, RuntimeError):  # it may have failed before there was a request
        url = httpx2.URL(str(error.request.url))  # type: ignore[attr-defined]
        host = host_of(url) if url.host else host
    if isinstance(error, httpx2.ProxyError):
        template = marked("engine", "The proxy of this computer blocks {host}: {reason}.")
        return UserError(template, host=host, reason=_reason(error))
    if isinstance(error, httpx2.TimeoutException):
        template = marked("engine", "{host} does not answer in time. Continue later, or choose a mirror.")
        return UserError(template, host=host)
    if isinstance(error, httpx2.TooManyRedirects):
        return UserError(
            marked("engine", "{host} redirects from one address to the next without end."), host=host
        )
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return UserError(
            marked("engine", "{host} redirects to an address that does not belong to a model."), host=host
        )
    if isinstance(error, httpx2.ConnectError) and (proxy := _proxy_to(host)):
        template = marked(
            "engine", "{host} cannot be reached through the proxy {proxy}: {reason}. Check the connection."
        )
        return UserError(template, host=host, proxy=proxy, reason=_reason(error))
    if isinstance(error, httpx2.ConnectError):
        template = marked(
            "engine", "{host} cannot be reached: {reason}. Check the connection, or choose a mirror."
        )
        return UserError(template, host=host, reason=_reason(error))
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError):
        template = marked(
            "engine", "{host} closed the connection too early. Continue later, or choose a mirror."
        )
        return UserError(template, host=host)
    template = marked(
        "engine", "The connection to {host} broke: {reason}. Continue later, or choose a mirror."
    )
    return UserError(template, host=host, reason=_reason(error))


def _proxy_to(host: str) -> str:
    """Return the proxy that this computer sends requests to a host by; "" for none."""
    proxies = urllib.request.getproxies()
    found = proxies.get("https") or proxies.get("http") or proxies.get("all") or ""
    return host_of(found) if found and not urllib.request.proxy_bypass(host.partition(":")[0]) else ""


def _reason(error: Exception) -> str:
    return _NUMBERED.sub("", str(error)).strip().rstrip(".") or type(error).__name__
