"""Releases made to fool verification: each built in code from an honest one, changed and sealed anew."""
