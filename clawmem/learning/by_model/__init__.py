"""Extraction and judgement by a language model."""
