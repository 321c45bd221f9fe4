"""Generated text: pages of the vault, and contexts within a token budget."""
