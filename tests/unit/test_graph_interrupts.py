"""An interrupt stays one, whatever the driver's clean-up after it meets."""

from __future__ import annotations

import struct

import pytest

from kgeval.graph.connect import translated

MET = [ValueError, struct.error, KeyError, OSError]


@pytest.mark.parametrize("met", MET, ids=lambda met: met.__name__)
def test_half_a_message_after_an_interrupt_is_the_interrupt(met: type[Exception]) -> None:
    with pytest.raises(KeyboardInterrupt), translated():
        try:
            raise KeyboardInterrupt
        finally:
            raise met("half of a message")


@pytest.mark.parametrize("met", MET, ids=lambda met: met.__name__)
def test_without_an_interrupt_it_is_what_it_is(met: type[Exception]) -> None:
    with pytest.raises(met), translated():
        raise met("half of a message")
