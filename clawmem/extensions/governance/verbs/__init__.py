"""`clawmem eval`, `evaluate`, `failure` and `principle`: each module holds one verb, as `VERB`."""
