"""Sanitized documents, checked: what the files show to anyone, and with the owner's secrets what they must not show."""
