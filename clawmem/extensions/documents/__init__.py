"""Documents: the text of PDF, DOCX, PPTX, HTML, EPUB and mail, read in a process of its own."""

from clawmem.extension import Extension

EXTENSION = Extension(name="documents", answers={"document": "clawmem.extensions.documents.process:read_document"})
