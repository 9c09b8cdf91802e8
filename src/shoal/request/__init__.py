"""The request: everything that can be asked of a release, each option declared once."""
