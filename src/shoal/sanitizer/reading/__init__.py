"""Texts from the files that people write; what does not survive as text is named, and so is what cannot be read."""
