"""The same training as a file for those who have SkyPilot, dstack or Kubernetes: their schema, our command.

The files are read by those tools, never here. Sources: SkyPilot's YAML reference (a task), dstack's reference
of .dstack.yml (type: task), the Kubeflow training operator's PyTorchJob (kubeflow.org/v1).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.errors import UserError, marked
from engine.remote.computer import PACKAGE

IMAGE = "python:3.12"  # where one has to be named
FOLDER = "/work"  # in a container: where data and run are
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_NOT_ASCII = re.compile("[^\x20-\x7e]")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
TOOLS: dict[str, Callable[[str, str, int], Mapping[str, Any]]] = {}


def manifest(tool: str, name: str, words: Sequence[str], num_gpus: int) -> str:
    """Return a file for one of TOOLS. Args: words: what trains, behind "python". Raises: UserError."""
    if tool not in TOOLS:
        raise UserError(marked("engine", "{tool} is none of: {names}."), tool=tool, names=list(TOOLS))
    return yaml_of(TOOLS[tool](tidy_name(name), command(words, num_gpus), num_gpus))


def command(words: Sequence[str], num_gpus: int) -> str:
    """Return the line of a shell that trains over so many GPUs."""
    start = ["torchrun", "--standalone", f"--nproc-per-node={num_gpus}"] if num_gpus > 1 else ["python"]
    return shlex.join([*start, *words])


def tidy_name(name: str) -> str:
    """Return a name that each of the tools takes: small letters, digits and hyphens."""
    plain = _NOT_IN_NAMES.sub("-", name.lower()).strip("-")[:40].strip("-")
    return plain if plain[:1].isalpha() else f"run-{plain}".strip("-")


def yaml_of(document: Any, indent: int = 0) -> str:
    """Return a document as YAML: blocks, every text in double quotes, as JSON has it."""
    pad = "  " * indent
    if isinstance(document, Mapping):
        return "".join(_entry(f"{pad}{_key(key)}:", value, indent) for key, value in document.items())
    return "".join(_entry(f"{pad}-", value, indent) for value in document)


def _entry(begin: str, value: Any, indent: int) -> str:
    if isinstance(value, Mapping | list | tuple) and value:
        return f"{begin}\n{yaml_of(value, indent + 1)}"
    return f"{begin} {_scalar(value)}\n"


def _scalar(value: Any) -> str:
    """Return a value as JSON has it, but for what YAML writes otherwise: characters beyond 16 bits."""
    return _NOT_ASCII.sub(lambda one: _escaped(one[0]), json.dumps(value, ensure_ascii=False))


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _scalar(key)


def _skypilot(name: str, line: str, num_gpus: int) -> Mapping[str, Any]:
    resources = {"accelerators": f"A100:{num_gpus}"} if num_gpus else {"cpus": "4+"}
    return {
        "name": name,
        "resources": resources,
        "workdir": ".",
        "setup": f"pip install {PACKAGE}",
        "run": line,
    }


def _dstack(name: str, line: str, num_gpus: int) -> Mapping[str, Any]:
    resources = {"gpu": num_gpus} if num_gpus else {"cpu": "4.."}
    return {
        "type": "task",
        "name": name,
        "python": "3.12",
        "working_dir": FOLDER,
        "files": [f".:{FOLDER}"],  # without it nothing of here is there
        "commands": [f"pip install {PACKAGE}", line],
        "resources": resources,
    }


def _kubernetes(name: str, line: str, num_gpus: int) -> Mapping[str, Any]:
    container: dict[str, Any] = {
        "name": "pytorch",  # the operator asks for this name
        "image": IMAGE,
        "command": ["/bin/sh", "-c", f"pip install {PACKAGE} && {line}"],
        "workingDir": FOLDER,
        "volumeMounts": [{"name": "work", "mountPath": FOLDER}],
    }
    if num_gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": num_gpus}}
    volume = {"name": "work", "persistentVolumeClaim": {"claimName": name}}
    spec = {"restartPolicy": "OnFailure", "containers": [container], "volumes": [volume]}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "None"},  # what it said can be read when it has ended
            "pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": {"spec": spec}}},
        },
    }


TOOLS |= {"skypilot": _skypilot, "dstack": _dstack, "kubernetes": _kubernetes}
