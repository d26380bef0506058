//! Outputs of which each line begins with the host that printed it, as pdsh and clush write them.

/// The most hosts that are believed.
const HOSTS_MAX: usize = 4096;

/// The text of each host, without the hosts; `None` if a line has none.
pub(crate) fn by_host(text: &str) -> Option<Vec<(&str, String)>> {
    let mut texts: Vec<(&str, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (host, rest) = line.split_once(':')?;
        let rest = match rest {
            "" => "",
            rest => rest.strip_prefix(' ')?,
        };
        if !is_host(host) {
            return None;
        }
        let known = texts.iter().position(|(known, _)| *known == host);
        let place = match known {
            Some(place) => place,
            None if texts.len() == HOSTS_MAX => return None,
            None => {
                texts.push((host, String::new()));
                texts.len() - 1
            }
        };
        texts[place].1.push_str(rest);
        texts[place].1.push('\n');
    }
    (!texts.is_empty()).then_some(texts)
}

fn is_host(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_by_their_hosts() {
        let text = "n1: {\nn2: a: b\nn1:\nn1:   \"x\": 1\n\nn1: }\n";
        let expected = vec![
            ("n1", "{\n\n  \"x\": 1\n}\n".to_owned()),
            ("n2", "a: b\n".to_owned()),
        ];
        assert_eq!(by_host(text), Some(expected));
    }

    #[test]
    fn a_text_with_a_line_without_a_host_has_none() {
        for text in ["n1: a\nb\n", "api : POSIX\n", "a:b\n", " n1: a\n", ""] {
            assert_eq!(by_host(text), None, "{text}");
        }
    }
}
