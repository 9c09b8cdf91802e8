# %% [markdown]
# # A survey with weights
# From a table to a release that others can check, and to the estimates that stay valid. The people are invented.

# %%
import numpy as np
import pandas as pd

import shoal

random = np.random.default_rng(28)
n = 400
region = random.choice(["Coast", "Hills", "Plain"], n, p=[0.3, 0.2, 0.5])
survey = pd.DataFrame(
    {
        "region": region,
        "age": random.integers(16, 90, n),
        "education": random.choice(["primary", "secondary", "college"], n, p=[0.2, 0.5, 0.3]),
        "income": np.exp(9.6 + 0.2 * (region == "Coast") + random.normal(0, 0.4, n)).round(-1),
        "weight": (
            pd.Series(region).map({"Coast": 120, "Hills": 200, "Plain": 310}) * random.uniform(0.8, 1.2, n)
        ).round(1),
    }
)

# %% [markdown]
# What is in it, and which role would suit each column?

# %%
shoal.inspect(survey)

# %% [markdown]
# How risky is it as it is?

# %%
quasi = ["region", "age", "education"]
shoal.audit(survey, quasi=quasi, weight="weight")

# %% [markdown]
# Protect it: every person like at least four others in region, age, education and weight.

# %%
made = shoal.protect(
    survey, k=5, out="survey-release", quasi=quasi, confidential=["income"], weight="weight", force=True
)
made

# %%
shoal.verify(made.folder, expect=made.certificate["seal"])

# %% [markdown]
# Is it still good for the mean income by region?

# %%
released = pd.read_parquet(made.folder / "table.parquet")
before, after = (
    table.groupby("region").apply(lambda rows: np.average(rows["income"], weights=rows["weight"]), include_groups=False)
    for table in (survey, released)
)
pd.DataFrame({"before": before, "after": after}).round(0)
