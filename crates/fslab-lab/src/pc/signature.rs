//! The signature at the end of a kernel module, which the kernel verifies when it loads the module:
//! a digest of the entire file and an RSA signature, hundreds of millions of instructions.
//!
//! Behind the module are the signature, a description of 12 bytes whose last four are the
//! signature's length (big-endian), and a line (the kernel's `include/linux/module_signature.h` and
//! Documentation/admin-guide/module-signing.rst).

/// The line at the end of a signed module.
const LINE: &[u8] = b"~Module signature appended~\n";
/// Bytes of the description.
const DESCRIPTION: usize = 12;

/// Where the signature of `module` starts; its length if it has none.
pub(super) fn start(module: &[u8]) -> usize {
    signed(module).unwrap_or(module.len())
}

fn signed(module: &[u8]) -> Option<usize> {
    let described = module.strip_suffix(LINE)?;
    let (_, length) = described.split_last_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    described
        .len()
        .checked_sub(DESCRIPTION)?
        .checked_sub(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(signature_length: u32) -> Vec<u8> {
        let description = [1, 0, 2, 0, 0, 0, 0, 0];
        [
            b"code" as &[u8],
            b"RSA!!",
            &description,
            &signature_length.to_be_bytes(),
            LINE,
        ]
        .concat()
    }

    #[test]
    fn a_signature_ends_a_module() {
        assert_eq!(start(&module(5)), 4);
        assert_eq!(start(&module(9)), 0);
    }

    #[test]
    fn what_has_no_signature_is_a_module_to_its_end() {
        for unsigned in [b"code" as &[u8], b"", LINE, &module(10), &module(u32::MAX)] {
            assert_eq!(start(unsigned), unsigned.len());
        }
    }
}
