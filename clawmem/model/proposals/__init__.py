"""Propositions, proposals, and promotion."""
