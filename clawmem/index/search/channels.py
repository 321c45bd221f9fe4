"""The recall channels over facts: exact predicate, keywords, time. Each is bounded and reports what it found."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from clawmem.index.search.by_tier import within_reach
from clawmem.index.search.lookup import FACT_COLUMNS, PlacedFact, fact_from_row
from clawmem.index.tables.fact_marks import counted_fact, has_accesses
from clawmem.index.tables.schema import RowDamaged, check_total, tags_column
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog, predicates_asked, predicates_called, spellings
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, FORGOTTEN, RETRACTED, SUPERSEDED, Fact
from clawmem.model.facts.reach import Reach
from clawmem.model.language.question import COMMON_WORDS, DaySpan, is_first_person, search_words
from clawmem.model.language.text import forms_of, normal
from clawmem.model.lifecycle.tiers import ALWAYS_HOT
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.search.ranking import AskedWord, AskedWords, word_weight

CANDIDATES = 200
_MOST_STATING = 50
# The score of a fact that began in the days asked about, the best match of a time.
BEGUN = 2.0
# The score of a fact whose statement names one of the days, and the longest period of which days are looked for.
NAMED_DAY = 1.5
_MOST_DAYS = 31
_ENOUGH = 20
_LONGEST_NAME = 4
# One text for any number of rows, so that a statement is prepared once.
_IN_ROWS = "n IN (SELECT value FROM json_each(?))"
# Up to how many texts with a word are counted at least; beyond a tenth of all, a word tells little.
_COUNTED = 2_000


class FactFilter(NamedTuple):
    """Conditions on facts.

    `owners` are agents whose facts count, '' for the global memory. `as_of` asks for what was true at that time.
    `superseded` includes replaced facts. `replaced_in` asks only for replaced facts that were true on one of these
    days. With a `domain`, global facts count only in these entities and the folders of these, or if they are always
    hot. `since` and `until` are the first and the last day on which a fact was said or, if that is unknown, recorded.
    `reach` is the scope of the query; None sees every scope.
    """

    owners: tuple[str, ...] = ("",)
    entity: str | None = None
    category: str | None = None
    tag: str | None = None
    as_of: str | None = None
    superseded: bool = False
    replaced_in: DaySpan | None = None
    domain: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    reach: Reach | None = None

    @property
    def of_work(self) -> bool:
        """Return whether the query names a workflow or a project, or runs in a session that does."""
        return self.reach is not None and not self.reach.others_hidden


def is_within(day: str | None, wanted: FactFilter) -> bool:
    """Return whether a day is one that a filter wants; an unknown one is not where there is a bound."""
    if wanted.since is None and wanted.until is None:
        return True
    return day is not None and (wanted.since or "") <= day <= (wanted.until or "9999-12-31")


class ChannelHits(NamedTuple):
    """The result of a channel: scores by row number (higher is better), or why it did not run.

    `unable` is true if the channel failed, and false if the question gave it nothing to do. `embedded` are the ids of
    the facts that have vectors, where not all have any.
    """

    scores: Mapping[int, float]
    ran: bool = True
    why_not: str = ""
    unable: bool = False
    embedded: Sequence[str] | None = None


def keyword_channel(
    index: Index,
    words: Sequence[str],
    wanted: FactFilter,
    limit: int = CANDIDATES,
    sketched: dict[int, PlacedFact] | None = None,
) -> ChannelHits:
    """Return facts that share words with the question, by BM25.

    If hardly any of the best ones pass the filter, the facts that pass it are ranked instead. The sketches of facts
    that pass are added to `sketched`, so that their rows are read once.
    """
    if not words:
        return ChannelHits({}, False, "the question has no words to search for")
    for thorough in (False, True):
        matches = index.engine.search(words, limit, thorough)
        numbers, passing = [match.n for match in matches], set[int]()
        if sketched is None:
            passing = passing_rows(index, numbers, wanted)
        else:
            passing.update(read := passing_sketches(index, numbers, wanted))
            sketched.update(read)
        if len(passing) >= min(limit, _ENOUGH):
            break
        if len(matches) == limit:
            passing = set(passing_ids(index, wanted).values())
            matches = index.engine.search_among(passing, words, limit)
            break
    return ChannelHits({match.n: match.score for match in matches if match.n in passing})


def weigh_words(
    index: Index,
    asked: Mapping[str, Sequence[str]],
    record: Mapping[str, int] | None = None,
    texts: int = 0,
    people: str = "",
    common: frozenset[str] = COMMON_WORDS,
) -> AskedWords:
    """Return the words of a question, given with their forms, with how telling each is among the facts, and among the
    events and notes if these are searched too: `texts` is their number, and `said` how many of them have each word.
    `common` and the names of `people` are everyday words. Of a word that `said` lacks, talk has too much to count."""
    everyday = common.union(people.split())
    facts = number_of_facts(index)
    most = max(_COUNTED, facts // 10)
    found = []
    for word, forms in asked.items():
        having = index.engine.count(forms, most) + (record or {}).get(word, 0)
        known = having > 0 or (bool(texts) and word not in (record or {}))  # very common words are not counted
        found.append(AskedWord(word, forms, word_weight(facts + texts, having, word in everyday), known))
    return tuple(found)


def number_of_facts(index: Index) -> int:
    """Return how many facts the index has."""
    (number,) = index.database.execute("SELECT facts FROM total").fetchone()
    return int(number)


def words_had(index: Index, words: AskedWords, found: Collection[int]) -> dict[int, list[AskedWord]]:
    """Return which words of a question each of the found facts has."""
    had: dict[int, list[AskedWord]] = {n: [] for n in found}
    for word in words:
        for n in index.engine.having(found, word.forms):
            had[n].append(word)
    return had


def predicate_channel(
    index: Index, question: str, catalog: Catalog, wanted: FactFilter, user: str = "user"
) -> ChannelHits:
    """Return facts with a predicate and a subject that the question asks for, or with the predicate that it is the name
    of. `user` is who says "I"."""
    called = predicates_called(catalog, question)
    asked = called or predicates_asked(catalog, question)
    if not asked:
        return ChannelHits({}, False, "the question asks for no predicate of the catalog")
    condition, values = condition_of(wanted)
    asked = tuple(sorted({spelled for name in asked for spelled in spellings(catalog, name)}))
    subjects = () if called else names_in(question, user)
    about = "1" if called else f"subject IN ({_marks(subjects)})"
    rows = index.database.execute(
        f"SELECT n, coalesce(length(subject), 1) FROM fact WHERE predicate IN ({_marks(asked)})"
        f" AND {about} AND {condition} LIMIT ?",
        (*asked, *subjects, *values, CANDIDATES),
    )
    return ChannelHits({n: float(size) for n, size in rows})


def time_channel(index: Index, span: DaySpan | None, wanted: FactFilter, found: Collection[int] = ()) -> ChannelHits:
    """Return facts that began, ended, were recorded or were true in the days that the question names. Beginnings score
    highest.

    If there are too many, those in `found` by other channels come first, then the newest. A fact without an end is
    returned only if it is in `found`, with the lowest score, and so is one whose statement names one of the days.
    """
    if span is None:
        return ChannelHits({}, False, "the question names no time")
    scores: dict[int, float] = {}
    for part in _time_conditions(span.first, f"{span.last}T23:59:59Z"):
        for n in _in_time(index, part, wanted, found):
            scores.setdefault(n, part.score)
    for n in _naming(index, span, found):
        scores[n] = max(scores.get(n, 0.0), NAMED_DAY)
    best = sorted(scores, key=lambda n: (n not in found, -scores[n], -n))[:CANDIDATES]
    return ChannelHits({n: scores[n] for n in best})


def _naming(index: Index, span: DaySpan, found: Collection[int]) -> set[int]:
    """Return those of the found facts whose statements name one of the days with its month, such as "16 March"."""
    if not found:
        return set()
    from clawmem.model.language.date_words import written_days  # few questions name days

    return index.engine.having(found, written_days(span, _MOST_DAYS))


class _TimeCondition(NamedTuple):
    """A way in which facts belong to a time: a condition with its values, the column to sort by, and the score.

    `of_all` says whether all facts are searched, or only those found by other channels.
    """

    condition: str
    values: tuple[str, ...]
    newest: str
    score: float
    of_all: bool = True


def _time_conditions(first: str, last: str) -> tuple[_TimeCondition, ...]:
    return (
        _TimeCondition("valid_from BETWEEN ? AND ?", (first, last), "valid_from", BEGUN),
        _TimeCondition("valid_from < ? AND valid_to > ?", (first, last), "valid_to", 1.0),
        # A day that is given as the end is included: it ends at T24:00:00Z.
        _TimeCondition("valid_to BETWEEN ? AND ?", (first, f"{last[:10]}T24:00:00Z"), "valid_to", 1.0),
        _TimeCondition("valid_from IS NULL AND timestamp BETWEEN ? AND ?", (first, last), "timestamp", 1.0),
        _TimeCondition("valid_from < ? AND valid_to IS NULL", (first,), "valid_from", 0.5, of_all=False),
        _TimeCondition("valid_from IS NULL AND valid_to > ?", (last,), "valid_to", 0.5, of_all=False),
    )


def _in_time(index: Index, part: _TimeCondition, wanted: FactFilter, found: Collection[int]) -> Iterator[int]:
    condition, values = condition_of(wanted)
    among_found = (f" AND {_IN_ROWS}", (_list(found),))
    for among, more in (among_found, ("", ())) if part.of_all else (among_found,):
        query = f"SELECT n FROM fact WHERE {part.condition}{among} AND {condition} ORDER BY {part.newest} DESC LIMIT ?"
        for (n,) in index.database.execute(query, (*part.values, *more, *values, CANDIDATES)):
            yield n


def passing_rows(index: Index, numbers: Iterable[int], wanted: FactFilter) -> set[int]:
    """Return those of the rows that pass the filter."""
    condition, values = condition_of(wanted)
    rows = index.database.execute(f"SELECT n FROM fact WHERE {_IN_ROWS} AND {condition}", (_list(numbers), *values))
    return {n for (n,) in rows}


def passing_sketches(index: Index, numbers: Iterable[int], wanted: FactFilter) -> dict[int, PlacedFact]:
    """Return the sketches of those of the rows that pass the filter."""
    condition, values = condition_of(wanted)
    return dict(_sketched(index, f"{_IN_ROWS} AND {condition}", (_list(numbers), *values)))


def passing_ids(index: Index, wanted: FactFilter) -> dict[str, int]:
    """Return the rows of all facts that pass the filter, by id. Scans the table if the filter names no entity."""
    condition, values = condition_of(wanted)
    return dict(index.database.execute(f"SELECT id, n FROM fact WHERE {condition}", values))


def all_passing(index: Index, wanted: FactFilter) -> list[PlacedFact]:
    """Return every fact that passes the filter, in the order of the index."""
    return _passing(index, wanted, "1")


def passing_with_more(index: Index, wanted: FactFilter) -> list[PlacedFact]:
    """Return the facts that pass the filter, without those that have nothing but a statement of a person for everybody:
    no source event, no scope, no details and no metadata."""
    more = "event IS NOT NULL OR realm <> '' OR COALESCE(trust, 'user') <> 'user'"
    return _passing(index, wanted, f"({more} OR instr(line, '\"metadata\"') OR instr(line, '\"details\"'))")


def _passing(index: Index, wanted: FactFilter, also: str) -> list[PlacedFact]:
    condition, values = condition_of(wanted)
    check_total(index)
    query = f"SELECT {FACT_COLUMNS} FROM fact WHERE {condition} AND {also} ORDER BY n"
    every = [fact_from_row(row) for row in index.database.execute(query, values)]
    return list(_as_served(index, dict(enumerate(every))).values())


def facts_in_rows(index: Index, numbers: Sequence[int]) -> dict[int, PlacedFact]:
    """Return the facts in some rows."""
    query = f"SELECT {FACT_COLUMNS} FROM fact WHERE {_IN_ROWS}"
    found = {row[2]: fact_from_row(row) for row in index.database.execute(query, (_list(numbers),))}
    if len(found) != len(set(numbers)):
        raise RowDamaged("a fact that was found is missing in the index")
    return _as_served(index, found)


def statements_in_rows(index: Index, numbers: Iterable[int]) -> dict[int, tuple[str, str, str]]:
    """Return statement, entity and id of the facts in some rows, in a tenth of the time of reading the facts."""
    query = f"SELECT n, json_extract(line, '$.fact'), entity, id FROM fact WHERE {_IN_ROWS}"
    return {row[0]: row[1:] for row in index.database.execute(query, (_list(numbers),))}


def current_statements(index: Index) -> list[tuple[str, str, str]]:
    """Return the id, the time of recording and the statement of every active fact that is not an agent's own."""
    query = "SELECT id, timestamp, json_extract(line, '$.fact') FROM fact WHERE status = 'active' AND owner = ''"
    return index.database.execute(query).fetchall()


def work_columns(index: Index, numbers: Sequence[int], word: str) -> dict[int, tuple[str, str, bool]]:
    """Return the realm and the category of the facts in some rows, and whether a word is in their lines."""
    query = f"SELECT n, realm, category, instr(line, ?) FROM fact WHERE {_IN_ROWS}"
    rows = index.database.execute(query, (word, _list(numbers)))
    return {n: (realm, category, bool(place)) for n, realm, category, place in rows}


def agent_rows_with(index: Index, signs: Sequence[str], numbers: Sequence[int]) -> set[int]:
    """Return the rows of facts that an agent states and that have one of some signs in their lines; all have ""."""
    signed = " OR ".join(["instr(line, ?)"] * len(signs))
    query = f"SELECT n FROM fact WHERE trust = 'agent' AND ({signed}) AND {_IN_ROWS}"
    return {n for (n,) in index.database.execute(query, (*signs, _list(numbers)))}


def _as_served(index: Index, found: dict[int, PlacedFact]) -> dict[int, PlacedFact]:
    """Add the accesses beside the lines, and mark facts with something at stake that came from outside."""
    if has_accesses(index):
        found = {n: PlacedFact(counted_fact(index, placed.fact), placed.entity) for n, placed in found.items()}
    if index.database.execute("SELECT 1 FROM outside LIMIT 1").fetchone() is None:
        return found
    from clawmem.index.tables.fact_marks import served_fact

    return {n: PlacedFact(served_fact(index, placed.fact), placed.entity) for n, placed in found.items()}


def fact_token_counts(index: Index, numbers: Sequence[int]) -> dict[int, tuple[int, bool]]:
    """Return the tokens of the facts' context lines, and whether they are exact or an upper bound."""
    rows = index.database.execute(f"SELECT n, tokens, exact FROM fact WHERE {_IN_ROWS}", (_list(numbers),))
    return {n: (tokens, bool(exact)) for n, tokens, exact in rows}


def sketches(index: Index, numbers: Sequence[int]) -> dict[int, PlacedFact]:
    """Return the facts in some rows with only the fields that ranking needs, which takes a tenth of the time."""
    return dict(_sketched(index, _IN_ROWS, (_list(numbers),)))


def sketches_of_ids(index: Index, wanted: FactFilter, fact_ids: Iterable[str]) -> dict[int, PlacedFact]:
    """Return the sketches of those of the facts that pass the filter."""
    condition, values = condition_of(wanted)
    ids = json.dumps(sorted(fact_ids))
    return dict(_sketched(index, f"id IN (SELECT value FROM json_each(?)) AND {condition}", (ids, *values)))


def _sketched(index: Index, condition: str, values: tuple[object, ...]) -> Iterator[tuple[int, PlacedFact]]:
    rows = index.database.execute(f"SELECT {_SKETCH} FROM fact WHERE {condition}", values)
    for n, entity, fact_id, category, timestamp, status, count, last, subject, begin, end, importance, trust in rows:
        fact = Fact(
            fact_id,
            "",
            category,
            timestamp,
            "",
            status,
            count,
            last,
            subject=subject,
            valid_from=begin,
            valid_to=end,
            importance=importance,
            trust=trust,
        )
        yield n, PlacedFact(fact, entity)


_SKETCH = (
    "n, entity, id, category, timestamp, status, access_count, last_accessed, subject, valid_from, valid_to,"
    " importance, trust"
)


def condition_of(wanted: FactFilter) -> tuple[str, tuple[object, ...]]:
    """Return the filter as an SQL condition on the columns of `fact`, and its values."""
    parts, values = [f"owner IN ({_marks(wanted.owners)})"], list[object](wanted.owners)
    if wanted.as_of:
        instant = wanted.as_of if len(wanted.as_of) > 10 else f"{wanted.as_of}T23:59:59Z"
        parts.append("status != ? AND (valid_from IS NULL OR valid_from <= ?)")
        # A date without time means midnight: as text it sorts before any time of that day.
        parts.append("(valid_to IS NULL OR valid_to > ?)")
        values += [RETRACTED, instant, instant]
    elif wanted.replaced_in:
        parts.append("status = ? AND (valid_from IS NULL OR valid_from <= ?) AND (valid_to IS NULL OR valid_to > ?)")
        parts.append("(valid_to IS NULL OR valid_from IS NOT valid_to)")  # what was corrected was never true
        values += [SUPERSEDED, f"{wanted.replaced_in.last}T23:59:59Z", f"{wanted.replaced_in.first}T00:00:00Z"]
    elif not wanted.superseded:
        parts.append("status IN (?, ?)")
        values += [ACTIVE, ARCHIVED]
    else:
        parts.append(f"NOT (status = ? AND ({' OR '.join(['instr(line, ?)'] * len(FORGOTTEN))}))")
        values += [RETRACTED, *FORGOTTEN]
    for column, value in (("entity", wanted.entity), ("category", wanted.category)):
        if value:
            parts.append(f"{column} = ?")
            values.append(value)
    within, realms = within_reach(wanted.reach)
    parts += [within] if within else []
    values += realms
    if wanted.tag:
        parts.append("instr(tags, ?)")
        values.append(tags_column((wanted.tag,)))
    if wanted.domain:
        below = [f"{text}/" for text in wanted.domain]
        places = " OR ".join(["entity = ?"] * len(below) + ["(entity >= ? AND entity < ?)"] * len(below))
        parts.append(f"(owner != '' OR weight >= ? OR {places})")
        values += [ALWAYS_HOT, *wanted.domain, *(bound for text in below for bound in (text, f"{text[:-1]}0"))]
    for bound, compares in ((wanted.since, ">="), (wanted.until, "<=")):
        if bound:
            parts.append(f"substr(coalesce(json_extract(line, '$.metadata.said_at'), timestamp), 1, 10) {compares} ?")
            values.append(bound)
    return " AND ".join(parts), tuple(values)


@lru_cache(maxsize=500)
def names_in(question: str, user: str = "user") -> tuple[str, ...]:
    """Return everything in a question that can be the name of a subject, in normal form: up to four words in a row.

    `user` is the name of the person who says "I".
    """
    words = [normal(word) for word in question.split()]
    names = {
        normal(" ".join(words[start : start + size])).removesuffix("'s").removesuffix("’s")
        for size in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - size + 1)
    }
    if is_first_person(question):
        names.add("user")
        names.add("the user")
        names.add(normal(user))
    return tuple(sorted(names - {""}))


def _list(numbers: Iterable[int]) -> str:
    """Return rows as a list in JSON, for `_IN_ROWS`."""
    return f"[{','.join(map(str, numbers))}]"


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def facts_stating(index: Index, words: str, owners: Sequence[str]) -> list[PlacedFact]:
    """Return the current facts of some owners with exactly this statement, else those that contain the words."""
    return _stating(_with_words(index, words, owners), words)


def facts_meant(index: Index, words: str, owners: Sequence[str]) -> list[PlacedFact]:
    """Return the facts that `facts_stating` returns, else those that have all telling words in any order and form; a
    longer name is not meant by a shorter one."""
    placed = _with_words(index, words, owners)
    found = _stating(placed, words)
    if found or not placed:
        return found
    from clawmem.model.search.meant import ASPECT, is_name, means, telling_words  # most facts are named by their ids

    every = telling_words(words)
    rest = tuple(word for word in every if word.casefold() not in ASPECT)
    wordings = (every,) if all(map(is_name, rest)) else (every, rest)  # "Ewa's number" is not all that is known of Ewa
    meant = ([fact for fact in placed if means(telling, fact.fact.fact)] for telling in wordings)
    return next(filter(None, meant), [])


def _with_words(index: Index, words: str, owners: Sequence[str]) -> list[PlacedFact]:
    forms = [form for word in search_words(words) for form in forms_of(word)]
    rows = keyword_channel(index, forms, FactFilter(owners=tuple(owners)), _MOST_STATING).scores
    return [fact for fact in facts_in_rows(index, sorted(rows)).values() if fact.fact.is_current]


def _stating(placed: Sequence[PlacedFact], words: str) -> list[PlacedFact]:
    text = _bare(words)
    same = [fact for fact in placed if _bare(fact.fact.fact) == text]
    return same or [fact for fact in placed if f" {text} " in f" {_bare(fact.fact.fact)} "]


def _bare(statement: str) -> str:
    """Return the words of a statement without the punctuation around each, so that a quoted part may end anywhere."""
    return " ".join(word.strip(".,;:!?()\"'“”") for word in normal(statement).split())
