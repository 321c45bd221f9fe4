"""Eval suites: run the tests of a suite in a vault of its own, grade the answers, keep and compare the scores."""
