"""Merge the files of two versions, each by its kind."""
