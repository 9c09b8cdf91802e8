"""Small files of each kind that texts come in."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence


def pdf_of(
    pages: Sequence[Sequence[str]], *, turned: int = 0, picture: bool = False, drawn: str = "", first_code: str = ""
) -> bytes:
    """A PDF with lines of Helvetica on each page; `turned` by so many degrees; with a grey square on it; with what is
    `drawn`; with a map of the characters from the space on to those from `first_code` on, in hexadecimal."""
    objects: list[bytes] = []
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    mapped = f"/ToUnicode {5 + 2 * len(pages)} 0 R" if first_code else "/Encoding /WinAnsiEncoding"
    objects.append(f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica {mapped} >>".encode())
    square = b"\x80" * 16
    objects.append(
        b"<< /Type /XObject /Subtype /Image /Width 4 /Height 4 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Length 16 >>\nstream\n" + square + b"\nendstream"
    )
    for number, lines in enumerate(pages):
        shown = drawn + "".join(
            f"BT /F 12 Tf 72 {720 - 20 * row} Td ({line}) Tj ET\n" for row, line in enumerate(lines)
        )
        shown += "q 100 0 0 100 300 300 cm /I Do Q\n" if picture else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate {turned} /Contents {6 + 2 * number} 0 R "
            "/Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >> >>".encode()
        )
        content = shown.encode("latin-1")
        objects.append(f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream")
    if first_code:
        character_map = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
            "1 begincodespacerange <00> <FF> endcodespacerange "
            f"1 beginbfrange <20> <7E> <{first_code}> endbfrange endcmap end end"
        )
        objects.append(f"<< /Length {len(character_map)} >>\nstream\n{character_map}\nendstream".encode())
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


def odt_of(body: str, *, header: str = "", footer: str = "", doctype: str = "") -> bytes:
    """An ODT file with the elements of its body, and a header and footer."""
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "style")
    )
    margins = f"<style:header><text:p>{header}</text:p></style:header>" if header else ""
    margins += f"<style:footer><text:p>{footer}</text:p></style:footer>" if footer else ""
    parts = {
        "content.xml": f"{doctype}<office:document {names}><office:body>{body}</office:body></office:document>",
        "styles.xml": f"<office:document {names}>{margins}</office:document>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()
