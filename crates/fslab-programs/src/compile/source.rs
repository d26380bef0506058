//! The text of the generated program: C files, Makefile.in and the script `configure`.

use std::fmt::Write;
use std::path::PathBuf;

use super::plan::{Function, Header, Plan, Size, TABLE, UNITS_EACH, Unit};

/// The program's name.
pub(super) const PROGRAM: &str = "demo";
/// The program's name with its version, under which it is installed.
pub(super) const PROGRAM_VERSIONED: &str = "demo-1.0";
const CONFIGURE: &str = include_str!("configure.sh");
/// System headers that units include if `configure` found them.
const SYSTEM: [&str; 8] = [
    "STDIO", "STRING", "STDLIB", "ERRNO", "LIMITS", "CTYPE", "STDINT", "TIME",
];

/// A file of the tree.
pub(super) struct SourceFile {
    /// Below the tree's root.
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// All files of the program of `seed`, directory by directory.
pub(super) fn files(seed: u64, size: Size) -> Vec<SourceFile> {
    let plan = Plan::draw(seed, size);
    let mut files = vec![
        file("configure", CONFIGURE.to_owned()),
        file("Makefile.in", makefile(&plan)),
        file("README", readme(size)),
    ];
    for (number, header) in plan.headers.iter().enumerate() {
        let path = format!("include/h{number:03}.h");
        files.push(file(path, header_text(number, header)));
    }
    files.push(file("include/units.h", prototypes(&plan)));
    for (number, unit) in plan.units.iter().enumerate() {
        let path = format!("{}.c", unit_stem(number));
        files.push(file(path, unit_text(number, unit)));
    }
    files.push(file("main.c", main_text(&plan)));
    files
}

/// The output of the program.
pub(super) fn expected_output(seed: u64, size: Size) -> String {
    let value = Plan::draw(seed, size).value();
    format!(
        "{PROGRAM_VERSIONED}: {} units, value {value:08x}\n",
        size.units
    )
}

fn file(path: impl Into<PathBuf>, text: String) -> SourceFile {
    SourceFile {
        path: path.into(),
        text,
    }
}

/// `d03/u091`.
fn unit_stem(number: usize) -> String {
    format!("d{:02}/u{number:04}", number / UNITS_EACH)
}

fn readme(size: Size) -> String {
    format!(
        "A program of {} translation units and {} headers that was made to be compiled.\n\
         What it prints is known from the number that it was made of.\n\n\
         sh configure && make && make install\n",
        size.units + 1,
        size.headers
    )
}

fn header_text(number: usize, header: &Header) -> String {
    let mut text = format!("#ifndef H{number:03}_H\n#define H{number:03}_H\n\n");
    for earlier in &header.includes {
        add(&mut text, format_args!("#include \"h{earlier:03}.h\"\n"));
    }
    let Header {
        salt,
        factor,
        shift,
        ..
    } = header;
    add(
        &mut text,
        format_args!(
            "\n#define H{number:03}_SALT 0x{salt:08x}u\n\n\
             /* Mixes a word with what is this header's own. */\n\
             static inline unsigned h{number:03}_mix(unsigned x)\n{{\n    \
             x = (x ^ H{number:03}_SALT) * 0x{factor:08x}u;\n    return x ^ (x >> {shift});\n}}\n\n\
             struct h{number:03}_record {{\n    unsigned key;\n    unsigned values[4];\n    \
             const char *name;\n    struct h{number:03}_record *next;\n}};\n\n"
        ),
    );
    for line in 0..header.declarations {
        add(
            &mut text,
            format_args!(
                "extern int h{number:03}_call_{line:02}(struct h{number:03}_record *record, \
                 unsigned key, const char *name);\n"
            ),
        );
    }
    text.push_str("\n#endif\n");
    text
}

fn prototypes(plan: &Plan) -> String {
    let mut text = "#ifndef UNITS_H\n#define UNITS_H\n\n".to_owned();
    for number in 0..plan.units.len() {
        add(
            &mut text,
            format_args!("unsigned u{number:04}_value(unsigned x);\n"),
        );
    }
    text.push_str("\n#endif\n");
    text
}

fn unit_text(number: usize, unit: &Unit) -> String {
    let mut text = "#include \"config.h\"\n".to_owned();
    for at in 0..3 {
        let name = SYSTEM[(number + at * 3) % SYSTEM.len()];
        let header = name.to_ascii_lowercase();
        add(
            &mut text,
            format_args!("#ifdef HAVE_{name}_H\n#include <{header}.h>\n#endif\n"),
        );
    }
    for header in &unit.includes {
        add(&mut text, format_args!("#include \"h{header:03}.h\"\n"));
    }
    text.push_str("#include \"units.h\"\n\nstatic const unsigned table[] = {\n");
    for words in unit.table.chunks(4) {
        let words: Vec<_> = words.iter().map(|word| format!("0x{word:08x}u")).collect();
        add(&mut text, format_args!("    {},\n", words.join(", ")));
    }
    text.push_str("};\n");
    for (at, function) in unit.functions.iter().enumerate() {
        function_text(&mut text, at, function);
    }
    add(
        &mut text,
        format_args!("\nunsigned u{number:04}_value(unsigned x)\n{{\n"),
    );
    for at in 0..unit.functions.len() {
        add(&mut text, format_args!("    x = step_{at:02}(x);\n"));
    }
    text.push_str("    return x;\n}\n");
    text
}

fn function_text(text: &mut String, at: usize, function: &Function) {
    let Function {
        rounds,
        factor,
        shift,
        mask,
        addend,
        header,
    } = function;
    let table_shift = 32 - TABLE.ilog2();
    add(
        text,
        format_args!(
            "\n/* Step {at} of this unit: {rounds} rounds over the table; where the bit 0x{mask:x} \
             is set,\n * the word is mixed, and otherwise 0x{addend:x} is added to it. */\n\
             static unsigned step_{at:02}(unsigned x)\n{{\n    unsigned round;\n\n    \
             for (round = 0; round < {rounds}; round++) {{\n        \
             x = x * 0x{factor:08x}u + table[x >> {table_shift}];\n        \
             x ^= x >> {shift};\n        if (x & 0x{mask:08x}u)\n            \
             x = h{header:03}_mix(x);\n        else\n            x += 0x{addend:08x}u;\n    \
             }}\n    return x;\n}}\n"
        ),
    );
}

fn main_text(plan: &Plan) -> String {
    let mut text = "#include \"config.h\"\n#include <stdio.h>\n#include \"units.h\"\n\n\
                    int main(void)\n{\n    unsigned x = 1;\n\n"
        .to_owned();
    for number in 0..plan.units.len() {
        add(&mut text, format_args!("    x = u{number:04}_value(x);\n"));
    }
    let units = plan.units.len();
    add(
        &mut text,
        format_args!(
            "    printf(\"{PROGRAM_VERSIONED}: {units} units, value %08x\\n\", x);\n    \
             return 0;\n}}\n"
        ),
    );
    text
}

/// The Makefile, with placeholders for `configure`. Its commands avoid the shell where possible.
fn makefile(plan: &Plan) -> String {
    let mut text = format!(
        "CC = @CC@\nCFLAGS = @CFLAGS@\nAR = @AR@\nARFLAGS = @ARFLAGS@\nLN_S = @LN_S@\n\
         CHMOD = @CHMOD@\nprefix = @prefix@\n\n.SUFFIXES:\n.SUFFIXES: .c .o\n\nall: {PROGRAM}\n\n\
         .c.o:\n\t$(CC) $(CFLAGS) -I. -Iinclude -c $< -o $@\n\n"
    );
    let archives = archives(plan);
    for (directory, units) in &archives {
        let objects: Vec<_> = units
            .iter()
            .map(|unit| format!("{}.o", unit_stem(*unit)))
            .collect();
        add(
            &mut text,
            format_args!(
                "{directory}.a: {}\n\t$(AR) $(ARFLAGS) $@ {}\n\n",
                objects.join(" "),
                objects.join(" ")
            ),
        );
    }
    let names: Vec<_> = archives
        .iter()
        .map(|(name, _)| format!("{name}.a"))
        .collect();
    let names = names.join(" ");
    add(
        &mut text,
        format_args!(
            "{PROGRAM}: main.o {names}\n\t$(CC) $(CFLAGS) -o $@ main.o {names}\n\n\
             main.o: main.c config.h include/units.h\n"
        ),
    );
    for (number, unit) in plan.units.iter().enumerate() {
        let stem = unit_stem(number);
        add(
            &mut text,
            format_args!("{stem}.o: {stem}.c config.h include/units.h"),
        );
        for header in plan.headers_of(unit) {
            add(&mut text, format_args!(" include/h{header:03}.h"));
        }
        text.push('\n');
    }
    text.push_str(&closing_rules(&names, &archives));
    text
}

fn closing_rules(names: &str, archives: &[(String, Vec<usize>)]) -> String {
    let objects: Vec<_> = archives
        .iter()
        .map(|(directory, _)| format!("{directory}/*.o"))
        .collect();
    format!(
        "\ninstall: all\n\
         \tmkdir -p $(DESTDIR)$(prefix)/bin $(DESTDIR)$(prefix)/lib $(DESTDIR)$(prefix)/include\n\
         \tcp {PROGRAM} $(DESTDIR)$(prefix)/bin/{PROGRAM_VERSIONED}\n\
         \t$(CHMOD) 755 $(DESTDIR)$(prefix)/bin/{PROGRAM_VERSIONED}\n\
         \trm -f $(DESTDIR)$(prefix)/bin/{PROGRAM}\n\
         \tcd $(DESTDIR)$(prefix)/bin && $(LN_S) {PROGRAM_VERSIONED} {PROGRAM}\n\
         \tcp {names} $(DESTDIR)$(prefix)/lib\n\
         \t$(CHMOD) 644 $(DESTDIR)$(prefix)/lib/*\n\
         \tcp config.h include/*.h $(DESTDIR)$(prefix)/include\n\
         \t$(CHMOD) 644 $(DESTDIR)$(prefix)/include/*\n\n\
         clean:\n\trm -f {} {names} main.o {PROGRAM}\n\n.PHONY: all install clean\n",
        objects.join(" ")
    )
}

/// The directories, each with its units.
fn archives(plan: &Plan) -> Vec<(String, Vec<usize>)> {
    let numbers: Vec<_> = (0..plan.units.len()).collect();
    let directories = numbers.chunks(UNITS_EACH).enumerate();
    directories
        .map(|(at, units)| (format!("d{at:02}"), units.to_vec()))
        .collect()
}

fn add(text: &mut String, arguments: std::fmt::Arguments) {
    text.write_fmt(arguments)
        .expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SIZE: Size = Size {
        units: 60,
        headers: 30,
        functions: 6,
    };

    #[test]
    fn the_tree_follows_from_the_seed_and_names_differ_without_regard_to_case() {
        let tree = files(3, SIZE);
        let again = files(3, SIZE);
        for (one, other) in tree.iter().zip(&again) {
            assert_eq!((&one.path, &one.text), (&other.path, &other.text));
        }
        let names: BTreeSet<_> = tree
            .iter()
            .map(|file| file.path.to_string_lossy().to_lowercase())
            .collect();
        assert_eq!(names.len(), tree.len());
        assert_eq!(tree.len(), 60 + 30 + 5);
        let other = files(4, SIZE);
        assert!(tree.iter().zip(&other).any(|(a, b)| a.text != b.text));
    }

    #[test]
    fn names_are_short_enough_for_every_file_system() {
        for file in files(3, SIZE) {
            let name = file.path.file_name().expect("a file has a name");
            assert!(name.len() <= 14, "{}", file.path.display());
        }
    }

    #[test]
    fn a_file_has_a_few_kilobytes_and_short_lines() {
        for file in files(3, SIZE) {
            if file.path.starts_with("d01") {
                let length = file.text.len();
                assert!((2_000..16_000).contains(&length), "{length}");
                assert!(file.text.lines().all(|line| line.len() <= 100));
            }
        }
    }
}
