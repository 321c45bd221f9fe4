"""`clawmem wiki` and `dashboard`: each module holds one verb, as `VERB`."""
