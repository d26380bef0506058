//! `fslab man`: the manual, a page for each command, from clap's tree of commands.

use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use crate::Cli;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::settings::VARIABLES;
use crate::terminal::output_file::OutputDirectory;
use crate::terminal::screen;

/// Arguments of `fslab man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory for the pages: fslab.1, fslab-compare.1, ...
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// A page, and the name of its file.
pub(crate) struct Page {
    pub(crate) file: String,
    pub(crate) roff: Vec<u8>,
}

impl ManArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let pages = pages()?;
        let folder = OutputDirectory::create(&self.out)?;
        for page in &pages {
            folder.write(&page.file, &page.roff)?;
        }
        let count = screen::counted(pages.len(), "page");
        screen::notice(&format!("{count} in {}", self.out.display()));
        Ok(Exit::Done)
    }
}

/// The page of every command that is not hidden.
pub(crate) fn pages() -> Result<Vec<Page>, CommandError> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add(&root, "fslab", &mut pages)
        .map_err(|error| CommandError::io("cannot write the manual", &error))?;
    Ok(pages)
}

fn add(command: &Command, name: &str, pages: &mut Vec<Page>) -> std::io::Result<()> {
    // The name of a page is one word, `fslab-lab-build`; its synopsis is typed with spaces.
    let page = Man::new(
        command
            .clone()
            .name(name.to_owned())
            .display_name(name.to_owned()),
    );
    let mut roff = Vec::new();
    page.render_title(&mut roff)?;
    page.render_name_section(&mut roff)?;
    page.render_synopsis_section(&mut roff)?;
    page.render_description_section(&mut roff)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        page.render_options_section(&mut roff)?;
    }
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        page.render_subcommands_section(&mut roff)?;
    }
    if name == "fslab" {
        roff.extend(further_sections().into_bytes());
    } else {
        roff.extend(b".SH \"SEE ALSO\"\n\\fBfslab\\fR(1)\n");
    }
    pages.push(Page {
        file: format!("{name}.1"),
        roff,
    });
    for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        add(below, &format!("{name}-{}", below.get_name()), pages)?;
    }
    Ok(())
}

/// Exit codes, environment and files: the same for all commands.
fn further_sections() -> String {
    let mut text = ".SH \"EXIT STATUS\"\n".to_owned();
    for (code, meaning) in crate::exit::MEANINGS {
        text += &format!(".TP\n\\fB{}\\fR\n{}\n", code as u8, escaped(meaning));
    }
    text += ".SH ENVIRONMENT\n";
    for (name, meaning) in VARIABLES {
        text += &format!(".TP\n\\fB{}\\fR\n{}\n", escaped(name), escaped(meaning));
    }
    text += ".SH FILES\n";
    for (path, meaning) in [
        ("$XDG_CONFIG_HOME/fslab/config.toml", "Defaults of options."),
        ("$XDG_DATA_HOME/fslab/fslab.db", "The store of runs."),
        ("$XDG_STATE_HOME/fslab", "Leases and locks."),
        ("$XDG_CACHE_HOME/fslab", "Labs and layers of guests."),
    ] {
        text += &format!(".TP\n{}\n{}\n", escaped(path), escaped(meaning));
    }
    text
}

/// A text without what roff would interpret: backslashes, hyphens, and control lines.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

/// The names of the pages in a directory, for tests.
#[cfg(test)]
fn names(pages: &[Page]) -> Vec<&str> {
    pages.iter().map(|page| page.file.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_not_hidden_has_a_page() {
        let pages = pages().expect("pages");
        let names = names(&pages);
        for name in [
            "fslab.1",
            "fslab-compare.1",
            "fslab-lab-build.1",
            "fslab-trial.1",
        ] {
            assert!(names.contains(&name), "{name} is not in {names:?}");
        }
        assert!(!names.iter().any(|name| name.contains("worker")));
        assert!(!names.iter().any(|name| name.contains("help")));
    }

    #[test]
    fn the_first_page_has_exit_codes_and_variables() {
        let pages = pages().expect("pages");
        let text = String::from_utf8(pages[0].roff.clone()).expect("text");
        assert!(
            text.contains(".SH \"EXIT STATUS\"") && text.contains("NO_COLOR"),
            "{text}"
        );
        assert!(text.contains("SOURCE_DATE_EPOCH"), "{text}");
        assert_eq!(escaped(".x-y\\"), "\\&.x\\-y\\\\");
    }
}
