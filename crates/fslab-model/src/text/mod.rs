//! Texts: digests, suggestions, TOML with positions, types that are one text.

mod digest;
mod nearest;
mod serde_message;
mod skipped;
pub(crate) mod text_type;
mod toml_text;

pub use digest::{hexadecimal, sha256, sha256_of};
pub use nearest::{did_you_mean, nearest_name, suggestion};
pub use skipped::is_default;
pub use toml_text::{TextPosition, TomlError, check_format, from_toml};
