//! The conformance suite over every entry of the catalogue, formal and with real tools.

mod document;
mod entries;
mod facts;
mod real_tools;
mod refusals;
