"""Tables: plain MDAV on the CASC files against the published information loss."""

from __future__ import annotations

from typing import Any

from benchmarks import data, measure

PUBLISHED = {  # IL% at k = 3, 5, 10 (specification 02)
    "tarragona": (16.9326, 22.4619, 33.1929),
    "census": (5.6922, 9.0884, 14.1559),
    "eia": (0.4829, 1.6667, 3.8397),
}


def run() -> dict[str, Any]:
    from shoal import Microaggregation

    rows = []
    for name, published in PUBLISHED.items():
        X = data.casc(name)
        for k, expected in zip((3, 5, 10), published, strict=True):
            model = Microaggregation(k, refine=False).fit(X)
            found = round(100 * model.information_loss_, 4)
            rows.append({"table": name, "k": k, "IL %": found, "published": expected, "equal": found == expected})
    measure.show("CASC: plain MDAV", rows)
    return {"casc": rows}
