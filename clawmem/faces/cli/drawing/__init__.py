"""Drawing of answers with Rich: one module for each kind of answer. Imported only where an answer is drawn."""
