"""How risky one table is, original or release: crowds, uniques, what an attacker may expect, and the population."""
