"""The command as a user meets it: streams, exit codes, flags. Slow things run the real console script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hybridrank import BM25, DefinitionFirst, Pipeline
from hybridrank.cli import main

SCRIPT = Path(sysconfig.get_path("scripts")) / "hybridrank"
DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
STAGES = ["bm25", "dense", "symbol", "fusion", "definition", "priors", "spread"]
LINE = re.compile(r"\[-?\d+\.\d{4}\] \S+:\d+-\d+(  \S.*)?")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository: a definition, its callers, notes, a file too large and a binary one."""
    root = tmp_path_factory.mktemp("cli") / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src/ledger.py").write_text(
        '"""Ledgers."""\n\n\n'
        "def load_ledger(path):\n"
        '    """Read a ledger from disk."""\n'
        "    return open(path).read()\n\n\n"
        "class Ledger:\n"
        '    """Accounts and balances."""\n\n'
        "    def balance(self, account):\n"
        "        return sum(self.entries[account])\n",
        encoding="utf-8",
    )
    (root / "src/report.py").write_text(
        "from ledger import load_ledger\n\n\n"
        "def print_report(path):\n"
        "    ledger = load_ledger(path)\n"
        "    print(ledger)\n",
        encoding="utf-8",
    )
    (root / "notes.txt").write_text("load_ledger reads the accounts\n帳本在哪裡讀取\n", encoding="utf-8")
    (root / "picture.bin").write_bytes(b"\x00\x01\x02" * 50)
    (root / "large.py").write_text("value = 1\n" * 2000, encoding="utf-8")
    return root


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in this process."""

    def call(*args: object) -> Ran:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


def script(*args: object, cwd: Path | None = None, env: dict[str, str] | None = None, **options: Any) -> Ran:
    """The installed command in a process of its own."""
    done = subprocess.run(
        [SCRIPT, *map(str, args)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def shell(command: str, **variables: object) -> Ran:
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "HYBRIDRANK": str(SCRIPT), **{k: str(v) for k, v in variables.items()}},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


# Answers


def test_the_definition_comes_first_one_line_a_hit(run: Run, tree: Path) -> None:
    ran = run("search", "load_ledger", tree)
    assert ran.code == 0
    assert ran.lines[0].endswith("src/ledger.py:4-6  load_ledger (function)")
    assert 1 < len(ran.lines) <= 5
    assert all(LINE.fullmatch(line) for line in ran.lines)


def test_the_script_searches_here_by_default(tree: Path) -> None:
    ran = script("search", "load_ledger", cwd=tree)
    assert ran.code == 0
    assert "src/ledger.py:4-6  load_ledger (function)" in ran.lines[0]
    assert "index" not in ran.err  # no progress where nobody watches


def test_k_has_two_names_and_cuts(run: Run, tree: Path) -> None:
    two = run("search", "ledger", tree, "--k", 2)
    assert len(two.lines) == 2
    assert two.out == run("search", "ledger", tree, "--top-k", 2).out
    assert run("search", "ledger", tree, "--k", 4).lines[:2] == two.lines
    assert run("search", "ledger", tree, "--k", 0).out == ""


def test_weights_and_rerank_depth_take_part_out(run: Run, tree: Path) -> None:
    components = run("search", "load_ledger", tree, "--json").data["hits"][0]["components"]
    assert list(components) == STAGES
    ran = run("search", "load_ledger", tree, "--json", "--weight", "dense=0", "--rerank-depth", 0)
    assert {name for hit in ran.data["hits"] for name in hit["components"]} == {"bm25", "symbol", "fusion"}
    flags = [flag for weight in ("bm25=2", "dense=0", "symbol=0") for flag in ("--weight", weight)]
    doubled = run("search", "load_ledger", tree, "--json", *flags).data
    assert max(hit["components"]["fusion"]["score"] for hit in doubled["hits"]) == pytest.approx(2 / 61)


def test_recall_limits_the_legs(run: Run, tree: Path) -> None:
    ran = run("search", "ledger", tree, "--json", "--explain", "--recall", 1, "--k", 1)
    assert {step["of"] for step in ran.data["hits"][0]["explanation"] if step["kind"] == "retriever"} == {1}


def test_filters(run: Run, tree: Path) -> None:
    def paths(*options: object) -> set[str]:
        return {hit["path"] for hit in run("search", "load_ledger", tree, "--json", *options).data["hits"]}

    assert paths("--path", "src/report.py") == {"src/report.py"}
    assert paths("--path", "*.txt", "--path", "src/report.py") == {"notes.txt", "src/report.py"}
    assert "notes.txt" not in paths("--lang", "python")
    kinds = run("search", "ledger", tree, "--json", "--kind", "class", "--kind", "function").data["hits"]
    assert {hit["kind"] for hit in kinds} == {"class", "function"}


def test_a_filter_that_nothing_fits_is_told(run: Run, tree: Path) -> None:
    ran = run("search", "ledger", tree, "--lang", "pyhton", "--path", "nowhere/")
    assert (ran.code, ran.out) == (0, "")
    assert "no document has language 'pyhton' (there are: " in ran.err
    assert "python" in ran.err
    assert "no path matches 'nowhere/'" in ran.err


def test_show_prints_code_with_line_numbers(run: Run, tree: Path) -> None:
    ran = run("search", "load_ledger", tree, "--show", "--k", 1)
    assert ran.lines[1:] == [
        "    4  def load_ledger(path):",
        '    5      """Read a ledger from disk."""',
        "    6      return open(path).read()",
    ]


def test_query_from_standard_input(tree: Path) -> None:
    code = "def read(path):\n    ledger = load_ledger(path)\n    return ledger\n"
    ran = script("search", "-", tree, "--json", input=code.encode())
    assert ran.code == 0
    assert ran.data["query"]["typed"] == code.rstrip("\n")
    assert "load_ledger" in {hit["name"] for hit in ran.data["hits"]}
    assert script("search", "-", tree, "--json", input=b"\xef\xbb\xbfledger\xff\r\n").data["query"][
        "typed"
    ] == ("ledger\ufffd")


def test_a_query_that_starts_with_a_hyphen(run: Run, tree: Path) -> None:
    assert run("search", "--", "--load_ledger", tree).code == 0
    refused = run("search", "--load_ledger", tree)
    assert refused.code == 2
    assert "No such option" in refused.err


# Explanations


def test_explain_tells_places_terms_and_moves(run: Run, tree: Path) -> None:
    ran = run("search", "where is load_ledger", tree, "--explain", "--weight", "dense=2")
    assert ran.code == 0
    assert "query     where is load_ledger" in ran.lines
    assert "dropped   where, is" in ran.lines
    first = ran.out.split("\n\n")[1].splitlines()
    assert first[0].endswith("src/ledger.py:4-6  load_ledger (function)")
    stages = [line.split()[0] for line in first if re.match(r"    \S", line)]
    assert stages == STAGES
    shown = " ".join(" ".join(first).split())
    assert re.search(r"bm25 #\d+ \d+\.\d{4} .*load_ledger \+\d.* dense #", shown)
    assert re.search(r"definition #.* name \+0\.5 \(name equals the query\)", shown)
    assert re.search(r"priors #1 \d+\.\d{4} \w+ \+\d\S* \(.* \d+ more [+-]\d\S* spread #1", shown)
    assert shown.endswith("spread #1 " + first[0].partition("[")[2].partition("]")[0])
    assert max(map(len, ran.lines)) <= 100


def test_explain_in_json(run: Run, tree: Path) -> None:
    hit = run("search", "load_ledger", tree, "--explain", "--json").data["hits"][0]
    steps = {step["stage"]: step for step in hit["explanation"]}
    assert list(steps) == STAGES
    assert steps["bm25"]["rank"] == hit["components"]["bm25"]["rank"]
    terms = steps["bm25"]["contributions"]
    assert sum(one["value"] for one in terms) == pytest.approx(steps["bm25"]["score"])
    before = [hit["components"][stage]["rank"] for stage in ("fusion", "definition", "priors")]
    assert [steps[stage]["rank_before"] for stage in ("definition", "priors", "spread")] == before
    priors = steps["priors"]
    assert sum(one["value"] for one in priors["contributions"]) == pytest.approx(priors["score"])
    told = {one["name"]: one["detail"] for one in priors["contributions"]}
    assert told["defined"] == "it defines what the query names"
    assert hit["score"] == steps["spread"]["score"] == priors["score"]


# JSON


def test_json_has_the_documented_fields(run: Run, tree: Path) -> None:
    data = run("search", "load_ledger", tree, "--json", "--explain", "--show", "--verbose").data
    assert list(data) == ["schema", "k", "degraded", "query", "hits", "verdicts", "events", "corpus"]
    assert (data["schema"], data["k"], data["degraded"]) == (1, 5, False)
    assert list(data["hits"][0]) == [
        "rank",
        "score",
        "id",
        "path",
        "start_line",
        "end_line",
        "kind",
        "name",
        "qualified_name",
        "language",
        "components",
        "text",
        "explanation",
    ]
    documented = set(re.findall(r"`(\w+)`", DOCS.read_text(encoding="utf-8")))
    parts = [data, data["query"], data["hits"][0], data["corpus"], data["hits"][0]["explanation"][0]]
    assert {name for part in parts for name in part} <= documented
    assert data["hits"][0]["text"].startswith("def load_ledger")
    assert "text" not in run("search", "load_ledger", tree, "--json").data["hits"][0]


def test_json_names_no_folder_of_this_machine_and_no_time(run: Run, tree: Path) -> None:
    ran = run("search", "load_ledger", tree, "--json", "--explain", "--show", "--verbose")
    assert str(tree) not in ran.out
    assert "seconds" not in ran.out


def test_skipped_files_are_told(run: Run, tree: Path) -> None:  # CL-04
    ran = run("search", "ledger", tree, "--max-bytes", 2000)
    assert "2 files skipped (" in ran.err
    assert "--verbose shows more" in ran.err
    verbose = run("search", "ledger", tree, "--max-bytes", 2000, "--verbose", "--json")
    assert [skipped["path"] for skipped in verbose.data["corpus"]["skipped_files"]] == [
        "large.py",
        "picture.bin",
    ]
    assert "skipped large.py: " in verbose.err
    corpus = run("search", "ledger", tree, "--max-bytes", 2000, "--json").data["corpus"]
    assert (corpus["files"], corpus["skipped"]) == (3, 2)
    assert sum(corpus["skipped_by_reason"].values()) == 2
    assert "skipped_files" not in corpus


# Nothing found


def test_no_hits(run: Run, tree: Path) -> None:  # CL-03
    ran = run("search", "zzzqqqxxx", tree, "--path", "*.py")
    assert (ran.code, ran.out) == (0, "")
    assert "no hits for 'zzzqqqxxx'" in ran.err
    ran = run("search", "zzzqqqxxx", tree, "--json")
    assert ran.code == 0
    assert ran.data["hits"] == []


@pytest.mark.parametrize("query", ["", "  ", "?!", "。"])
def test_a_query_without_words(run: Run, tree: Path, query: str) -> None:
    ran = run("search", query, tree)
    assert (ran.code, ran.out) == (0, "")
    assert [line for line in ran.err.splitlines() if "no letter and no digit" in line]
    assert "empty-query" in {event["code"] for event in run("search", query, tree, "--json").data["events"]}


def test_an_empty_tree(run: Run, tmp_path: Path) -> None:
    ran = run("search", "ledger", tmp_path)
    assert (ran.code, ran.out) == (0, "")
    assert "there was nothing to index" in ran.err


# What is wrong is refused, before anything is indexed


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--weight", "bm52=1"], "did you mean 'bm25'"),
        (["--weight", "bm25"], "no NAME=VALUE"),
        (["--weight", "bm25=two"], "no NAME=VALUE"),
        (["--weight", "=2"], "no NAME=VALUE"),
        (["--weight", "bm25=1", "--weight", "bm25=2"], "'bm25' is given twice"),
        (["--weight", "bm25=-1"], "-1"),
        (["--weight", "bm25=nan"], "nan"),
        (["--weight", "bm25=0", "--weight", "dense=0", "--weight", "symbol=0"], "zero"),
        (["--k", "81"], "recall"),
        (["--path", "!"], "--path"),
        (["--path", ""], "--path"),
        (["--k", "-1"], "-1"),
        (["--k", "1.5"], "1.5"),
        (["--recall", "0"], "0"),
        (["--rerank-depth", "-1"], "-1"),
        (["--max-bytes", "0"], "0"),
        (["--on-error", "ignore"], "degrade"),
        (["--ablation", "no-dense"], "no-dense"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--quiet", "--verbose"], "exclude each other"),
        (["--unknown"], "No such option"),
    ],
)
def test_wrong_flags(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], told: str
) -> None:
    monkeypatch.setattr(Pipeline, "for_code", lambda *_, **__: pytest.fail("it indexed"))
    ran = run("search", "ledger", tree, *options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_wrong_commands(run: Run, tree: Path) -> None:
    assert "Did you mean" in run("serch", "x").err
    missing = run("search", "x", tree / "missing")
    assert missing.code == 2
    assert "missing" in missing.err
    assert run("search").code == 2
    bare = run()
    assert (bare.code, bare.out) == (2, "")
    assert "Commands:" in bare.err


def test_configurations_and_ablations(run: Run, tree: Path, tmp_path: Path) -> None:
    config = tmp_path / "pipeline.toml"
    config.write_text(
        '[retrievers.words]\nuse = "bm25"\n[retrievers.meaning]\nuse = "dense"\n'
        '[ablations.words-only]\n"retrievers.meaning" = false\n',
        encoding="utf-8",
    )
    hits = run("search", "load_ledger", tree, "--json", "--config", config).data["hits"]
    assert list(hits[0]["components"]) == ["words", "meaning", "fusion"]
    only = run("search", "load_ledger", tree, "--json", "--config", config, "--ablation", "words-only")
    assert list(only.data["hits"][0]["components"]) == ["words", "fusion"]
    wrong = run("search", "load_ledger", tree, "--config", config, "--ablation", "word-only")
    assert wrong.code == 2
    assert "words-only" in wrong.err
    config.write_text('[retrievers.words]\nuse = "bm25"\nk2 = 1\n', encoding="utf-8")
    wrong = run("search", "load_ledger", tree, "--config", config)
    assert wrong.code == 2
    assert "retrievers.words" in wrong.err


# What fails


def down(*_: object, **__: object) -> None:
    raise ConnectionError("server\nis \x1b[31mdown")


def test_a_failing_leg_ends_the_run(run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BM25, "retrieve", down)
    ran = run("search", "ledger", tree)
    assert (ran.code, ran.out) == (1, "")
    (line,) = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert "ConnectionError: server is \\x1b[31mdown" in line
    assert "'bm25'" in line
    assert "Traceback" not in ran.err
    monkeypatch.setenv("HYBRIDRANK_DEBUG", "1")
    assert "Traceback" in run("search", "ledger", tree).err


@pytest.mark.parametrize(
    ("part", "method", "stage"), [(BM25, "retrieve", "bm25"), (DefinitionFirst, "rerank", "definition")]
)
def test_a_failing_stage_can_be_left_out(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch, part: type, method: str, stage: str
) -> None:
    monkeypatch.setattr(part, method, down)
    ran = run("search", "load_ledger", tree, "--on-error", "degrade")
    assert ran.code == 3
    assert ran.lines
    (warning,) = [line for line in ran.err.splitlines() if line.startswith("warning: ")]
    assert repr(stage) in warning
    data = run("search", "load_ledger", tree, "--on-error", "degrade", "--json").data
    assert data["degraded"] is True
    assert stage in {event["stage"] for event in data["events"] if event["code"] == "stage-failed"}
    assert run("search", "load_ledger", tree, "--on-error", "degrade", "--explain").code == 3


def test_interrupt(run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pipeline, "for_code", stop)
    ran = run("search", "ledger", tree)
    assert (ran.code, ran.out) == (130, "")
    assert "Traceback" not in ran.err


# Streams


def test_what_parts_print_does_not_reach_stdout(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = BM25.retrieve

    def chatty(self: BM25, *args: Any, **options: Any) -> Any:
        print("loading a model")  # noqa: T201
        return asked(self, *args, **options)

    monkeypatch.setattr(BM25, "retrieve", chatty)
    ran = run("search", "load_ledger", tree, "--json")
    assert ran.data["hits"]
    assert "loading a model" in ran.err


def test_quiet(run: Run, tree: Path) -> None:
    ran = run("search", "ledger", tree, "--quiet", "--max-bytes", 2000)
    assert ran.lines
    assert ran.err == ""
    assert run("search", "zzzqqqxxx", tree, "--quiet").err == ""
    assert run("search", "ledger", tree, "--quiet", "--k", 99).err.startswith("error: ")


def test_hostile_file_names_and_code(run: Run, tmp_path: Path) -> None:
    names = [b"\x1b[2Jclear.py", b"bad\xff.py", "\u202egnp.py".encode(), b"line\nbreak.py", b"<b>.py"]
    for name in names:
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_bytes(
            b"def clear():\n    return '\x1b]0;title\x07'\n"
        )
    for options in ([], ["--show"], ["--explain", "--verbose"]):
        ran = run("search", "clear", tmp_path, *options)
        assert ran.code == 0
        assert not {"\x1b", "\x07", "\u202e", "\udcff"} & set(ran.out + ran.err)
    assert "1 file skipped (its name is not valid UTF-8)" in ran.err
    assert "skipped bad" in ran.err
    assert sorted(line[9:] for line in run("search", "clear", tmp_path).lines) == [
        "<b>.py:1-2  clear (function)",
        "\\u202egnp.py:1-2  clear (function)",
        "\\x1b[2Jclear.py:1-2  clear (function)",
        "line\\x0abreak.py:1-2  clear (function)",
    ]
    hits = run("search", "clear", tmp_path, "--json", "--show").data["hits"]
    assert {hit["path"] for hit in hits} == {"\x1b[2Jclear.py", "\u202egnp.py", "line\nbreak.py", "<b>.py"}


def test_a_query_that_is_no_utf8(run: Run, tree: Path) -> None:
    done = subprocess.run([SCRIPT, "search", b"ledger \xff", tree, "--json"], capture_output=True, check=True)
    assert json.loads(done.stdout.decode("utf-8"))["query"]["typed"] == "ledger \udcff"
    assert run("search", "\udcff\x1b[2J", tree, "--explain").lines[0] == "query     \\udcff\\x1b[2J"


def test_closed_pipe(tree: Path) -> None:  # CL-02
    for options, reader, codes in (
        ("--k 40 --show --explain", "head -1", {0, 141}),
        ("--k 40 --json --show", "head -c 1", {0, 141}),
        ("", "true", {141}),
    ):
        ran = shell(
            f'"$HYBRIDRANK" search ledger "$TREE" {options} | {reader}; exit "${{PIPESTATUS[0]}}"', TREE=tree
        )
        assert ran.code in codes
        assert "Traceback" not in ran.err
        assert "BrokenPipe" not in ran.err


@pytest.mark.parametrize("command", ["--help", "components"])
def test_closed_pipe_of_other_commands(command: str) -> None:
    ran = shell(f'(sleep 0.3; exec "$HYBRIDRANK" {command}) | true; exit "${{PIPESTATUS[0]}}"')
    assert ran.code == 141
    assert ran.err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_device_is_an_error(tree: Path) -> None:
    for command in (f"search ledger '{tree}' -q", "--help"):
        ran = shell(f'"$HYBRIDRANK" {command} > /dev/full')
        assert ran.code == 1
        assert "error: cannot write to standard output" in ran.err
        assert "Traceback" not in ran.err
    silent = shell('"$HYBRIDRANK" search ledger "$TREE" --verbose 2> /dev/full', TREE=tree)
    assert silent.code == 0
    assert silent.lines


def test_closed_standard_streams(tree: Path) -> None:
    ran = shell('"$HYBRIDRANK" search ledger "$TREE" >&-', TREE=tree)
    assert ran.code == 1
    assert "error: cannot write" in ran.err
    assert shell('"$HYBRIDRANK" search ledger "$TREE" 2>&-', TREE=tree).code == 0
    assert shell('"$HYBRIDRANK" search - "$TREE" <&-', TREE=tree).code == 2


def test_utf8_whatever_the_locale(tree: Path) -> None:
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "latin-1"}
    ran = script("search", "帳本", tree, "--json", "--show", env=plain)
    assert ran.code == 0
    assert "帳本在哪裡讀取" in ran.data["hits"][0]["text"]


def test_progress_is_drawn_on_a_terminal_only(tree: Path) -> None:
    pty = pytest.importorskip("pty")
    for options, drawn in (([], True), (["--quiet"], False)):
        ours, theirs = pty.openpty()
        done = subprocess.Popen(
            [SCRIPT, "search", "load_ledger", tree, *options],
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm"},
        )
        os.close(theirs)
        seen = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
        os.close(ours)
        assert done.stdout is not None
        out = done.stdout.read().decode()
        done.stdout.close()
        assert done.wait(60) == 0
        assert (b"index" in seen) is drawn
        assert all(LINE.fullmatch(line) for line in out.splitlines())


# Start-up, help, documentation


WATCHED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(event) if event.startswith("socket.") else None)
from hybridrank.cli import main
code = main(sys.argv[1:])
heavy = {"numpy", "scipy", "tree_sitter", "rich", "ollama", "asyncio", "Stemmer"} & set(sys.modules)
print(code, opened, sorted(heavy), file=sys.stderr)
"""


def watched(*args: object) -> str:
    """Exit code, sockets touched and heavy modules loaded by a run."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *map(str, args)], capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "args", ["--help", "--version", "search --help", "components -h", "components", "components --json"]
)
def test_help_loads_nothing_heavy_and_opens_no_socket(args: str) -> None:  # EM-08, PL-04
    assert watched(*args.split()) == "0 [] []"


def test_a_search_opens_no_socket(tree: Path) -> None:  # EM-08
    assert watched("search", "ledger", tree).startswith("0 [] ['")


def test_version_and_module(run: Run) -> None:
    from hybridrank import __version__

    ran = run("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"hybridrank {__version__}\n", "")
    done = subprocess.run(
        [sys.executable, "-m", "hybridrank", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == ran.out


def test_shell_completion() -> None:
    ran = script(env={"_HYBRIDRANK_COMPLETE": "zsh_source"})
    assert ran.code == 0
    assert "compdef" in ran.out
    words = {"_HYBRIDRANK_COMPLETE": "zsh_complete", "COMP_WORDS": "hybridrank se", "COMP_CWORD": "1"}
    assert "search" in script(env=words).out


def test_exit_codes_are_documented(run: Run) -> None:
    codes = re.findall(r"^    (\d+) +\S", run("--help").out, re.MULTILINE)
    assert codes == ["0", "1", "2", "3", "130", "141"]
    section = DOCS.read_text(encoding="utf-8").split("## Exit codes")[1].split("\n## ")[0]
    assert re.findall(r"^\| (\d+) \|", section, re.MULTILINE) == codes
    assert "Exit codes:" in run("search", "--help").out


# hybridrank components


def test_components_lists_every_part(run: Run) -> None:
    ran = run("components")
    assert (ran.code, ran.err) == (0, "")
    rows = [line.split() for line in ran.lines]
    assert {("retriever", "bm25"), ("fuser", "rrf"), ("reranker", "definition"), ("embedder", "lsa")} <= {
        (row[0], row[1]) for row in rows
    }
    (bm25,) = [line for line in ran.lines if line.startswith("retriever") and " bm25 " in line]
    assert re.fullmatch(r"retriever +bm25 +hybridrank 0\.\S+", bm25)
    assert ran.out == run("components").out
    shown = run("components", "--options")
    assert [line.split()[:4] for line in shown.lines] == [row[:4] for row in rows]
    assert any("k1=1.2, b=0.75" in line for line in shown.lines)


def test_components_in_json(run: Run) -> None:
    data = run("components", "--json", "--kind", "fuser", "--options").data
    assert data["schema"] == 1
    bare = [{k: v for k, v in row.items() if k not in ("options", "error")} for row in data["components"]]
    assert run("components", "--json", "--kind", "fuser").data == {"schema": 1, "components": bare}
    (rrf,) = [row for row in data["components"] if row["name"] == "rrf"]
    assert (rrf["kind"], rrf["distribution"], rrf["built_in"], rrf["error"]) == (
        "fuser",
        "hybridrank",
        True,
        "",
    )
    assert {"name": "rrf_k", "type": "float", "required": False, "default": 60} in rrf["options"]
    documented = set(re.findall(r"`(\w+)`", DOCS.read_text(encoding="utf-8")))
    assert set(rrf) | set(rrf["options"][0]) <= documented
    wrong = run("components", "--kind", "fusers")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean 'fuser'" in wrong.err


def test_a_broken_plugin_is_a_line(tmp_path: Path) -> None:  # PL-01
    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[hybridrank.rerankers]\nbroken = broken_plugin:Broken\nfine = broken_plugin_fine:Fine\n"
        "leaves = broken_plugin_leaves:Leaves\n"
    )
    (tmp_path / "broken_plugin.py").write_text("print('noise')\nraise RuntimeError('no luck')\n")
    (tmp_path / "broken_plugin_leaves.py").write_text("import sys\nsys.exit(5)\n")
    (tmp_path / "broken_plugin_fine.py").write_text(
        "class Fine:\n    def __init__(self, needed, *, size=object()): ...\n"
    )
    listed = script("components", env={"PYTHONPATH": str(tmp_path)})
    assert (listed.code, listed.err) == (0, "")
    assert re.search(r"^reranker +broken +broken-plugin 1\.0$", listed.out, re.MULTILINE)
    ran = script("components", "--options", env={"PYTHONPATH": str(tmp_path)})
    assert ran.code == 0
    rows = {line.split()[1]: line for line in ran.lines}
    assert rows["broken"].endswith("broken-plugin 1.0  cannot be loaded")
    assert rows["leaves"].endswith("cannot be loaded")
    assert rows["fine"].endswith("needed, size='<object>'")
    assert "bm25" in rows
    assert "no luck" in ran.err
    assert "noise" not in ran.out
    options = ("components", "--options", "--json", "--kind", "reranker")
    data = script(*options, env={"PYTHONPATH": str(tmp_path)}).data
    (broken,) = [row for row in data["components"] if row["name"] == "broken"]
    assert broken["options"] is None
    assert "no luck" in broken["error"]
