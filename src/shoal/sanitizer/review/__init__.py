"""Review: proposals, decisions and what follows from them; the log of decisions is the only state."""
