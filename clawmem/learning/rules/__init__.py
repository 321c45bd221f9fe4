"""Extraction by rules, without a model."""
