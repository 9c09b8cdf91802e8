"""Documents to the draft of a release."""
