"""Which subjects are risky: a policy lists topics and their concepts, each with the senses that a person chose.
Concepts are widened with WordNet to the terms that are looked for. Policies are TOML files, for people to read.
"""

from __future__ import annotations

from shoal.sanitizer.policies.policy import BUILT_IN, Concept, Policy, Topic
from shoal.sanitizer.policies.widening import offered_senses
from shoal.sanitizer.policies.writing import policy_text, write_policy

__all__ = ["BUILT_IN", "Concept", "Policy", "Topic", "offered_senses", "policy_text", "write_policy"]
