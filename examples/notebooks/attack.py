# %% [markdown]
# # Attack your own release
# Before you hand a release out: what would an intruder find who knows the original values, and which protection
# would be better?

# %%
import pandas

import shoal
from shoal.pages.exploration import risk_utility_map
from shoal.sample import write_sample

table = write_sample("attack-sample").subjects
roles = {"quasi": ["age", "height_cm", "income"], "confidential": ["diagnosis"]}
made = shoal.protect(table, k=3, out="attacked", **roles, force=True)
made

# %% [markdown]
# Each attack beside what guessing would give. Attackers trained on known links are on the leak card,
# `attacked-private/leaks.html`.

# %%
shoal.assess(table, made.folder)

# %% [markdown]
# Many protections, tried and attacked alike: less risk costs more loss. The ring is what Shoal recommends for a risk
# of at most 40 per cent. A sample of the table is enough to choose by.

# %%
found = shoal.explore(pandas.read_csv(table).head(120), quasi=roles["quasi"], max_risk=40, refine=False)
found

# %%
risk_utility_map(found)
