"""Reconciling: decide about each proposition (gate, reconciliation, placement, review)."""
