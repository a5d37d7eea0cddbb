"""Documents as a built graph keeps them."""

from __future__ import annotations

import pytest

from kgeval.building.state import Cutting, row_of, sources_of
from kgeval.llm.calls import Failure
from kgeval.records import Document
from kgeval.text.extract.mentions import Extraction, Mention

FAILED = Failure("timeout", "no answer in time")


@pytest.mark.slow
def test_a_chunk_that_fails_keeps_what_the_same_text_gave_before() -> None:
    document = Document(id="d", text="Ada Byron wrote to Charles Babbage.")
    sources = sources_of(document, Cutting())
    good = [Extraction(one.chunk.id, (Mention("Ada Byron", "Person"),)) for one in sources]
    bad = [Extraction(one.chunk.id, failure=FAILED) for one in sources]
    first = row_of(document, sources, good, made_by="x", old=None)
    again = row_of(document, sources, bad, made_by="x", old=first)
    assert [(one.extraction, one.failure) for one in again.chunks] == [(first.chunks[0].extraction, None)]
    other = row_of(document, sources, bad, made_by="y", old=first)  # by another extractor it is another thing
    assert [(one.extraction, one.failure) for one in other.chunks] == [(None, "timeout")]
    reread = row_of(document, sources, bad, made_by="y", old=first, reread=True)  # by the same, with other rules: kept, and asked again
    assert [(one.extraction, one.failure) for one in reread.chunks] == [(first.chunks[0].extraction, "timeout")]
    unread = [Extraction(one.chunk.id, failure=Failure("unparsable", "does not fit")) for one in sources]
    worse = row_of(document, sources, unread, made_by="y", old=first, reread=True)  # what was taken of such a reply is not kept
    assert [(one.extraction, one.failure) for one in worse.chunks] == [(None, "unparsable")]
    better = [Extraction(one.chunk.id, (Mention("Charles Babbage", "Person"),)) for one in sources]
    assert row_of(document, sources, better, made_by="x", old=first).chunks[0].extraction != first.chunks[0].extraction
