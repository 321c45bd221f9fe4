"""Governance: the decisions a person makes about what the memory learns."""
