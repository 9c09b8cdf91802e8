"""A PDF file of pictures and nothing else: no text, no metadata, no time, no name of a program."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["PagePicture", "image_pdf"]


@dataclass(frozen=True)
class PagePicture:
    """A page in shades of grey."""

    width: int  # pixels
    height: int
    grey: bytes  # a byte per pixel, from the top left
    points: tuple[int, int]  # width and height of the paper, in points


def image_pdf(pages: Sequence[PagePicture]) -> bytes:
    """The file. Verification reads this form and no other."""
    kids = " ".join(f"{3 + 3 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
    ]
    for number, page in enumerate(pages):
        first = 3 + 3 * number
        width, height = page.points
        drawing = f"q {width} 0 0 {height} 0 0 cm /Page Do Q".encode()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] "
            f"/Resources << /XObject << /Page {first + 2} 0 R >> >> /Contents {first + 1} 0 R >>".encode()
        )
        objects.append(_stream("", drawing))
        form = (
            f"/Type /XObject /Subtype /Image /Width {page.width} /Height {page.height} /ColorSpace /DeviceGray "
            "/BitsPerComponent 8 /Filter /FlateDecode "
        )
        objects.append(_stream(form, zlib.compress(page.grey, 9)))
    return _file(objects)


def _stream(form: str, content: bytes) -> bytes:
    return f"<< {form}/Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def _file(objects: Sequence[bytes]) -> bytes:
    parts, places = [b"%PDF-1.4\n"], []
    length = len(parts[0])
    for number, content in enumerate(objects, start=1):
        places.append(length)
        parts.append(f"{number} 0 obj\n".encode() + content + b"\nendobj\n")
        length += len(parts[-1])
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    parts.append(
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{length}\n%%EOF\n".encode()
    )
    return b"".join(parts)
