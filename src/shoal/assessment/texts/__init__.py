"""Sanitized texts judged against their originals: read side by side, searched, and searched for."""
