"""Small files of each kind that texts come in."""

from __future__ import annotations

from collections.abc import Sequence


def pdf_of(pages: Sequence[Sequence[str]], *, turned: int = 0, picture: bool = False) -> bytes:
    """A PDF with lines of Helvetica on each page; `turned` by so many degrees; with a grey square on it."""
    objects: list[bytes] = []
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    square = b"\x80" * 16
    objects.append(
        b"<< /Type /XObject /Subtype /Image /Width 4 /Height 4 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Length 16 >>\nstream\n" + square + b"\nendstream"
    )
    for number, lines in enumerate(pages):
        drawn = "".join(f"BT /F 12 Tf 72 {720 - 20 * row} Td ({line}) Tj ET\n" for row, line in enumerate(lines))
        drawn += "q 100 0 0 100 300 300 cm /I Do Q\n" if picture else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate {turned} /Contents {6 + 2 * number} 0 R "
            "/Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >> >>".encode()
        )
        content = drawn.encode("latin-1")
        objects.append(f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream")
    file = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    return (
        file
        + (
            f"xref\n0 {count}\n0000000000 65535 f \n{table}"
            f"trailer\n<< /Size {count} /Root 1 0 R /Info << /Author (Ann Smith) >> >>\nstartxref\n{len(file)}\n%%EOF\n"
        ).encode()
    )
