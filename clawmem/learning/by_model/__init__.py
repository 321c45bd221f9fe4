"""Extraction and judgement by a model."""
