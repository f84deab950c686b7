from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_distributions import Site, temporary_site
from hybridrank import PluginError, UnknownNameError, components, load_component
from hybridrank.errors import InvalidValueError, MissingExtraError
from hybridrank.registry import GROUPS, ComponentInfo, PluginWarning, name_of

PART = "class Part:\n    def __init__(self, *, depth: int, scope: str = 'all') -> None: ...\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    yield from temporary_site(tmp_path, monkeypatch)


def test_built_in_parts_are_listed_by_kind_and_name() -> None:
    listed = components()
    assert [(i.kind, i.name) for i in listed] == sorted((i.kind, i.name) for i in listed)
    built_in = {(i.kind, i.name) for i in listed if i.built_in}
    assert {("retriever", "bm25"), ("embedder", "lsa"), ("fuser", "rrf"), ("chunker", "lines")} <= built_in
    assert {i.kind for i in components("fuser")} == {"fuser"}
    assert components("fuser") == tuple(i for i in listed if i.kind == "fuser")


def test_every_entry_point_group_of_the_project_is_a_kind() -> None:
    own = importlib.metadata.distribution("hybridrank").entry_points
    assert {e.group for e in own if e.group.startswith("hybridrank.")} <= set(GROUPS.values())


def test_a_part_is_described_by_its_metadata(site: Site) -> None:
    site.install("my-parts", {"rerankers": {"fresh": "mine:Part"}}, {"mine": PART}, version="2.3")
    assert [i for i in components("reranker") if i.name == "fresh"] == [
        ComponentInfo("reranker", "fresh", "my-parts", "2.3", "mine:Part")
    ]


# PL-04
def test_listing_imports_no_part_and_opens_no_socket(site: Site) -> None:
    marker = site.folder / "imported"
    site.install(
        "eager",
        {"retrievers": {"eager": "eager:Part"}},
        {"eager": f"open({str(marker)!r}, 'w').close()\n{PART}"},
    )
    code = (
        "import sys\n"
        "def hook(event, args):\n"
        "    assert not event.startswith('socket.'), event\n"
        "sys.addaudithook(hook)\n"
        "import hybridrank\n"
        "names = [i.name for i in hybridrank.components()]\n"
        "assert 'eager' in names and 'bm25' in names, names\n"
        "parts = [m for m in sys.modules if m.startswith('hybridrank.')]\n"
        "assert not any('retrievers' in m or 'fusers' in m for m in parts), parts\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(site.folder)})
    assert not marker.exists()
    load_component("retriever", "eager")
    assert marker.exists()


def test_options_are_the_constructor_signature(site: Site) -> None:
    source = (
        "from __future__ import annotations\n"
        "from collections.abc import Sequence\n"
        "class Part:\n"
        "    def __init__(self, *, depth: int, names: Sequence[str] = ('a',), free=3) -> None: ...\n"
        "def make(size: float = 1.5): ...\n"
    )
    entries = {"rerankers": {"part": "opt:Part", "made": "opt:make", "none": "opt:int"}}
    site.install(
        "opt", entries, {"opt": source + "from builtins import int\nint = type('X', (), {'__init__': 3})\n"}
    )
    infos = {i.name: i for i in components("reranker") if i.distribution == "opt"}
    depth, names, free = infos["part"].options()
    assert (depth.name, depth.annotation, depth.required) == ("depth", "int", True)
    assert (names.name, names.default, names.annotation) == ("names", ("a",), "Sequence[str]")
    assert not names.required
    assert (free.default, free.annotation, free.type) == (3, "", Any)
    assert list(map(str, (depth, names, free))) == ["depth: int", "names: Sequence[str] = ('a',)", "free = 3"]
    assert [str(o) for o in infos["made"].options()] == ["size: float = 1.5"]


@pytest.mark.parametrize("kind", ["retrievers", "", "nope"])
def test_unknown_kind(kind: str) -> None:
    with pytest.raises(UnknownNameError, match="kind of part"):
        components(kind)
    with pytest.raises(UnknownNameError, match="kind of part"):
        load_component(kind, "bm25")
    with pytest.raises(UnknownNameError, match="kind of part"):
        name_of(kind, object())


def test_unknown_name_offers_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown retriever 'bm52'; did you mean 'bm25'\?"):
        load_component("retriever", "bm52")
    with pytest.raises(InvalidValueError, match="give a str"):
        load_component("retriever", 25)  # type: ignore[arg-type]


def test_a_factory_is_a_part_too(site: Site) -> None:
    site.install("made", {"fusers": {"made": "made:Space.make"}}, {"made": "class Space:\n    make = dict\n"})
    assert load_component("fuser", "made") is dict


BROKEN = {
    "ImportError": "import no_such_module_anywhere\n",
    "SystemExit": "raise SystemExit(3)\n",
    "RuntimeError": "raise RuntimeError('boom')\n",
    "SyntaxError": "def broken(:\n",
    "AttributeError": "x = 1\n",
}


# PL-01
@pytest.mark.parametrize("failure", BROKEN)
def test_a_broken_part_harms_only_who_asks_for_it(site: Site, failure: str) -> None:
    good = {"fusers": {"good": "good:Part"}, "rerankers": {"good": "good:Part"}}
    site.install("good", good, {"good": PART})
    site.install("broken-dist", {"fusers": {"bad": "bad:Part"}}, {"bad": BROKEN[failure]})
    assert {"good", "bad", "rrf"} <= {i.name for i in components("fuser")}
    assert load_component("fuser", "good").__name__ == "Part"
    with pytest.raises(PluginError, match=r"fuser 'bad' of distribution 'broken-dist' \(1.0\)") as caught:
        load_component("fuser", "bad")
    assert failure in {cls.__name__ for cls in type(caught.value.__cause__).__mro__}
    (bad,) = [i for i in components("fuser") if i.name == "bad"]
    with pytest.raises(PluginError):
        bad.options()


def test_a_keyboard_interrupt_is_not_swallowed(site: Site) -> None:
    site.install("stop", {"fusers": {"stop": "stop:Part"}}, {"stop": "raise KeyboardInterrupt\n"})
    with pytest.raises(KeyboardInterrupt):
        load_component("fuser", "stop")


def test_a_missing_extra_keeps_its_type(site: Site) -> None:
    source = "from hybridrank.errors import MissingExtraError\nraise MissingExtraError('torch', 'rerank')\n"
    site.install("extra", {"rerankers": {"extra": "extra_part:Part"}}, {"extra_part": source})
    with pytest.raises(MissingExtraError, match=r"hybridrank\[rerank\]"):
        load_component("reranker", "extra")


@pytest.mark.parametrize(
    ("target", "message"),
    [("just_a_module", "must read 'module:Class'"), ("a b:c", "must read"), ("os:sep", "cannot be called")],
)
def test_a_target_that_is_no_part(site: Site, target: str, message: str) -> None:
    site.install("odd", {"fusers": {"odd": target}})
    with pytest.raises(PluginError, match=message):
        load_component("fuser", "odd")


def test_a_signature_that_cannot_be_read(site: Site) -> None:
    site.install("c-dist", {"fusers": {"builtin": "builtins:dict"}})
    (info,) = [i for i in components("fuser") if i.name == "builtin"]
    with pytest.raises(PluginError, match="no readable signature"):
        info.options()


# PL-03
def test_a_built_in_wins_with_a_warning_that_names_both(site: Site) -> None:
    site.install("rival", {"fusers": {"rrf": "rival:Part"}}, {"rival": PART})
    with pytest.warns(PluginWarning, match="'hybridrank'.*'rival'.*'rival:rrf'"):
        part = load_component("fuser", "rrf")
    assert part.__module__ == "hybridrank.fusers.rrf"
    assert load_component("fuser", "rival:rrf").__module__ == "rival"
    assert load_component("fuser", "hybridrank:rrf") is part
    assert [i.distribution for i in components("fuser") if i.name == "rrf"] == ["hybridrank", "rival"]


# PL-03
@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_two_plug_ins_of_one_name_are_an_error_for_who_asks(site: Site, order: tuple[str, str]) -> None:
    for name in order:
        site.install(f"{name}-dist", {"fusers": {"same": f"{name}:Part"}}, {name: PART})
    assert [i.distribution for i in components("fuser") if i.name == "same"] == ["one-dist", "two-dist"]
    with pytest.raises(PluginError, match=r"'one-dist'.*'two-dist'.*'one-dist:same', 'two-dist:same'"):
        load_component("fuser", "same")
    assert load_component("fuser", "two-dist:same").__module__ == "two"
    assert load_component("fuser", "Two_Dist:same").__module__ == "two"


def test_one_distribution_with_two_parts_of_one_name(site: Site) -> None:
    info = site.install("twice", {"fusers": {"same": "twice:Part"}}, {"twice": PART})
    with (info / "entry_points.txt").open("a", encoding="utf-8") as file:
        file.write("same = twice:Other\n")
    with pytest.raises(PluginError, match=r"more than once.*twice:Other.*twice:Part"):
        load_component("fuser", "twice:same")


def test_selecting_what_is_not_there(site: Site) -> None:
    site.install("mine", {"fusers": {"best": "mine:Part"}}, {"mine": PART})
    with pytest.raises(UnknownNameError, match=r"did you mean 'mine:best'\?"):
        load_component("fuser", "mine:bets")
    with pytest.raises(UnknownNameError, match=r"did you mean 'mine:best'\?"):
        load_component("fuser", "mien:best")


# PL-02
def test_a_failed_discovery_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.distributions
    calls: list[int] = []

    def failing_once(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("the disk is away")
        return real(*args, **kwargs)

    monkeypatch.setattr(importlib.metadata, "distributions", failing_once)
    with pytest.raises(OSError, match="the disk is away"):
        components()
    assert "bm25" in {i.name for i in components("retriever")}


# PL-02
def test_a_part_that_failed_to_load_is_tried_again(site: Site) -> None:
    source = (
        "from pathlib import Path\n"
        "if not Path(__file__).with_name('ready').exists():\n"
        "    raise ImportError('not yet')\n"
    )
    site.install("late", {"fusers": {"late": "late:Part"}}, {"late": source + PART})
    with pytest.raises(PluginError, match="not yet"):
        load_component("fuser", "late")
    (site.folder / "ready").touch()
    assert load_component("fuser", "late").__name__ == "Part"


def test_what_is_installed_later_is_found(site: Site) -> None:
    assert "later" not in {i.name for i in components("fuser")}
    site.install("later", {"fusers": {"later": "later:Part"}}, {"later": PART})
    assert "later" in {i.name for i in components("fuser")}


@pytest.mark.parametrize("metadata", ["", "Version: 1.0\n", "\x00\x01"])
def test_damaged_metadata_leave_out_only_their_own_parts(site: Site, metadata: str) -> None:
    info = site.install("ruin", {"fusers": {"ruin": "ruin:Part"}}, metadata=metadata)
    with pytest.warns(PluginWarning, match=info.name):
        names = {i.name for i in components("fuser")}
    assert "rrf" in names
    assert "ruin" not in names


def test_damaged_entry_points_leave_out_only_their_own_parts(site: Site) -> None:
    info = site.install("ruin", {"fusers": {"ruin": "ruin:Part"}})
    (info / "entry_points.txt").write_text("[hybridrank.fusers]\nno equals sign here\n", encoding="utf-8")
    with pytest.warns(PluginWarning, match="ruin"):
        names = {i.name for i in components("fuser")}
    assert "rrf" in names


def test_of_two_copies_of_a_distribution_the_first_on_the_path_counts(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = Site(tmp_path / "older")
    older.folder.mkdir()
    monkeypatch.syspath_prepend(str(older.folder))
    monkeypatch.syspath_prepend(str(site.folder))
    site.install("twin", {"fusers": {"new": "twin:Part"}}, version="2.0")
    older.install("twin", {"fusers": {"old": "twin:Part"}}, version="1.0")
    twins = [i for i in components("fuser") if i.distribution == "twin"]
    assert [(i.name, i.version) for i in twins] == [("new", "2.0")]


def test_other_groups_are_not_listed(site: Site) -> None:
    site.install("strange", {"wands": {"magic": "strange:Part"}})
    assert "magic" not in {i.name for i in components()}


def test_name_of_a_part() -> None:
    assert name_of("fuser", load_component("fuser", "rrf")()) == "rrf"
    assert name_of("reranker", load_component("reranker", "definition")()) == "definition"

    class MyReranker: ...

    assert name_of("reranker", MyReranker()) == "myreranker"
    # Registered, but as another kind.
    assert name_of("fuser", load_component("reranker", "definition")()) == "definitionfirst"


def test_name_of_imports_nothing(site: Site) -> None:
    site.install("lazy", {"rerankers": {"lazy": "lazy:Part"}}, {"lazy": "raise RuntimeError\n"})
    assert name_of("reranker", object()) == "object"
    assert "lazy" not in sys.modules


def test_the_name_of_a_built_in_goes_before_an_alias(site: Site) -> None:
    site.install("alias", {"fusers": {"a-alias": "hybridrank.fusers.rrf:RRF"}})
    assert name_of("fuser", load_component("fuser", "rrf")()) == "rrf"
    assert load_component("fuser", "a-alias") is load_component("fuser", "rrf")
