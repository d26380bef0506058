//! The mount table, /proc/self/mountinfo, as in proc_pid_mountinfo(5).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::Mount;
use crate::os::OsStringExt;

/// Parses a mountinfo table; malformed lines are skipped.
pub fn parse_mount_table(table: &[u8]) -> Vec<Mount> {
    table
        .split(|byte| *byte == b'\n')
        .filter_map(parse_line)
        .collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [id, parent, device_number, root, mount_point, options, ..] = fields[..] else {
        return None;
    };
    // Optional fields are between the sixth field and a hyphen.
    let hyphen = 6 + fields.get(6..)?.iter().position(|field| field == b"-")?;
    let [fs_type, source, super_options] = *fields.get(hyphen + 1..hyphen + 4)? else {
        return None;
    };
    let mut all_options: Vec<String> = Vec::new();
    let each = |list: &[u8]| text(list).split(',').map(str::to_owned).collect::<Vec<_>>();
    for option in [each(options), each(super_options)].concat() {
        if !all_options.contains(&option) {
            all_options.push(option);
        }
    }
    Some(Mount {
        id: text(id).parse().ok()?,
        parent: text(parent).parse().ok()?,
        device_number: text(device_number),
        root: path(root),
        mount_point: path(mount_point),
        fs_type: text(fs_type),
        source: text(source),
        options: all_options,
    })
}

fn text(field: &[u8]) -> String {
    path(field).to_string_lossy().into_owned()
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

/// Decodes the octal escapes of blank, tab, newline and backslash.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let code = (*first == b'\\').then(|| octal(tail)).flatten();
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    plain
}

fn octal(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..3)?).ok()?;
    u8::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn optional_fields_and_escapes_are_parsed() {
        let table = b"\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
23 22 8:1 / /home/my\\040disk rw shared:5 master:2 - xfs /dev/sda1 rw,noquota
";
        let mounts = parse_mount_table(table);
        assert_eq!(mounts[0].options, ["rw", "relatime", "errors=remount-ro"]);
        assert_eq!(mounts[1].mount_point, Path::new("/home/my disk"));
        assert_eq!((mounts[1].id, mounts[1].parent), (23, 22));
        assert_eq!(unescape(b"a\\134040\\011\\9\\"), b"a\\040\t\\9\\");
    }

    #[test]
    fn malformed_lines_are_skipped() {
        let table = b"\n1 2\nx y z / / rw - a b c\n36 35 1:1 / /m rw -\n";
        assert_eq!(parse_mount_table(table), []);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_root_is_mounted() {
        let mounts = crate::mounts().expect("mountinfo is readable");
        assert!(
            mounts
                .iter()
                .any(|mount| mount.mount_point == Path::new("/"))
        );
    }

    proptest! {
        #[test]
        fn escaping_and_unescaping_give_the_same_bytes(
            bytes in prop::collection::vec(1_u8.., 0..20)
        ) {
            let escaped: Vec<u8> = bytes
                .iter()
                .flat_map(|byte| match byte {
                    b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
                    _ => vec![*byte],
                })
                .collect();
            prop_assert_eq!(unescape(&escaped), bytes);
        }
    }
}
