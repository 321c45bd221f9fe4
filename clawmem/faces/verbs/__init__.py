"""The verbs: each module holds one, as `VERB`, or several that belong together, and the table names them."""
