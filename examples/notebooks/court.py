# %% [markdown]
# # Court texts that may be shown
# Shoal proposes what to hide, people decide, and the release shows nothing of what they decided to hide. Needs
# the extra `sanitize`.

# %%
from pathlib import Path

import shoal
from shoal.data.keys import Keys
from shoal.sanitizer.propose import Proposing, propose
from shoal.sanitizer.redact import Sealing
from shoal.sanitizer.release.vault import read_secrets

judgments = {
    "a": "The applicant, Mr Tomas Vandermeer, a beekeeper born in 1961, lives in Delft. On 3 May 2009 he sold a house "
    "to Ms Ilse Brandt, who worked for Noordzee Bank. The court in Delft dismissed his claim, case number 2009/441.",
    "b": "Ms Ilse Brandt appealed. Mr Vandermeer was heard in The Hague on 12 June 2010 and asked for 25,000 euros.",
}
Path("judgments").mkdir(exist_ok=True)
for name, text in judgments.items():
    Path("judgments", f"{name}.txt").write_text(text)

# %%
proposed = propose("judgments", "court-work", Proposing(scope="collection"))
print(proposed.entities, "entities and", proposed.blocks, "blocks to decide")

# %% [markdown]
# `shoal review court-work` asks a person about each proposal, in the terminal or the workbench. Here a rule decides:
# whatever is open is hidden.

# %%
keys = Keys.draw()
keys.write(Path("court.key"))  # whoever has it can undo every mask
made = shoal.redact("court-work", "court-release", Sealing((keys.public,)), accept_rest=0)
for page in sorted(Path("court-release/documents").glob("*.txt")):
    print(page.read_text(), "\n")

# %% [markdown]
# Nobody's name is left, and one pseudonym stands for one person in both texts. Anybody can check the release; with the
# vault and the key, verify looks for every string that was masked.

# %%
assert not any(
    name in page.read_text()
    for page in Path("court-release/documents").glob("*.txt")
    for name in ("Vandermeer", "Brandt")
)
shoal.verify(made.folder, secrets=read_secrets(made.private, (str(keys.identity),), None))
