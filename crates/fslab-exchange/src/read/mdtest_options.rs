//! The command line of mdtest as parameters of its phases. It has no other source of options, so
//! that what does not stand there is off.

use fslab_model::Parameters;

use super::command_line::CommandLine;

/// Sets what a command line of mdtest says.
pub(super) fn put(line: &str, parameters: &mut Parameters) {
    let line = CommandLine::of(line);
    let mut set = |name: &str, value: serde_json::Value| parameters.insert(name.to_owned(), value);
    set("own_trees", line.has("-u").into());
    // Without a size files are created empty, and are only opened and closed to be read.
    for (name, option) in [("write_bytes", "-w"), ("read_bytes", "-e")] {
        match (line.value(option), line.bytes(option)) {
            (None, _) => set(name, 0.into()),
            (Some(_), Some(bytes)) => set(name, bytes.into()),
            (Some(_), None) => None,
        };
    }
    for (name, option) in [("rank_shift", "-N"), ("stonewall_s", "-W")] {
        if let Some(count) = line.count(option).filter(|count| *count > 0) {
            set(name, count.into());
        }
    }
    if line.has("-y") {
        set("sync_file", true.into());
    }
    if line.has("-R") || line.value("-R").is_some() {
        set("random_order", true.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_stand_on_the_command_line_is_off() {
        let mut parameters = Parameters::new();
        put(
            "./mdtest '-n' '10' '-F' '-u' '-N' '1' '-e=3901' '-W' '2'",
            &mut parameters,
        );
        let expected = serde_json::json!({
            "own_trees": true, "write_bytes": 0, "read_bytes": 3901, "rank_shift": 1,
            "stonewall_s": 2,
        });
        assert_eq!(serde_json::to_value(&parameters).expect("JSON"), expected);
        let mut parameters = Parameters::new();
        put("mdtest -F -y -w many -R", &mut parameters);
        let expected = serde_json::json!({
            "own_trees": false, "read_bytes": 0, "sync_file": true, "random_order": true,
        });
        assert_eq!(serde_json::to_value(&parameters).expect("JSON"), expected);
    }
}
