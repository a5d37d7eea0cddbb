"""Records in, pages out: terminal, HTML, JSON, Markdown. Never sees a driver."""
