//! The list of checks, and what becomes of their findings.

use std::path::Path;
use std::process::ExitCode;

use super::finding::Finding;
use super::tree::Tree;
use super::{banned, dead_files, headers, layers, links, ownership, public_names, sizes, writes};

/// Runs every check over the workspace in `root`; prints the findings in the order of the files.
pub(crate) fn run(root: &Path) -> ExitCode {
    match findings(root) {
        Err(why) => {
            eprintln!("tidy: {why}");
            ExitCode::FAILURE
        }
        Ok(findings) if findings.is_empty() => {
            println!("tidy: no findings");
            ExitCode::SUCCESS
        }
        Ok(findings) => {
            for finding in &findings {
                println!("{finding}");
            }
            println!("tidy: {} findings", findings.len());
            ExitCode::FAILURE
        }
    }
}

fn findings(root: &Path) -> Result<Vec<Finding>, String> {
    let tree = Tree::of_checkout(root)?;
    let workspace = layers::Workspace::read(root)?;
    let mut findings = layers::check(&tree, &workspace);
    findings.extend(sizes::check(&tree));
    findings.extend(headers::check(&tree));
    findings.extend(ownership::check(&tree));
    findings.extend(public_names::check(&tree));
    findings.extend(banned::check(&tree));
    findings.extend(writes::check(&tree));
    findings.extend(links::check(&tree));
    findings.extend(dead_files::check(&tree, &workspace.roots));
    findings.sort();
    Ok(findings)
}
