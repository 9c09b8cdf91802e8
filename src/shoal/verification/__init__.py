"""Verification: every promise of a release counted again, by code that shares nothing with what made it."""
