"""Tables to the draft of a release."""
