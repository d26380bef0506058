//! One suite over every entry of the catalogue: what it promises on paper, and with real tools.

mod document;
mod entries;
mod real_tools;
