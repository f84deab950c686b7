"""Evaluation: measures, cases, judgements, significance, experiments."""
