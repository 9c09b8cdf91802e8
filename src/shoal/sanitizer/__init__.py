"""From a confidential text to one that may be shown: everything here proposes, and a person decides."""
