//! Rare forms of outputs, written by hand: read with the right figures, or refused with the cause.
