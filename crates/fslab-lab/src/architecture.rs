//! What a guest kernel runs on.

/// What a guest kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// A process of the host: User-Mode Linux.
    Um,
    /// A simulated 64-bit PC.
    Pc,
}

impl Architecture {
    /// The kernel's name for it, `ARCH` of its Makefile.
    pub(crate) fn make_name(self) -> &'static str {
        match self {
            Self::Um => "um",
            Self::Pc => "x86_64",
        }
    }
}
