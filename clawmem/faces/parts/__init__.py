"""What verbs are made of: parameters, answers, and what several verbs share."""
