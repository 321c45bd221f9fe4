"""`clawmem import` and `export`: each module holds one verb, as `VERB`."""
