"""The interchange contract and the organisation tier."""
