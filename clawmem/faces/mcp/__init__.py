"""The Model Context Protocol: verbs as tools, over stdin and stdout."""
