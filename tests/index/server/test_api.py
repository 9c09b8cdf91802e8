"""What the API answers, to whom."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from shoal.index.representatives import name_of_pool
from shoal.index.server.gate import Limits
from tests.index.server.api import LAND, SEA, TERMS, Api, arrow, id_of, pool


def test_a_database_holds_one_index_and_an_operator_creates_it(api: Api) -> None:
    assert api.create().status_code == 409
    wanted = {"k": 3, "vocabulary": {"terms": ["fish"], "weights": [1.0]}}
    assert api.ask("POST", "/v1/index", "joining", json=wanted).status_code == 403


def test_the_vocabulary_is_named_by_the_hash_of_its_bytes_and_may_be_kept_for_ever(api: Api) -> None:
    name = api.ask("GET", "/v1/index").json()["vocabulary"]
    response = api.ask("GET", f"/v1/vocabulary/{name}")
    assert sha256(response.content).hexdigest() == name
    assert response.json()["terms"] == TERMS
    assert "immutable" in response.headers["Cache-Control"]


def test_stored_documents_become_a_group_whose_pool_is_published(api: Api) -> None:
    name, ids = api.group(SEA)
    page = arrow(api.ask("GET", "/v1/representatives/pages/0"))
    assert page["number"] == [0] and page["name"] == [name]
    assert page["terms"] == [[0, 1, 2, 3]] and page["counts"] == [[2, 4, 5, 4]]  # the columns of SEA added up
    assert arrow(api.ask("GET", "/v1/groups")) == {"number": [0], "size": [3]}
    assert sorted(api.members(name)) == sorted(ids)


def test_names_are_the_hashes_of_pools_as_clients_compute_them(api: Api) -> None:
    name, _ = api.group(LAND)
    summed = pool(LAND)
    assert name == name_of_pool(np.array([int(term) for term in summed]), np.array(list(summed.values())))


def test_a_document_joins_the_group_that_its_owner_chose(api: Api) -> None:
    name, _ = api.group()
    response = api.join(name, "other")
    assert response.status_code == 201
    assert response.json() == {"documents": [{"id": id_of(response), "representative": name}]}
    assert api.sizes() == [4]


def test_a_retired_representative_is_refused_with_409(api: Api) -> None:
    sea, ids = api.group(SEA)
    land, _ = api.group(LAND)
    assert api.ask("DELETE", f"/v1/documents/{ids[0]}").status_code == 204
    late = {"representative": sea}
    assert api.ask("POST", f"/v1/documents/{api.keep()}/group", json=late).status_code == 409
    assert api.join(sea).json()["documents"][0]["representative"] is None  # of a batch: stored in no group
    assert api.members(sea) == []
    assert sorted(ids[1:]) == sorted(set(api.members(land)) & set(ids))
    assert api.sizes() == [5]


def test_a_stored_document_joins_a_group_later_and_only_once(api: Api) -> None:
    name, _ = api.group()
    document = api.keep()
    joined = api.ask("POST", f"/v1/documents/{document}/group", json={"representative": name})
    assert joined.json() == {"id": document, "representative": name}
    assert api.ask("POST", f"/v1/documents/{document}/group", json={"representative": name}).status_code == 409
    stranger = api.keep(who="other")
    assert api.ask("POST", f"/v1/documents/{stranger}/group", json={"representative": name}).status_code == 404


def test_fewer_than_k_documents_are_no_group_and_nothing_changes(api: Api) -> None:
    ids = [api.keep(), api.keep()]
    response = api.ask("POST", "/v1/groups", json={"groups": [{"documents": ids, "pool": {"0": 2}}]})
    assert response.status_code == 422 and "k=3" in response.json()["detail"]
    assert api.sizes() == []


def test_a_ciphertext_comes_back_as_it_was(api: Api) -> None:
    content = bytes(range(256))
    document = api.keep(content)
    response = api.ask("GET", f"/v1/documents/{document}")
    assert response.content == content


def test_others_see_a_document_once_it_is_in_a_group_and_only_its_owner_deletes_it(api: Api) -> None:
    stored = api.keep()
    for method in ("GET", "DELETE"):
        assert api.ask(method, f"/v1/documents/{stored}", "other").status_code == 404
    _, ids = api.group()
    assert api.ask("GET", f"/v1/documents/{ids[0]}", "reader").status_code == 200
    assert api.ask("DELETE", f"/v1/documents/{ids[0]}", "other").status_code == 403
    assert api.ask("DELETE", f"/v1/documents/{ids[0]}", "operator").status_code == 403
    assert api.ask("DELETE", f"/v1/documents/{ids[0]}").status_code == 204
    assert api.ask("GET", f"/v1/documents/{ids[0]}").status_code == 404
    assert api.ask("DELETE", f"/v1/documents/{ids[0]}").status_code == 404


def test_what_is_left_of_the_last_group_cannot_be_seen(api: Api) -> None:
    _, ids = api.group()
    api.ask("DELETE", f"/v1/documents/{ids[0]}")
    assert api.sizes() == []
    assert api.ask("GET", f"/v1/documents/{ids[1]}", "other").status_code == 404
    assert arrow(api.ask("GET", "/v1/records", "other"))["content"] == [None]  # of the deleted one


def test_documents_are_listed_page_by_page_for_their_owner_alone(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.index.server.documents.MOST", 3)
    ids = [api.keep() for _ in range(5)]
    api.keep(who="other")
    first = arrow(api.ask("GET", "/v1/records?mine=true"))
    rest = arrow(api.ask("GET", f"/v1/records?mine=true&after={first['number'][-1]}"))
    assert first["document"] + rest["document"] == ids
    assert set(first["status"]) == {"stored"} and all(first["mine"])


@pytest.mark.parametrize(
    ("role", "allowed"),
    [("reader", {200}), ("joining", {200, 201}), ("operator", {200, 201})],
    ids=lambda value: str(value),
)
def test_a_reader_reads_and_a_user_writes_too(api: Api, role: str, allowed: set[int]) -> None:
    api.group()
    asked = [
        api.ask("GET", "/v1/index", role),
        api.ask("GET", "/v1/records", role),
        api.put(b"x", None, role),
    ]
    assert {response.status_code for response in asked} - {403} == allowed
    assert (asked[2].status_code == 403) == (role == "reader")


def test_a_repeated_request_is_done_once_and_answered_again(api: Api) -> None:
    name, _ = api.group()
    key = {"Idempotency-Key": "5f0c7d2a"}
    first, again = api.join(name, headers=key), api.join(name, headers=key)
    assert first.status_code == again.status_code == 201 and first.json() == again.json()
    assert api.sizes() == [4]
    assert api.join(name, content=b"another", headers=key).status_code == 422
    assert id_of(api.join(name, "other", headers=key)) != id_of(first)  # keys are an account's own
    gone = {"Idempotency-Key": "9a77"}
    path = f"/v1/documents/{id_of(first)}"
    assert [api.ask("DELETE", path, headers=gone).status_code for _ in range(2)] == [204, 204]


def test_a_request_that_failed_can_be_repeated_with_the_same_key(api: Api) -> None:
    key = {"Idempotency-Key": "5f0c7d2a"}
    document, (name, ids) = api.keep(), api.group()
    wanted, path = {"representative": name}, f"/v1/documents/{document}/group"
    assert api.ask("POST", path, "other", json=wanted, headers=key).status_code == 404
    assert api.ask("POST", path, json=wanted, headers=key).status_code == 200
    again = {"Idempotency-Key": "9a77"}
    for _ in range(2):
        assert api.ask("DELETE", "/v1/documents/" + "0" * 32, headers=again).status_code == 404
    assert api.ask("DELETE", f"/v1/documents/{ids[0]}", headers=again).status_code == 204


def test_pages_of_another_index_are_refused(api: Api) -> None:
    api.group()
    current = api.ask("GET", "/v1/index").json()["id"]
    assert api.ask("GET", f"/v1/representatives/pages/0?index={current}").status_code == 200
    assert api.ask("GET", f"/v1/representatives/pages/0?index={'0' * 32}").status_code == 409
    assert api.ask("GET", "/v1/representatives/pages/1").status_code == 404


def test_an_account_keeps_no_more_documents_than_allowed(sqlite: str, tmp_path: Path) -> None:
    with Api.on(sqlite, Limits(documents=2)) as api:
        api.create()
        ids = [api.keep(), api.keep()]
        full = api.put(b"x", None)
        assert full.status_code == 403 and "2 documents" in full.json()["detail"]
        api.ask("DELETE", f"/v1/documents/{ids[0]}")
        api.keep()


def test_a_request_that_is_not_valid_is_told_why_and_never_quoted(api: Api) -> None:
    for terms in ({"secretword": 1}, {"0": 987654321987654321}, {"12345": 1}, {}):
        response = api.ask(
            "POST", "/v1/groups", json={"groups": [{"documents": [api.keep(), api.keep()], "pool": terms}]}
        )
        assert response.status_code == 422
        assert set(response.json()) == {"detail"}
        assert "secretword" not in response.text and "98765" not in response.text and "12345" not in response.text


def test_the_server_tells_that_it_is_alive_and_ready(api: Api) -> None:
    api.group()
    assert api.client.get("/health/live").status_code == api.client.get("/health/ready").status_code == 200
