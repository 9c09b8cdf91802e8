# %% [markdown]
# # Court texts that may be shown
# Shoal proposes what to hide, people decide, and the release shows nothing of what they decided to hide. Needs
# the extra `sanitize`.

# %%
import subprocess
import sys
from pathlib import Path

judgments = {
    "a": "The applicant, Mr Tomas Vandermeer, a beekeeper born in 1961, lives in Delft. On 3 May 2009 he sold a house "
    "to Ms Ilse Brandt, who worked for Noordzee Bank. The court in Delft dismissed his claim, case number 2009/441.",
    "b": "Ms Ilse Brandt appealed. Mr Vandermeer was heard in The Hague on 12 June 2010 and asked for 25,000 euros.",
}
Path("judgments").mkdir(exist_ok=True)
for name, text in judgments.items():
    Path("judgments", f"{name}.txt").write_text(text)


def shoal(*words):
    """As on the command line."""
    print(subprocess.run([sys.executable, "-m", "shoal", *words], check=True, capture_output=True, text=True).stdout)


# %%
shoal("sanitize", "judgments", "-o", "court-work", "--scope", "collection")

# %% [markdown]
# `shoal review court-work` asks a person about each proposal, in the terminal or the workbench. Here a rule decides:
# whatever is open is hidden.

# %%
shoal("redact", "court-work", "-o", "court-release", "--accept-rest", "0", "--key", "court.key")
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
shoal("verify", "court-release", "--private", "court-release-private", "--key", "court.key")
