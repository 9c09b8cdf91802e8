"""Search on the server, for clients that do not rank themselves."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from shoal.service.documents import counts_of
from shoal.service.routes.asking import Reader, limits_of, problems, store_of
from shoal.service.schemas import Hits, SearchWanted

__all__ = ["router"]

router = APIRouter(tags=["search"])


@router.post("/v1/search", responses=problems())
def search(request: Request, response: Response, account: Reader, wanted: SearchWanted) -> Hits:
    """The documents most similar to a query. **The server sees the query**; the usual client ranks itself."""
    request.state.log["seen"] = "query"
    request.app.state.metrics.vector_seen()
    with store_of(request).read() as reading:
        hits = reading.index.search(counts_of(reading.index, [wanted.terms], limits_of(request)), wanted.limit)
    response.headers["Shoal-Version"] = str(reading.state.version)
    shown = [{"id": hit.document, "similarity": hit.similarity, "terms": hit.terms} for hit in hits]
    return Hits.model_validate({"hits": shown})
