"""The sanitizer: from a confidential text to one that may be shown, with a person deciding."""
