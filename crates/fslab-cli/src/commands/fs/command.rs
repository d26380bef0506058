//! `fslab fs`: the catalogue of file systems, and which work on this machine.

use std::collections::BTreeSet;
use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_fs::{Details, FactsTable, Host, KernelBug, NetworkDetails, Obstacle, Probe, VenueProbe};
use fslab_model::{Bytes, Protocol, Reservation, VenueKind};
use fslab_report::{Column, Table, TableCell, Tone};

use super::facts::FactsArgs;
use crate::commands::measure::guest_lab;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};

/// Arguments of `fslab fs`.
#[derive(Debug, Args)]
pub(crate) struct FsArgs {
    #[command(subcommand)]
    command: FsCommand,
}

#[derive(Debug, Subcommand)]
enum FsCommand {
    /// List the supported file systems
    List {
        /// Probe which file systems work on this machine, and what the others need
        #[arg(long)]
        probe: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one file system or protocol (nfs, smb, 9p): history, commands, features, limits
    Show {
        /// Name of the file system or protocol
        name: String,
        /// Show what it does under this kernel: a version or a lab
        #[arg(long, value_name = "VERSION|LAB")]
        kernel: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what file systems do, as measured: names, times, calls, what each sync sends
    Facts(FactsArgs),
}

impl FsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            FsCommand::List { probe: false, json } => list(*json)?,
            FsCommand::List { probe: true, json } => list_probed(*json)?,
            FsCommand::Show { name, kernel, json } => show(name, kernel.as_deref(), *json)?,
            FsCommand::Facts(facts) => return facts.exec(),
        }
        Ok(Exit::Done)
    }
}

fn list(json: bool) -> Result<(), CommandError> {
    if json {
        let all: Vec<_> = fslab_fs::all()
            .iter()
            .map(|entry| entry.details())
            .collect();
        return screen::print_json(&all);
    }
    let rows = fslab_fs::all().iter().map(|entry| {
        let tools: Vec<_> = entry.tools().iter().map(|tool| tool.program).collect();
        vec![
            TableCell::new(entry.name),
            TableCell::new(entry.title),
            TableCell::new(entry.class.to_string()),
            TableCell::new(tools.join(", ")),
        ]
    });
    let table = Table {
        caption: "Supported file systems".into(),
        columns: ["Name", "Title", "Class", "Tools"].map(Column::left).into(),
        rows: rows.collect(),
        notes: vec![
            "`fslab fs list --probe` shows which work on this machine.".into(),
            "`nfs:NAME`, `smb:NAME` and `9p:NAME` are file systems served over a network protocol, \
             in a guest; see `fslab fs show nfs`."
                .into(),
        ],
    };
    screen::print_styled(&table::render(&table))
}

fn list_probed(json: bool) -> Result<(), CommandError> {
    let mut host = Host::gather()?;
    let lab = guest_lab::find(None).ok();
    host.guest = lab.as_ref().and_then(guest_lab::guest_kernel);
    let probes: Vec<_> = fslab_fs::all()
        .iter()
        .map(|entry| fslab_fs::probe(entry, &host))
        .collect();
    if json {
        return screen::print_json(&probes);
    }
    screen::print_styled(&table::render(&probe_table(&probes)))
}

/// The table of probes: obstacles in a few words, and notes on how to remove them.
fn probe_table(probes: &[Probe]) -> Table {
    const VENUES: [VenueKind; 4] = [
        VenueKind::Guest,
        VenueKind::Loop,
        VenueKind::Block,
        VenueKind::Dir,
    ];
    let mut columns = vec![Column::left("Name")];
    columns.extend(VENUES.map(|venue| Column::left(venue.as_str())));
    let rows = probes.iter().map(|probe| {
        let mut row = vec![TableCell::new(&probe.name)];
        let found = |kind| probe.venues.iter().find(|venue| venue.venue == kind);
        row.extend(VENUES.map(|kind| found(kind).map_or_else(TableCell::default, venue_cell)));
        row
    });
    Table {
        caption: "File systems that work on this machine".into(),
        columns,
        rows: rows.collect(),
        notes: probe_notes(probes),
    }
}

fn venue_cell(venue: &VenueProbe) -> TableCell {
    if venue.works {
        return TableCell::new("works").tone(Tone::Strong);
    }
    let mut words: Vec<_> = venue.obstacles.iter().map(obstacle_word).collect();
    words.dedup();
    TableCell::new(words.join(", ")).tone(Tone::Weak)
}

fn obstacle_word(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::MissingTool { program, .. } => format!("missing tool {program}"),
        Obstacle::NotInLab { program, .. } => format!("{program} not in the lab"),
        Obstacle::MissingDriver { .. } => "missing driver".to_owned(),
        Obstacle::MissingPrivilege { .. } => "needs root".to_owned(),
        Obstacle::NoLoopDevices { .. } => "no loop devices".to_owned(),
        Obstacle::NotMounted { .. } => "none mounted".to_owned(),
        Obstacle::DaemonRuns { program, .. } => format!("{program} runs"),
        Obstacle::NoGuestKernel { .. } => "no lab".to_owned(),
        Obstacle::NoDriverAnywhere { .. } => "no driver exists".to_owned(),
    }
}

/// How to install what is missing.
fn probe_notes(probes: &[Probe]) -> Vec<String> {
    let obstacles = || {
        let venues = probes.iter().flat_map(|probe| &probe.venues);
        venues.flat_map(|venue| &venue.obstacles)
    };
    let packages: BTreeSet<_> = obstacles()
        .filter_map(|obstacle| match obstacle {
            Obstacle::MissingTool { package, .. } => Some(package.as_str()),
            _ => None,
        })
        .collect();
    let has = |wanted: fn(&Obstacle) -> bool| obstacles().any(wanted);
    let mut notes = Vec::new();
    if !packages.is_empty() {
        let packages: Vec<_> = packages.into_iter().collect();
        notes.push(format!(
            "missing tool: apt-get install {}",
            packages.join(" ")
        ));
    }
    if has(|obstacle| matches!(obstacle, Obstacle::NotInLab { .. })) {
        let text =
            "not in the lab: install it on this machine, then run `fslab lab build --new-root`";
        notes.push(text.to_owned());
    }
    if has(|obstacle| matches!(obstacle, Obstacle::NoGuestKernel { .. })) {
        notes.push("no lab: run `fslab lab build`, which builds one with every driver".to_owned());
    }
    if has(|obstacle| matches!(obstacle, Obstacle::MissingDriver { .. })) {
        notes.push("missing driver: use the venue guest, which has every driver".to_owned());
    }
    if has(|obstacle| matches!(obstacle, Obstacle::MissingPrivilege { .. })) {
        notes
            .push("needs root: the venues loop and block need it, guest and dir do not".to_owned());
    }
    if has(|obstacle| matches!(obstacle, Obstacle::NotMounted { .. })) {
        notes.push("none mounted: mount one, and pass a directory in it with --dir".to_owned());
    }
    notes.extend(probes.iter().filter_map(why_nowhere));
    notes.push("`--json` prints every obstacle with its hint.".to_owned());
    notes
}

fn why_nowhere(probe: &Probe) -> Option<String> {
    let obstacles = probe.venues.iter().flat_map(|venue| &venue.obstacles);
    let reason = obstacles.into_iter().find_map(|obstacle| match obstacle {
        Obstacle::NoDriverAnywhere { reason } => Some(reason),
        _ => None,
    });
    reason.map(|reason| format!("{}: {reason}", probe.name))
}

fn show(name: &str, kernel: Option<&str>, json: bool) -> Result<(), CommandError> {
    if let Some(protocol) = Protocol::of(name) {
        return show_network(&fslab_fs::network_file_system(protocol).details(), json);
    }
    let entry = fslab_fs::find(name)?;
    let table = match kernel {
        None => FactsTable::measured(),
        Some(kernel) => facts_under(kernel)?,
    };
    let details = entry.details_under(table);
    if json {
        return screen::print_json(&details);
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_entry(&mut text, details, table);
    if kernel.is_some()
        && let Some(why) = entry.driver.why_lacking(&table.kernel)
    {
        text.push_str(&format!("\nnot under Linux {}: {why}\n", table.kernel));
    }
    screen::print(&text)
}

/// The facts under a kernel: that of a lab, or of a version.
pub(super) fn facts_under(kernel: &str) -> Result<&'static FactsTable, CommandError> {
    let lab = guest_lab::find(Some(kernel)).ok();
    let release = lab.map_or_else(|| kernel.to_owned(), |lab| lab.kernel.facts.release);
    Ok(FactsTable::of_kernel(&release)?)
}

fn show_network(details: &NetworkDetails, json: bool) -> Result<(), CommandError> {
    if json {
        return screen::print_json(details);
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_network(&mut text, details);
    screen::print(&text)
}

fn write_network(text: &mut String, details: &NetworkDetails) -> std::fmt::Result {
    let name = details.name;
    writeln!(text, "{} (network)\n\n{}\n", details.title, details.history)?;
    writeln!(text, "subject  {name}:ext4, {name}:xfs:client=OPTIONS")?;
    writeln!(text, "server   {}", details.server)?;
    if !details.export.is_empty() {
        writeln!(text, "export   {}", details.export.join(","))?;
    }
    writeln!(text, "mount    {}", details.mount.join(" "))?;
    writeln!(text, "client=  {}", details.client_keys.join(", "))?;
    if !details.export_words.is_empty() {
        writeln!(text, "export=  {}", details.export_words.join(", "))?;
    }
    writeln!(
        text,
        "needs    {}: fslab lab build --network",
        details.kernel_config
    )?;
    for (program, package) in &details.programs {
        writeln!(text, "needs    {program} (package {package})")?;
    }
    for fact in details.facts {
        writeln!(text, "\n{}: {}", fact.title, fact.text)?;
    }
    Ok(())
}

fn write_entry(text: &mut String, details: Details, table: &FactsTable) -> std::fmt::Result {
    writeln!(text, "{} ({})", details.title, details.class)?;
    writeln!(text, "\n{}\n", details.history)?;
    if let Some(reason) = details.unavailable {
        writeln!(text, "cannot be used: {reason}")?;
    }
    let commands = [
        ("mkfs", details.mkfs),
        ("mount", details.mount),
        ("check", details.check),
    ];
    for (label, command) in commands {
        if let Some(command) = command {
            writeln!(text, "{label:<8} {}", command.join(" "))?;
        }
    }
    for set in details.mkfs_defaults {
        let options = set
            .options
            .iter()
            .map(|it| format!("{} {}", it.option, it.value));
        let options: Vec<String> = options.collect();
        writeln!(
            text,
            "@{:<7} {} [{}]",
            set.since,
            options.join(" "),
            set.source
        )?;
    }
    writeln!(text, "at least {}", details.minimum_bytes)?;
    for tool in details.tools {
        writeln!(text, "needs    {} (package {})", tool.program, tool.package)?;
    }
    for reservation in &details.reservations {
        write_reservation(text, reservation)?;
    }
    for deviation in details.deviations {
        writeln!(text, "note     {deviation}")?;
    }
    for bug in details.bugs {
        write_bug(text, bug)?;
    }
    writeln!(text, "\nfeatures and limits")?;
    let capabilities = serde_json::to_value(details.capabilities).unwrap_or_default();
    for (name, value) in capabilities.as_object().into_iter().flatten() {
        let label = name.replace('_', " ");
        match value
            .as_u64()
            .filter(|_| name != "name_bytes_max" && name.ends_with("bytes_max"))
        {
            Some(bytes) => writeln!(text, "  {label:<24} {}", Bytes(bytes))?,
            None => writeln!(text, "  {label:<24} {value}")?,
        }
    }
    write_facts(text, details.name, table)
}

fn write_facts(text: &mut String, name: &str, table: &FactsTable) -> std::fmt::Result {
    let facts = table.of(name);
    if facts.is_empty() {
        return Ok(());
    }
    let (kernel, size) = (&table.kernel, Bytes(table.size));
    writeln!(text, "\nmeasured under Linux {kernel}, on {size}")?;
    for (fact, value) in facts {
        writeln!(text, "  {:<42} {value}", fact.about)?;
    }
    Ok(())
}

fn write_reservation(text: &mut String, reservation: &Reservation) -> std::fmt::Result {
    let kind = reservation.kind.as_str();
    match &reservation.source {
        Some(source) => writeln!(text, "{kind}: {} [{source}]", reservation.text),
        None => writeln!(text, "{kind}: {}", reservation.text),
    }
}

fn write_bug(text: &mut String, bug: &KernelBug) -> std::fmt::Result {
    write!(text, "bug      {}: {}", bug.kernel, bug.effect)?;
    if !bug.message.is_empty() {
        write!(text, " The kernel says: {}.", bug.message)?;
    }
    match bug.avoided_by {
        Some(how) => writeln!(text, " Avoided: {how}."),
        None => writeln!(text, " Not avoided."),
    }
}
