"""Merge two versions of a vault with their common base; the result does not depend on the order of the sides."""
