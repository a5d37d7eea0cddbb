"""The forms of a document: terminal, Markdown, HTML."""
