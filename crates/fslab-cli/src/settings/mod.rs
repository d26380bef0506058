//! Settings: defaults of options, from the user's configuration file and from the environment.
//!
//! ```text
//!     command line  >  FSLAB_OPTION  >  fslab/config.toml  >  built-in default
//! ```
//!
//! Every key is an option by its long name; the options are those of clap's tree, so that a new one
//! is a key at once. A setting becomes the default of its option before the command line is parsed.
//! Options that hand over a permission are refused.

mod application;
mod file;
mod in_force;
mod options;
mod setting;
mod variables;

pub(crate) use application::{applied, ensure_valid};
pub(crate) use in_force::{in_force, put_in_force};
pub(crate) use options::{Known, Options};
pub(crate) use setting::{Setting, Settings};
pub(crate) use variables::VARIABLES;
