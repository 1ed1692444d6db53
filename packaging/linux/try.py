"""Try a built folder as people will have it: python3 packaging/linux/try.py OUT/cloze-... [REPORT.json]

All of it with the network cut (a namespace of its own, in which this computer alone answers), in a home whose
name has a space, Chinese and a `$`, with the program's folder read-only. Wants `unshare`; for windows Xvfb
and xdotool; for a cold start leave to empty the memory of files, which root has. What is lacking is said and
left out. Nothing of Cloze or its requirements is imported here: any Python from 3.11 on does.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CUT = "CLOZE_TRY_CUT"
MOST_MB, MOST_COLD_S, MOST_DEMO_S = 420, 4.0, 360.0
ODD = "小 明's $home"
PARQUET = (  # four rows of text and label, compressed
    "c-jka3^EjD5RDOy(GleUGT21fWEdD2n1Gmrkp)Pm=jW#|1L>s16iz5tAuTf}mjfaOW&`!Ph`L}g0Hm=XzZgX2rKY3uL|G(lOc^"
    "BDijy-^a}z~b7({tgnIu?BQY%VS8GJxyfCX4{5|dJMpdw-%k}{GyY78=>Jd&zx43ZG#qCj!6CPpAq<M5OLx`9EIiNQw9K$1;Tj"
    "RE9NBn=Sbz&f(Tvedd5ku*raHHf`o6ys3i08$JZ3I&Npg{7$_y2%9vx`{<a`Q-{_sYS(^`FRRPW_kvChLSo!r-58|35WxL;Ryi"
    "hxj1V"
)
LEFT_TO_THE_SYSTEM = ("libEGL", "libGL", "libOpenGL", "libdrm", "libxcb.", "libwayland", "libvulkan")


class Failed(Exception):
    """What was tried did not do what it should."""


class Tried:
    """What was tried, and what came of it."""

    def __init__(self) -> None:
        self.found: dict[str, object] = {}
        self.failed = 0

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[dict[str, object]]:
        """Try one thing; what is put into the value is reported with its seconds."""
        began, told = time.monotonic(), dict[str, object]()
        try:
            yield told
            told["ok"] = True
        except (Failed, OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            told |= {"ok": False, "why": str(error)[-2000:]}
            self.failed += 1
        told["seconds"] = round(time.monotonic() - began, 2)
        self.found[name] = told
        rest = ", ".join(f"{key} {value}" for key, value in told.items() if key not in ("ok", "why"))
        print(f"{'ok    ' if told['ok'] else 'FAILED'} {name}: {rest}", flush=True)
        if not told["ok"]:
            print(f"       {told['why']}", flush=True)


def check(holds: object, why: str) -> None:
    if not holds:
        raise Failed(why)


class Home:
    """A home with the program installed in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.lib = home / ".local" / "lib" / "cloze"
        self.command = home / ".local" / "bin" / "cloze"
        self.assets = self.lib / "_internal" / "app" / "assets"

    def around(self, **more: str) -> dict[str, str]:
        kept = ("PATH", "LANG", "DISPLAY", "OMP_NUM_THREADS", "XAUTHORITY")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(self.home),
            **more,
        }

    def run(self, *words: object, limit: float = 600, fails: bool = False, **more: str) -> str:
        """Return what a command says; it has to succeed, or, with `fails`, to refuse."""
        done = subprocess.run(
            [self.command, *map(str, words)],
            env=self.around(**more),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        check(
            (done.returncode != 0) == fails,
            f"{' '.join(map(str, words))}: {done.stdout[-500:]} {done.stderr[-1500:]}",
        )
        return done.stdout + done.stderr

    @contextlib.contextmanager
    def window(self, *words: object, title: str = "Cloze", **more: str) -> Iterator[float]:
        """Open the window, and give the seconds until it is on the screen; ends it, too."""
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as said:
            line = [self.command, *map(str, words)]
            process = subprocess.Popen(line, env=self.around(**more), stdout=said, stderr=said)
            try:
                while not _is_seen(title):
                    if process.poll() is not None or time.monotonic() - began > 60:
                        said.seek(0)
                        raise Failed(f"no window called {title}: {said.read()}")
                    time.sleep(0.02)
                yield time.monotonic() - began
            finally:
                process.terminate()
                process.wait(30)


def _is_seen(title: str) -> bool:
    line = ["xdotool", "search", "--onlyvisible", "--name", title]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def display() -> Iterator[bool]:
    """An X server of our own, no Wayland; whether there is one."""
    if not shutil.which("Xvfb") or not shutil.which("xdotool"):
        yield False
        return
    read, write = os.pipe()
    line = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1400x900x24", "-nolisten", "tcp"]
    process = subprocess.Popen(line, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as said:
            os.environ["DISPLAY"] = f":{said.readline().strip()}"
        yield True
    finally:
        process.terminate()
        process.wait()
        del os.environ["DISPLAY"]


def files_of(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir() or path.is_symlink()}


def forget_files() -> bool:
    """Have the system read all files anew; whether it lets us."""
    try:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        return False
    return True


def try_sizes(folder: Path, tried: Tried) -> None:
    with tried.of("size") as told:
        packed = folder.with_name(folder.name + ".tar.xz")
        files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        told["MB"] = round(sum(path.stat().st_size for path in files) / 1e6)
        told["files"] = len(files)
        if packed.is_file():
            told["packed_MB"] = round(packed.stat().st_size / 1e6)
            check(told["packed_MB"] <= MOST_MB, f"more than {MOST_MB} MB")
        broken = [path.name for path in folder.rglob("*") if path.is_symlink() and not path.exists()]
        check(not broken, f"links to nothing: {broken}")
    with tried.of("each library finds those that it is linked with"):
        inner = folder / "cloze" / "_internal"
        around, libraries = {**os.environ, "LD_LIBRARY_PATH": str(inner)}, [*inner.rglob("*.so*")]
        said = subprocess.run(
            ["ldd", *libraries], env=around, capture_output=True, text=True, check=False
        ).stdout
        lacking = {line.split()[0] for line in said.splitlines() if line.endswith("not found")}
        lacking -= {one for one in lacking if one.startswith(LEFT_TO_THE_SYSTEM)}
        check(not lacking, f"not found: {sorted(lacking)}")


def try_commands(place: Home, work: Path, tried: Tried) -> None:
    run, starter = place.run, place.assets / "models" / "starter"
    rows = (place.assets / "samples" / "sentence_polarity.csv").read_text(encoding="utf-8").splitlines()
    rows = rows[:1] + rows[1::26]
    table = work / "评论 400.csv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    root = work / "runs"
    with tried.of("--version"):
        check(run("--version").startswith("Cloze "), "no version")
    with tried.of("fill-mask by name"):
        said = run("engine", "fill-mask", "--model", "starter", "The capital of France is [MASK].", "--json")
        check(json.loads(said)[0][0]["token"], said)
    with tried.of("commands in Chinese"):
        said = run("engine", "--lang", "zh", "tokenize", "--model", "chinese", "我爱看电影")
        check("每个汉字是一个词片" in said, said)
    with tried.of("finetune on 400 rows") as told:
        began = time.monotonic()
        run(
            "engine",
            "finetune",
            "--data",
            table,
            "--model",
            starter,
            "--run",
            root / "first",
            "--set",
            "num_epochs=1",
        )
        told["training"] = round(time.monotonic() - began, 1)
    model = root / "first" / "model"
    with tried.of("predict into .xlsx and .csv"):
        for ending in ("xlsx", "csv"):
            run("engine", "predict", "--model", model, "--data", table, "--out", work / f"answers.{ending}")
        check((work / "answers.csv").read_text(encoding="utf-8").count("\n") >= 400, "rows are missing")
    with tried.of("a table of Parquet"):
        (work / "four.parquet").write_bytes(zlib.decompress(base64.b85decode("".join(PARQUET))))
        check(
            "labels of four.parquet" in run("engine", "doctor", "--data", work / "four.parquet"),
            "nothing was read",
        )
    with tried.of("export as ONNX with --int8, zip and transformers"):
        words = (
            "--onnx",
            work / "onnx",
            "--int8",
            "--keep",
            "--zip",
            work / "model.zip",
            "--transformers",
            work / "hf",
        )
        run("engine", "export", "--model", model, *words)
        check([*(work / "onnx").glob("*.onnx")], "no graph")
    with tried.of("export in a process of its own, as the window does"):
        asked_of(
            place, "engine.export", {"target": "transformers", "model": str(model), "out": str(work / "hf2")}
        )
        check((work / "hf2" / "config.json").is_file(), "nothing was exported")
    with tried.of("a run in the queue, by the process that the window starts"):
        run("engine", "queue", "add", root / "first", "--seeds", "1", "--runs", root)
        run("--as-module", "engine", "queue", "run", "--own", "--runs", root)
        check(len([*root.glob("*/model/config.json")]) == 2, run("engine", "queue", "list", "--runs", root))
    text, vocab = work / "text.txt", starter / "vocab.txt"
    sentences = [row.rsplit(",", 1)[0] for row in rows[1:]] * 20
    documents = ("\n".join(sentences[at : at + 8]) for at in range(0, len(sentences), 8))
    text.write_text("\n\n".join(documents) + "\n", encoding="utf-8")
    with tried.of("a family of an n-gram model and CBOW, by gensim"):
        words = ("--members", "ngram,cbow", "--tokens", "20000", "--out", work / "family")
        run("engine", "family", "--text", text, *words)
    with tried.of("pretraining from Chinese text, words cut by rjieba in processes of their own"):
        chinese = work / "chinese.txt"
        chinese.write_text("我爱看电影。\n北京是中国的首都。\n\n" * 3000, encoding="utf-8")
        words = ("--model", "chinese", "--steps", "3", "--run", root / "chinese", "--set", "segmenter=jieba")
        run("engine", "pretrain", "--text", chinese, *words)
    with tried.of("pretraining"):
        words = ("--vocab", vocab, "--size", "tiny", "--steps", "5", "--run", root / "language")
        run("engine", "pretrain", "--text", text, *words)
    with tried.of("a model downloaded from a hub on this computer"):
        sys.path.insert(0, str(ROOT))
        from tests.local_hub import LocalHub

        with LocalHub() as hub:
            hub.publish("someone/small", starter)
            run("engine", "download", "someone/small", "--out", work / "got", HF_ENDPOINT=hub.url)
        check((work / "got" / "config.json").is_file(), "nothing came")
        run("engine", "tokenize", "--model", work / "got", "playing chess")
    with tried.of("a hub that cannot be reached is told in a sentence"):
        said = run("engine", "download", "someone/small", "--out", work / "no", fails=True)
        check("Traceback" not in said and "cannot be reached" in said, said)


def asked_of(place: Home, module: str, question: dict[str, object]) -> None:
    """Ask a process of the program's own, which ends where its input does."""
    line, piped = [place.command, "--as-module", module], subprocess.PIPE
    with subprocess.Popen(
        line, env=place.around(), text=True, stdin=piped, stdout=piped, stderr=piped
    ) as child:
        assert child.stdin and child.stdout and child.stderr
        child.stdin.write(json.dumps(question) + "\n")
        child.stdin.flush()
        said = child.stdout.read()  # to its end
        check('"found"' in said, said + child.stderr.read())


def try_window(place: Home, work: Path, tried: Tried) -> None:
    table = work / "reviews 评论.csv"
    shutil.copy(place.assets / "samples" / "emotions.csv", table)
    lecture = work / "told.cloze"
    shutil.copy(place.assets / "lectures" / "how-bert-reads.json", lecture)
    with tried.of("the window, cold") as told:
        told["memory_emptied"] = forget_files()
        with place.window() as seconds:
            told["until_seen"] = round(seconds, 2)
        told["cold_enough"] = seconds <= MOST_COLD_S
    with tried.of("the window again") as told, place.window() as seconds:
        told["until_seen"] = round(seconds, 2)
    with tried.of("a double-clicked table"), place.window(table, title="reviews 评论.csv"):
        pass
    with tried.of("a double-clicked lecture"), place.window(lecture):
        time.sleep(8)
        shot(work / "lecture.png")
    nothing = work / "no fonts"
    nothing.mkdir()
    (nothing / "fonts.conf").write_text(
        f"<fontconfig><dir>{nothing}</dir><cachedir>{nothing}</cachedir></fontconfig>"
    )
    bare = {"FONTCONFIG_FILE": str(nothing / "fonts.conf")}
    with tried.of("without any font of the system"), place.window(**bare):
        time.sleep(4)
        shot(work / "no-fonts.png")


def shot(path: Path) -> None:
    if shutil.which("import"):
        subprocess.run(["import", "-window", "root", path], check=False)


def try_older(place: Home, tried: Tried) -> None:
    """Runs and settings of earlier versions are where they are kept."""
    runs = place.home / ".local" / "share" / "cloze" / "runs"
    runs.mkdir(parents=True)
    with zipfile.ZipFile(ROOT / "tests" / "data" / "old_runs" / "runs.zip") as old:
        old.extractall(runs)
    config = place.home / ".config" / "Cloze" / "Cloze.conf"
    config.parent.mkdir(parents=True)
    config.write_text("[General]\ntheme=dark\nlast_page=a page that is gone\ngeometry=nonsense\nunknown=1\n")
    with tried.of("runs of earlier versions are listed") as told:
        said = place.run("engine", "runs", "--json")
        told["runs"] = len(json.loads(said))
        check(told["runs"], said)


def try_all(folder: Path, report: Path | None) -> int:
    tried = Tried()
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory(prefix="cloze try ") as scratch:
        work = Path(scratch)
        place = Home(work / ODD)
        place.home.mkdir()
        try_sizes(folder, tried)
        empty = files_of(place.home)
        with tried.of("install, in a home with a space, Chinese and a $"):
            line = ["sh", str(folder / "install")]
            done = subprocess.run(line, env=place.around(), capture_output=True, text=True, check=False)
            check(done.returncode == 0, done.stdout + done.stderr)
        with tried.of("install again, over leftovers"):
            (place.lib / "_internal" / "torch" / "left.so").write_text("of an older version")
            done = subprocess.run(line, env=place.around(), capture_output=True, text=True, check=False)
            check(done.returncode == 0, done.stdout + done.stderr)
            check(not (place.lib / "_internal" / "torch" / "left.so").exists(), "leftovers are still there")
        with tried.of("the program's folder is read-only from here on"):
            line = ["mount", "--bind", place.lib, place.lib], ["mount", "-o", "remount,ro,bind", place.lib]
            for one in line:
                subprocess.run(one, check=True, capture_output=True)
        try_older(place, tried)
        try_commands(place, work, tried)
        with display() as there:
            if there:
                try_window(place, work, tried)
            else:
                print("left out: windows. Xvfb and xdotool are not both at hand.", flush=True)
        with tried.of("the demonstration, offscreen, from its start to a trained model") as told:
            began = time.monotonic()
            place.run("demo", "--out", work / "demo", limit=900, QT_QPA_PLATFORM="offscreen")
            told["took"] = round(time.monotonic() - began, 1)
            check((work / "demo" / "model" / "config.json").is_file(), "no model")
            check(told["took"] <= MOST_DEMO_S, "longer than six minutes")
        if report is not None and (work / "demo" / "screenshots").is_dir():
            shutil.copytree(work / "demo" / "screenshots", report.with_suffix(""), dirs_exist_ok=True)
        for picture in work.glob("*.png"):
            if report is not None:
                report.with_suffix("").mkdir(parents=True, exist_ok=True)
                shutil.copy(picture, report.with_suffix(""))
        with tried.of("uninstall removes the program alone"):
            subprocess.run(["umount", place.lib], check=True, capture_output=True)
            line = ["sh", str(place.lib / "uninstall")]
            done = subprocess.run(line, env=place.around(), capture_output=True, text=True, check=False)
            check(done.returncode == 0, done.stdout + done.stderr)
            kept = (
                ".config/",
                ".cache/",
                ".local/share/cloze/",
                ".local/state/",
            )  # what a person made with it
            left = {one for one in files_of(place.home) - empty if not one.startswith(kept)}
            check(not left, f"left: {sorted(left)[:20]}")
            check((place.home / ".local/share/cloze/runs").is_dir(), "the runs are gone")
    if report is not None:
        report.write_text(json.dumps(tried.found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(tried.found) - tried.failed} passed, {tried.failed} failed", flush=True)
    return int(tried.failed > 0)


def main(words: list[str]) -> int:
    if not 1 <= len(words) <= 2 or not (Path(words[0]) / "cloze" / "cloze").is_file():
        print(__doc__, file=sys.stderr)
        return 2
    if CUT not in os.environ:
        own = ["unshare", "-nm"] if os.geteuid() == 0 else ["unshare", "-rnm"]
        return subprocess.call([*own, sys.executable, __file__, *words], env={**os.environ, CUT: "1"})
    return try_all(Path(words[0]).resolve(), Path(words[1]).resolve() if words[1:] else None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
