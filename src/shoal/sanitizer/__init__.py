"""From a confidential text to one that may be shown: entities, pseudonyms, policies, risky blocks, review.
Everything here proposes; a person decides.
"""
