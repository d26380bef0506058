//! Names broken into lines, instead of cut.

/// Preferred places to break a name.
const JOINTS: [char; 4] = [' ', ',', ':', '/'];

/// `name` in lines of at most `letters`, broken after a joint in the second half of a line if there
/// is one.
pub(super) fn lines(name: &str, letters: usize) -> Vec<String> {
    let mut rest: Vec<char> = name.chars().collect();
    let mut lines = Vec::new();
    while rest.len() > letters.max(1) {
        let joint = rest[..letters.max(1)]
            .iter()
            .rposition(|letter| JOINTS.contains(letter));
        let end = joint.map_or(letters, |joint| joint + 1);
        let end = if end * 2 > letters { end } else { letters };
        let tail = rest.split_off(end.max(1));
        lines.push(rest.iter().collect());
        rest = tail;
    }
    lines.push(rest.iter().collect());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_broken_behind_a_joint_and_loses_no_letter() {
        let name = "ext4:mkfs=-O ^has_journal:age=churn,full=80%";
        let found = lines(name, 20);
        assert_eq!(
            found,
            ["ext4:mkfs=-O ", "^has_journal:", "age=churn,full=80%"]
        );
        assert_eq!(lines("xfs", 20), ["xfs"]);
        assert_eq!(lines("aaaaaaaaaa", 4), ["aaaa", "aaaa", "aa"]);
        assert_eq!(lines("a:bbbbbbb", 6), ["a:bbbb", "bbb"]);
        assert_eq!(lines("ab", 0), ["a", "b"]);
    }
}
