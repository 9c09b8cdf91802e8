"""Sanitized documents as a release: proposals, masks, redacted pages, certificate, and the way back for the owner."""
