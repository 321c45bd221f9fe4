"""One test suite for both keyword engines."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.index.tables.keyword import Document, EngineDamaged, KeywordEngine, open_engine
from clawmem.model.language.languages import has_characters

META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
ENGINES = ("fts5", "whoosh")
TEXTS = (
    "Jane prefers green tea in the morning.",
    "Jane moved to Lisbon and likes the sea.",
    "The tea budget of the project is 1200 euros.",
    "Ravi runs marathons; running is his life.",
    "The café in Zürich serves naïve art.",
    "Don't call Ravi before ten.",
    "An e-mail from the C++ team about version 2.1",
    "tea tea tea tea tea tea",
)


class Opened:
    """An engine over a database file, the way the index opens one."""

    def __init__(self, name: str, folder: Path) -> None:
        fresh = not (folder / "index.sqlite").exists()
        self.database = sqlite3.connect(folder / "index.sqlite", isolation_level=None)
        self.engine: KeywordEngine = open_engine(name, self.database, folder / "engine")
        if fresh:
            self.database.execute(META)
            self.engine.prepare()

    def change(self, *changes: Callable[[KeywordEngine], None]) -> None:
        """Do the changes in one transaction."""
        self.database.execute("BEGIN IMMEDIATE")
        for change in changes:
            change(self.engine)
        self.engine.flush()
        self.database.execute("COMMIT")

    def add(self, *documents: tuple[int, str]) -> None:
        """Index some texts."""
        self.change(lambda engine: engine.add([Document(n, text) for n, text in documents]))

    def remove(self, *documents: tuple[int, str]) -> None:
        """Take some texts out."""
        self.change(lambda engine: engine.remove([Document(n, text) for n, text in documents]))

    def found(self, *words: str, limit: int = 50) -> list[int]:
        """The rows found, best first."""
        return [match.n for match in self.engine.search(words, limit)]

    def close(self) -> None:
        """Close everything."""
        self.engine.close()
        self.database.close()


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    other_opened = Opened(request.param, tmp_path)
    other_opened.add(*enumerate(TEXTS, 1))
    yield other_opened
    other_opened.close()


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (["jane"], {1, 2}),
        (["tea"], {1, 3, 8}),
        (["tea", "lisbon"], {1, 2, 3, 8}),
        (["TEA"], {1, 3, 8}),
        (["run"], {4}),
        (["marathon"], {4}),
        (["moving"], {2}),
        (["the"], {1, 2, 3, 5, 7}),
        (["1200"], {3}),
        (["cafe"], {5}),
        (["café"], {5}),
        (["zurich"], {5}),
        (["naive"], {5}),
        (["don't"], {6}),
        (["don't", "sea"], {2, 6}),
        (["e-mail"], {7}),
        (["mail-e"], set()),
        (["2.1"], {7}),
        (["absent"], set()),
    ],
)
def test_the_same_texts_are_found(opened: Opened, words: list[str], rows: set[int]) -> None:
    assert set(opened.found(*words)) == rows


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (["OR"], set()),
        (["AND", "NOT"], {2}),
        (['"'], set()),
        (['"tea'], {1, 3, 8}),
        (["tea*"], {1, 3, 8}),
        (["mar*"], set()),
        (["text:tea"], set()),
        (["(tea"], {1, 3, 8}),
        (["NEAR(tea, jane)"], set()),
        (["-tea"], {1, 3, 8}),
        (["tea^2"], set()),
        (["*"], set()),
        (["\\"], set()),
        (["'"], set()),
        (["[a TO z]"], set()),
        (["tea~1"], set()),
        (["te?"], set()),
        (["tea\0jane"], set()),
        (["green tea"], {1}),
        (["tea green"], set()),
    ],
)
def test_operators_are_plain_text(opened: Opened, words: list[str], rows: set[int]) -> None:
    assert set(opened.found(*words)) == rows


def test_no_words_find_nothing(opened: Opened) -> None:
    assert opened.found() == []
    assert opened.found("") == []
    assert opened.found(" ", "?", "…") == []


def test_the_best_come_first_and_scores_fall(opened: Opened) -> None:
    matches = opened.engine.search(["tea", "morning"], 10)
    assert matches[0].n == 1, "two words beat one, a rare word beats a common one repeated"
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
    assert all(match.score > 0 for match in matches)


def test_a_rare_word_counts_more_than_a_common_one(opened: Opened) -> None:
    opened.add((20, "alpha beta"), (21, "alpha gamma"), (22, "alpha delta"), (23, "alpha epsilon"))
    assert opened.found("alpha", "gamma")[0] == 21


def test_a_short_text_beats_a_long_one(opened: Opened) -> None:
    opened.add((30, "quartz"), (31, "quartz among many other words that say nothing about stones at all"))
    assert opened.found("quartz") == [30, 31]


def test_equal_texts_come_in_their_order(opened: Opened) -> None:
    opened.add(*((n, "exactly the same onyx") for n in range(40, 46)))
    assert opened.found("onyx") == list(range(40, 46))


def test_the_limit_keeps_the_best(opened: Opened) -> None:
    everything = opened.found("tea", "jane", "ravi")
    assert len(everything) > 3
    assert opened.found("tea", "jane", "ravi", limit=2) == everything[:2]
    assert opened.found("tea", limit=0) == []


@pytest.mark.parametrize("rows", [set(), {4}, {2, 3, 8, 99}, set(range(1, 9))])
def test_among_some_texts_scores_and_order_are_those_among_all(opened: Opened, rows: set[int]) -> None:
    everything = opened.engine.search(["tea", "jane"], 50)
    among = [match for match in everything if match.n in rows]
    assert opened.engine.search_among(rows, ["tea", "jane", "tea"], 50) == among
    assert opened.engine.search_among(rows, ["tea", "jane"], 1) == among[:1]
    assert opened.engine.search_among(rows, ["?"], 50) == opened.engine.search_among(rows, ["tea"], 0) == []


def test_a_word_given_twice_counts_once(opened: Opened) -> None:
    assert opened.engine.search(["tea", "tea"], 5) == opened.engine.search(["tea"], 5)


def test_removed_texts_are_gone_and_others_stay(opened: Opened) -> None:
    opened.remove((1, TEXTS[0]))
    assert set(opened.found("tea", "jane")) == {2, 3, 8}


def test_a_changed_text_is_found_by_its_new_words_only(opened: Opened) -> None:
    opened.change(
        lambda engine: engine.remove([Document(1, TEXTS[0])]),
        lambda engine: engine.add([Document(1, "Jane prefers coffee.")]),
    )
    assert set(opened.found("tea")) == {3, 8}
    assert opened.found("coffee") == [1]
    assert set(opened.found("jane")) == {1, 2}


def test_added_and_removed_in_one_transaction_leaves_nothing(opened: Opened) -> None:
    opened.change(
        lambda engine: engine.add([Document(50, "ephemeral agate")]),
        lambda engine: engine.remove([Document(50, "ephemeral agate")]),
    )
    assert opened.found("agate") == []


def test_a_dropped_transaction_leaves_nothing(opened: Opened) -> None:
    opened.database.execute("BEGIN IMMEDIATE")
    opened.engine.add([Document(60, "never kept jasper")])
    opened.engine.discard_changes()
    opened.database.execute("ROLLBACK")
    opened.add((61, "kept beryl"))
    assert opened.found("jasper") == []
    assert opened.found("beryl") == [61]
    assert opened.engine.is_in_sync()


def test_many_small_transactions(opened: Opened) -> None:
    for n in range(100, 130):
        opened.add((n, f"number{n} opal"))
    for n in range(100, 130, 2):
        opened.remove((n, f"number{n} opal"))
    assert set(opened.found("opal", limit=100)) == set(range(101, 130, 2))
    assert opened.found("number103") == [103]
    assert opened.engine.is_in_sync()


@pytest.mark.parametrize("script", ["Ёлка стоит", "日本語 の メモ", "مرحبا بالعالم", "ελληνικά", "e\u0301te\u0301"])
def test_other_scripts(opened: Opened, script: str) -> None:
    opened.add((70, f"{script} lapis"))
    for word in script.split():
        assert opened.found(word) == [70]


def test_it_is_all_there_in_a_new_process(opened: Opened, tmp_path: Path) -> None:
    code = (
        "import sqlite3, sys; from pathlib import Path; from clawmem.index.tables.keyword import open_engine\n"
        "folder = Path(sys.argv[1]); database = sqlite3.connect(folder / 'index.sqlite')\n"
        "engine = open_engine(sys.argv[2], database, folder / 'engine')\n"
        "print(engine.is_in_sync(), sorted(match.n for match in engine.search(['teas'], 9)))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), opened.engine.name], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "True [1, 3, 8]"


def test_a_reader_beside_a_writer_sees_the_old_or_the_new(opened: Opened, tmp_path: Path) -> None:
    reader = Opened(opened.engine.name, tmp_path)
    before = set(reader.found("tea"))
    for n in range(200, 210):
        opened.add((n, "more tea"))
    reader.close()
    after = Opened(opened.engine.name, tmp_path)
    assert before == {1, 3, 8}
    assert set(after.found("tea")) == {1, 3, 8, *range(200, 210)}
    after.close()


_WORDS = st.sampled_from("tea coffee jane ravi lisbon budget sea river stone".split())
_TEXTS = st.lists(_WORDS, min_size=1, max_size=8).map(" ".join)


@pytest.mark.parametrize("name", ENGINES)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(texts=st.lists(_TEXTS, min_size=1, max_size=25), asked=st.lists(_WORDS, min_size=1, max_size=3))
def test_exactly_the_texts_with_a_word_are_found(
    name: str, texts: list[str], asked: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    opened = Opened(name, tmp_path_factory.mktemp("engine"))
    opened.add(*enumerate(texts, 1))
    expected = {n for n, text in enumerate(texts, 1) if set(asked) & set(text.split())}
    assert set(opened.found(*asked)) == expected
    opened.close()


_WITHOUT_SPACES = st.text(
    st.sampled_from("姐姐在内蒙古的牧场养了三匹马子供は食べないプリンター々abc 12"), min_size=2, max_size=12
)


@pytest.mark.parametrize("name", ENGINES)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(texts=st.lists(_WITHOUT_SPACES, min_size=1, max_size=5), data=st.data())
def test_a_text_without_spaces_is_found_by_any_two_of_its_characters(
    name: str, texts: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    opened = Opened(name, tmp_path_factory.mktemp("engine"))
    opened.add(*enumerate(texts, 1))
    text = data.draw(st.sampled_from(texts))
    at = data.draw(st.integers(0, len(text) - 2))
    asked = text[at : at + 2]
    if all(map(has_characters, asked)):
        assert set(opened.found(asked)) == {n for n, text in enumerate(texts, 1) if asked in text}
        opened.remove(*enumerate(texts, 1))
        assert opened.found(asked) == []
    opened.close()


def test_whoosh_knows_when_it_is_not_in_step(tmp_path: Path) -> None:
    opened = Opened("whoosh", tmp_path)
    opened.add((1, "first"))
    # A process that dies after Whoosh's commit and before SQLite's leaves this behind.
    opened.database.execute("BEGIN IMMEDIATE")
    opened.engine.add([Document(2, "second")])
    opened.engine.flush()
    opened.database.execute("ROLLBACK")
    opened.close()
    again = Opened("whoosh", tmp_path)
    assert not again.engine.is_in_sync()
    again.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Whoosh leaves such files open
def test_whoosh_says_that_its_files_are_damaged(tmp_path: Path) -> None:
    opened = Opened("whoosh", tmp_path)
    opened.add(*enumerate(TEXTS, 1))
    opened.close()
    for path in (tmp_path / "engine").glob("*.seg"):
        path.write_bytes(b"not a segment at all" * 50)
    again = Opened("whoosh", tmp_path)
    with pytest.raises(EngineDamaged):
        again.engine.search(["tea"], 5)
    again.close()


def test_fts_spares_common_words_only_where_rare_ones_abound(tmp_path: Path) -> None:
    opened = Opened("fts5", tmp_path)
    common, rare = "meeting", "zorbing"
    opened.add(*((n, f"{common} number {n}" + (f" {rare} quokka" if n % 100 == 0 else "")) for n in range(1, 6001)))
    quick = {match.n for match in opened.engine.search([common, rare, "quokka"], 200)}
    every = {match.n for match in opened.engine.search([common, rare, "quokka"], 200, thorough=True)}
    assert quick == set(range(100, 6001, 100))
    assert len(every) == 200
    assert quick <= every
    assert {match.n for match in opened.engine.search([common, rare], 30)} <= quick
    assert len(opened.engine.search([common, "absent"], 200)) == 200
    opened.close()
