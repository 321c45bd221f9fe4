"""Words that learning shares: relations between people, and words without a meaning of their own."""

from __future__ import annotations

from clawmem.learning.rules.language import relations

# How the relation of a fact begins that tells who somebody is to the speaker: "has a son".
HAS_A = "has a "
RELATION_OF = relations()
CLOSE = frozenset(("spouse", "partner", "child", "parent", "sibling", "relative", "friend", "colleague", "pet"))
# Words that the meaning of a statement does not hang on.
SMALL = frozenset(
    "a also an and are as at be been by did do does for from had has have he her him his in is it its just my now of "
    "on or our own really she so some than that the their them then they this to up very was we were who with".split()
)
