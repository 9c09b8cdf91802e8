"""Attacks: what an intruder learns from a release, measured by attacking it.
Every attack returns a rate with its baseline, a control where there can be one, and an interval.
"""
