"""`clawmem hub`, `org` and `publish`: each module holds one verb, as `VERB`."""
