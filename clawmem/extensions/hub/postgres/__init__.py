"""The hub: the organisation tier in PostgreSQL. The only package that speaks SQL to a server."""
