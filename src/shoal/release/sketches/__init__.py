"""Documents to the draft of a release of sketches: of the pools of groups, or of single records."""
