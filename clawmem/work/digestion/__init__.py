"""Digestion: long texts and ended sessions become claims, in five phases."""
