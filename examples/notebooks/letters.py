# %% [markdown]
# # Hospital letters
# Texts become vectors of words that a whole group shares: nobody's words alone, and still good for searching and
# sorting.

# %%
import shoal
from shoal.pages.report import distances
from shoal.results.summary import Distances
from shoal.sample import write_sample

sample = write_sample("letters-sample")
made = shoal.protect(sample.letters, k=5, out="letters-release", label_column="speciality", l=2, force=True)
made

# %%
shoal.verify(made.folder)

# %% [markdown]
# What others get: a row of weights per letter, shared by its group, and the speciality.

# %%
release = shoal.load(made.folder)
release.vectors.shape

# %% [markdown]
# Is it still good for anything? Queries, classes and clusters, before and after:

# %%
judged = shoal.assess(sample.letters, made.folder)
judged

# %% [markdown]
# Distances between letters, before and after:

# %%
space = judged.utility
tenths = tuple(tenth / 10 for tenth in range(11))
distances(Distances(tenths, space.original.distances, space.protected.distances, space.pairs, space.sampled), "letter")
