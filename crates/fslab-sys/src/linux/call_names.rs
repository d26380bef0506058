//! Names of system call flags and errors, as in strace output.

/// The bits of flags such as `O_WRONLY|O_CREAT`; `None` if a name is unknown. Numbers are accepted.
pub fn flag_bits(words: &str) -> Option<i32> {
    words
        .split('|')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .try_fold(0, |bits, word| Some(bits | flag(word)?))
}

fn flag(word: &str) -> Option<i32> {
    let known = FLAGS.iter().find(|(name, _)| *name == word);
    known
        .map(|(_, bits)| *bits)
        .or_else(|| word.parse().ok())
        .or_else(|| i32::from_str_radix(word.strip_prefix("0x")?, 16).ok())
}

const FLAGS: &[(&str, i32)] = &[
    ("O_RDONLY", libc::O_RDONLY),
    ("O_WRONLY", libc::O_WRONLY),
    ("O_RDWR", libc::O_RDWR),
    ("O_CREAT", libc::O_CREAT),
    ("O_EXCL", libc::O_EXCL),
    ("O_TRUNC", libc::O_TRUNC),
    ("O_APPEND", libc::O_APPEND),
    ("O_NONBLOCK", libc::O_NONBLOCK),
    ("O_NOCTTY", libc::O_NOCTTY),
    ("O_DIRECTORY", libc::O_DIRECTORY),
    ("O_NOFOLLOW", libc::O_NOFOLLOW),
    ("O_NOATIME", libc::O_NOATIME),
    ("O_CLOEXEC", libc::O_CLOEXEC),
    ("O_DIRECT", libc::O_DIRECT),
    ("O_DSYNC", libc::O_DSYNC),
    ("O_SYNC", libc::O_SYNC),
    ("O_PATH", libc::O_PATH),
    ("O_LARGEFILE", 0),
    ("O_ASYNC", libc::O_ASYNC),
    ("SEEK_SET", libc::SEEK_SET),
    ("SEEK_CUR", libc::SEEK_CUR),
    ("SEEK_END", libc::SEEK_END),
    ("SEEK_DATA", libc::SEEK_DATA),
    ("SEEK_HOLE", libc::SEEK_HOLE),
    ("F_OK", libc::F_OK),
    ("R_OK", libc::R_OK),
    ("W_OK", libc::W_OK),
    ("X_OK", libc::X_OK),
    ("FALLOC_FL_KEEP_SIZE", libc::FALLOC_FL_KEEP_SIZE),
    ("FALLOC_FL_PUNCH_HOLE", libc::FALLOC_FL_PUNCH_HOLE),
    ("FALLOC_FL_COLLAPSE_RANGE", libc::FALLOC_FL_COLLAPSE_RANGE),
    ("FALLOC_FL_ZERO_RANGE", libc::FALLOC_FL_ZERO_RANGE),
    ("FALLOC_FL_INSERT_RANGE", libc::FALLOC_FL_INSERT_RANGE),
    ("FALLOC_FL_UNSHARE_RANGE", libc::FALLOC_FL_UNSHARE_RANGE),
    ("RENAME_NOREPLACE", libc::RENAME_NOREPLACE.cast_signed()),
    ("RENAME_EXCHANGE", libc::RENAME_EXCHANGE.cast_signed()),
    ("RENAME_WHITEOUT", libc::RENAME_WHITEOUT.cast_signed()),
];

/// The name of an errno, such as `ENOENT`; `errno N` if unknown.
pub fn errno_name(number: i32) -> String {
    let known = ERRNOS.iter().find(|(_, errno)| *errno == number);
    known.map_or_else(|| format!("errno {number}"), |(name, _)| (*name).to_owned())
}

/// The errno of that name.
pub fn errno_number(name: &str) -> Option<i32> {
    let known = ERRNOS.iter().find(|(known, _)| *known == name);
    known.map(|(_, number)| *number)
}

const ERRNOS: &[(&str, i32)] = &[
    ("EPERM", libc::EPERM),
    ("ENOENT", libc::ENOENT),
    ("EINTR", libc::EINTR),
    ("EIO", libc::EIO),
    ("ENXIO", libc::ENXIO),
    ("EBADF", libc::EBADF),
    ("EAGAIN", libc::EAGAIN),
    ("ENOMEM", libc::ENOMEM),
    ("EACCES", libc::EACCES),
    ("EFAULT", libc::EFAULT),
    ("EBUSY", libc::EBUSY),
    ("EEXIST", libc::EEXIST),
    ("EXDEV", libc::EXDEV),
    ("ENODEV", libc::ENODEV),
    ("ENOTDIR", libc::ENOTDIR),
    ("EISDIR", libc::EISDIR),
    ("EINVAL", libc::EINVAL),
    ("ENFILE", libc::ENFILE),
    ("EMFILE", libc::EMFILE),
    ("ENOTTY", libc::ENOTTY),
    ("ETXTBSY", libc::ETXTBSY),
    ("EFBIG", libc::EFBIG),
    ("ENOSPC", libc::ENOSPC),
    ("ESPIPE", libc::ESPIPE),
    ("EROFS", libc::EROFS),
    ("EMLINK", libc::EMLINK),
    ("EPIPE", libc::EPIPE),
    ("ERANGE", libc::ERANGE),
    ("ENAMETOOLONG", libc::ENAMETOOLONG),
    ("ENOSYS", libc::ENOSYS),
    ("ENOTEMPTY", libc::ENOTEMPTY),
    ("ELOOP", libc::ELOOP),
    ("ENODATA", libc::ENODATA),
    ("EBADMSG", libc::EBADMSG),
    ("EOVERFLOW", libc::EOVERFLOW),
    ("EILSEQ", libc::EILSEQ),
    ("EOPNOTSUPP", libc::EOPNOTSUPP),
    ("ESHUTDOWN", libc::ESHUTDOWN),
    ("ESTALE", libc::ESTALE),
    ("EUCLEAN", libc::EUCLEAN),
    ("EDQUOT", libc::EDQUOT),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_are_not_known_are_not_guessed() {
        assert_eq!(flag_bits("0"), Some(0));
        assert_eq!(flag_bits("O_RDONLY|0x10"), Some(0x10));
        assert_eq!(flag_bits("O_NEW"), None);
    }
}
