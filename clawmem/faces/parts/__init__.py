"""What verbs are made of: commands and their parameters, calls and answers, and what several verbs share."""
