"""Hosts are those of ~/.ssh/config; no name reaches a shell or ssh as anything but a name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.remote.connection import command_there, in_shell
from engine.remote.hosts import HostSettings, check_host, hosts, remember, settings_of, slurm_options


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_, **__: str(tmp_path / "settings"))
    (tmp_path / ".ssh").mkdir()
    return tmp_path


def test_hosts_are_named_without_patterns_and_those_of_included_files_too(home: Path) -> None:
    (home / ".ssh" / "config").write_text(
        "# Host no\nHost gpu1 gpu2 *.example !gpu9\n  HostName 10.0.0.1\n"
        "host=cluster\nInclude more/*.conf config\n"
        'Host "with space" gpu1 -oBad\nMatch host x\n  Host gp?\n'
    )
    (home / ".ssh" / "more").mkdir()
    (home / ".ssh" / "more" / "a.conf").write_text("Host\tinner\n")
    assert hosts() == ("gpu1", "gpu2", "cluster", "inner")


def test_without_a_config_there_are_none(home: Path) -> None:
    assert hosts() == ()


@pytest.mark.parametrize(
    "host", ["", "-oProxyCommand=x", "a b", "a;b", "$(x)", "a\nb", "'a'", "a" * 300, "`x`"]
)
def test_what_is_no_name_of_a_host_is_refused(host: str) -> None:
    with pytest.raises(UserError, match="is not the name of a host"):
        check_host(host)


@pytest.mark.parametrize("host", ["gpu1", "me@gpu-1.example.org", "[::1]", "服务器", "10.0.0.1"])
def test_what_ssh_takes_for_a_host_is_one(host: str) -> None:
    assert check_host(host) == host


def test_settings_of_a_host_are_remembered_beside_those_of_others(home: Path) -> None:
    assert settings_of("gpu1") == HostSettings()
    remember("gpu1", HostSettings(slurm="--gpus=2"))
    remember("gpu2", HostSettings(python="~/venv/bin/python"))
    assert settings_of("gpu1").slurm == "--gpus=2" and settings_of("gpu2").python == "~/venv/bin/python"
    remember("gpu1", HostSettings())
    assert (
        settings_of("gpu1") == HostSettings() and "gpu1" not in (home / "settings" / "hosts.toml").read_text()
    )
    (home / "settings" / "hosts.toml").write_text("gpu2 = 7\n[gpu1]\nslurm = 3\nother = 'x'\n")
    assert settings_of("gpu1") == settings_of("gpu2") == HostSettings()


def test_options_of_sbatch_are_words_of_their_own() -> None:
    assert slurm_options("--gpus=2 -p 'a b' --time=1:00") == ["--gpus=2", "-p", "a b", "--time=1:00"]
    for text in ("gpus=2", "--gpus=2 one two", "'"):
        with pytest.raises(UserError, match="are not options of sbatch"):
            slurm_options(text)


@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b', "$(touch x)", "a;touch x", "`touch x`", "服务"])
def test_a_path_there_stays_a_path_in_a_shell(tmp_path: Path, name: str) -> None:
    said = subprocess.run(
        ["/bin/sh", "-c", f"printf %s {in_shell(f'~/{name}')}"],
        env={"HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"{tmp_path}/{name}" and not list(tmp_path.iterdir())
    command = command_there(HostSettings(folder=f"~/{name}", python=f"/{name}"))
    done = subprocess.run(
        ["/bin/sh", "-c", command.replace("[ -x ", "[ -x /nowhere")],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cloze-remote 1 probe" in done.stdout and not list(tmp_path.iterdir())
