"""Who vouches for a release: the signature over its certificate, and the keys that a recipient trusts."""
