"""Sign: the owner vouches for a release that was made here, with a key that is kept nowhere."""

from __future__ import annotations

from fastapi import APIRouter

from shoal.web.jobs import DONE
from shoal.web.protecting.signing import RELEASE, sign_release
from shoal.web.requests import Form, TheAside, TheJobs

router = APIRouter(prefix="/sign")


@router.post("/{job}")
async def sign(job: str, form: Form, jobs: TheJobs, aside: TheAside) -> dict[str, str]:
    """Of a table, of documents, or of texts that were reviewed."""
    made = jobs.get(job)
    if made.page not in ("protect", "redact") or made.state != DONE:
        raise LookupError(job)
    await aside.call(sign_release, made.work / RELEASE, form.secret("key").encode(), form.secret("passphrase"))
    return {}
