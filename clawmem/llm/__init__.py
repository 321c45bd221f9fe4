"""Calls to language models: which model, within which budget, and how answers are checked."""
