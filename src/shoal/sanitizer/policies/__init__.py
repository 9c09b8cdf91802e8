"""Which subjects are risky: policies of topics and concepts, widened with WordNet to the terms that are looked for."""
