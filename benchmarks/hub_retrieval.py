"""Search in the hub against the local engine: `python -m benchmarks.hub_retrieval FILE... [--detail]`.

FILE is a conversation as for `benchmarks.retrieval`. Each turn is one fact about its speaker, in a vault and in the hub
alike, and the questions are the same. The hub is a PostgreSQL that this program starts. `--no-model` leaves out the
rankers with vectors, which take long to embed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import environment
from benchmarks.retrieval import (
    _CALLER,
    DEPTHS,
    Maker,
    Ranker,
    detail,
    fts5,
    read,
    scored,
    table,
)
from clawmem.extensions.hub.postgres.connect import connect
from clawmem.extensions.hub.postgres.search import HubQuestion, fill_vectors, search_facts
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.vectors.embed import embed_missing
from clawmem.index.vectors.local_model import LocalModel
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.language.question import search_words
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.event import Event
from clawmem.serving.recall.recall import RecallQuery, recall_in
from clawmem.serving.recall.result import FACTS, FactHit
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.vault import Vault
from tests.extensions.hub.postgres.rows import add_facts, add_scope
from tests.extensions.hub.postgres.server import Server, make_template, new_database, running_server

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

_MOST = max(DEPTHS)
_NO_NAME = re.compile(r"[^a-z0-9]+")


def placed_facts(events: Sequence[Event]) -> list[tuple[str, Fact]]:
    """Each turn as a fact about its speaker, with the entity."""
    return [
        (
            f"areas/people/{_NO_NAME.sub('-', (event.speaker or 'somebody').lower()).strip('-')}",
            Fact(f"fact_{n:08x}", event.text, "fact", event.timestamp, "user"),
        )
        for n, event in enumerate(events)
    ]


def vault_of_facts(events: Sequence[Event]) -> Vault:
    """A vault with each turn as a fact."""
    folder = Path(tempfile.mkdtemp(prefix="clawmem-bench-"))
    vault = create_vault(folder / "vault", environment(folder / "home"), _CALLER.now)
    by_entity: dict[str, list[Fact]] = {}
    for entity, fact in placed_facts(events):
        by_entity.setdefault(entity, []).append(fact)
    writes = {f"life/{entity}/items.json": render_items(facts) for entity, facts in by_entity.items()}
    with transaction(vault, _CALLER.now, "benchmark") as work:
        work.commit([Change("remember: turns to measure on", writes, trailers("remember"))])
    return vault


def local(model: bool) -> Maker:
    """By `recall --in facts`."""

    def maker(events: Sequence[Event]) -> Ranker:
        vault = vault_of_facts(events)
        if model:
            embed_missing(vault, seconds=3600)
        index = open_index(vault)

        def rank(question: str) -> Sequence[int]:
            found = recall_in(vault, index, RecallQuery(question, _CALLER, FactFilter(), _MOST, (FACTS,))).ranking
            return [int(recall_hit.hit.fact.id[5:], 16) for recall_hit in found if isinstance(recall_hit.hit, FactHit)]

        return rank

    return maker


class HubRankers:
    """Rankers over databases of one server."""

    def __init__(self, server: Server, stack: ExitStack) -> None:
        self._server, self._stack = server, stack
        self._model: LocalModel | None = None

    def plain(self, events: Sequence[Event]) -> Ranker:
        """By PostgreSQL alone: any of the words, best `ts_rank_cd` first."""
        hub = self._hub(events, False)
        query = (
            "SELECT id FROM clawmem.fact, websearch_to_tsquery('english', %s) AS q WHERE text_search @@ q"
            " ORDER BY ts_rank_cd(text_search, q, 1) DESC, id LIMIT %s"
        )

        def rank(question: str) -> Sequence[int]:
            words = " or ".join(search_words(question))
            return [int(name[5:], 16) for (name,) in hub.execute(query, (words, _MOST))]

        return rank

    def ours(self, events: Sequence[Event]) -> Ranker:
        """By `search_facts`, without vectors."""
        hub = self._hub(events, False)

        def rank(question: str) -> Sequence[int]:
            found = search_facts(hub, HubQuestion(question, _CALLER.now, _MOST))
            return [int(hit.found.fact.id[5:], 16) for hit in found]

        return rank

    def with_model(self, events: Sequence[Event]) -> Ranker:
        """By `search_facts`, with the vectors of the local model."""
        hub = self._hub(events, True)
        model = self._loaded()

        def rank(question: str) -> Sequence[int]:
            found = search_facts(hub, HubQuestion(question, _CALLER.now, _MOST, vector=model.embed(question)))
            return [int(hit.found.fact.id[5:], 16) for hit in found]

        return rank

    def _loaded(self) -> LocalModel:
        self._model = self._model or LocalModel()
        return self._model

    def _hub(self, events: Sequence[Event], vectors: bool) -> HubConnection:
        database = self._stack.enter_context(new_database(self._server, "clawmem_template"))
        hub = self._stack.enter_context(connect(database.address()))
        add_scope(hub, "team", "talk")
        facts = placed_facts(events)
        add_facts(hub, "talk", "team", facts)
        if vectors:
            fill_vectors(hub, self._loaded().embed, 3600)
        hub.execute("INSERT INTO clawmem.account VALUES ('hub_owner', 'acme')")
        hub.execute("INSERT INTO clawmem.member (org, role_name, scope) VALUES ('acme', 'hub_owner', 'team')")
        hub.commit()
        hub.execute("ANALYZE clawmem.fact")
        hub.commit()
        return hub


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--no-model", action="store_true")
    parser.add_argument("--detail", action="store_true")
    namespace = parser.parse_args()
    corpora = [corpus for path in namespace.files for corpus in read(path)]
    with ExitStack() as stack:
        server = stack.enter_context(running_server(Path(tempfile.mkdtemp(prefix="clawmem-bench-"))))
        make_template(server)
        hubs = HubRankers(server, stack)
        rankers: Mapping[str, Maker] = {
            "FTS5 alone": fts5,
            "PostgreSQL alone (ts_rank_cd)": hubs.plain,
            "vault, no model": local(False),
            "hub, no model": hubs.ours,
            **({} if namespace.no_model else {"vault, local model": local(True), "hub, local model": hubs.with_model}),
        }
        results = {name: scored(corpora, maker) for name, maker in rankers.items()}
    for line in (*table(results), *(("", *detail(results)) if namespace.detail else ())):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
