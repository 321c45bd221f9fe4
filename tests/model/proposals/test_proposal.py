"""Proposals as values: ids, places, and what makes two of them the same thing."""

from __future__ import annotations

from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import PROPOSAL_FILE, file_kind
from clawmem.model.proposals.proposal import ADD, END, SUPERSEDE, new_proposal_id, proposal_path, topic

HOME = Fact("new", "Dana lives in Porto.", "fact", "", "chat", subject="Dana", predicate="lives_in", object="Porto")


def test_ids_are_short_and_grow_where_they_are_taken() -> None:
    assert new_proposal_id(lambda count: b"\x0a" * count, set()) == "prop_0a0a0a0a"
    assert new_proposal_id(lambda count: b"\x0a" * count, {"prop_0a0a0a0a"}) == "prop_" + "0a" * 8


def test_a_proposal_has_a_file_of_its_own() -> None:
    assert proposal_path("prop_1a2b3c4d") == "review/prop_1a2b3c4d.json"
    assert file_kind("review/prop_1a2b3c4d.json") is PROPOSAL_FILE
    others = ("review/notes.md", "review/old/prop_1.json", "life/prop_1.json")
    assert PROPOSAL_FILE not in map(file_kind, others)


def test_the_same_triple_in_other_words_is_the_same_thing() -> None:
    other = HOME._replace(fact="dana's home is Porto", subject="DANA", object="porto")
    assert topic(ADD, HOME) == topic(SUPERSEDE, other)
    assert topic(ADD, HOME) != topic(END, HOME)
    assert topic(ADD, HOME) != topic(ADD, HOME._replace(object="Leeds"))


def test_without_a_triple_the_words_decide() -> None:
    bare = HOME._replace(predicate=None)
    assert topic(ADD, bare) == topic(ADD, bare._replace(fact="DANA lives  in Porto", object=None))
    assert topic(ADD, bare) != topic(ADD, bare._replace(fact="Dana lives in Rome."))
