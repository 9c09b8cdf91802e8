"""Releases compared with others: the same protection repeated without a record, and an earlier release."""
