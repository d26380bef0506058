//! Network file systems: what a server in the guest serves over a protocol, and its kernel mounts
//! again.
//!
//! ```text
//!     the local file system, at MOUNTPOINT-served
//!       --> serve    the kernel's server or a program, on the loopback interface
//!       --> mount    the kernel's client, at MOUNTPOINT: here the workload runs
//! ```

use fslab_model::{Capabilities, Network, Protocol, Subject};
use schemars::JsonSchema;
use serde::Serialize;

use crate::file_system::MOUNT_POINT_WORD;
use crate::mkfs::RefusedWord;
use crate::mount_call::check_option;
use crate::nfs::NFS;
use crate::nine_p::NINE_P;
use crate::option_rule::KeyRule;
use crate::probe::not_in_lab;
use crate::smb::SMB;
use crate::{
    CommandLine, GuestKernel, KernelConfig, MountCall, MountPlace, Mounting, Obstacle, Tool,
};

/// What is appended to a mount point for that of the local file system.
const SERVED: &str = "-served";

/// In a client's options the word for the directory that is served.
const SERVED_WORD: &str = "SERVED";

/// What makes a lab that can serve and mount.
const LAB_HINT: &str = "build the lab 'network', which has it, with fslab lab build --network; for \
                        a PC's kernel, fslab lab build --kernel debian:6.1 --network";

/// What the catalogue knows about a protocol.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFileSystem {
    pub protocol: Protocol,
    /// Its name in prose.
    pub title: &'static str,
    /// Its history, in two sentences.
    pub history: &'static str,
    /// The kernel configuration that has the client, and the server if it is the kernel's.
    pub config: KernelConfig,
    /// The programs of the server.
    pub tools: &'static [Tool],
    /// What serves, in prose.
    pub server: &'static str,
    /// How to start it.
    pub serve: fn(&Served<'_>) -> NetworkServer,
    /// The equivalent command that ends it.
    pub stop: &'static [&'static str],
    /// The type to mount by.
    pub fs_type: &'static str,
    /// What the client mounts: the server's address and the name of what it exports.
    pub source: &'static str,
    /// Options of every mount, before the user's.
    pub client: &'static [&'static str],
    /// Options with a value that a subject may set.
    pub client_keys: &'static [KeyRule],
    /// Options of every export, in the server's words, before the user's.
    pub export: &'static [&'static str],
    /// Options that a subject may give to the export, of which one counts: the first by default.
    pub export_words: &'static [&'static str],
    /// A hint where the server knows nothing by the name in `source`, or seems to (ENOENT).
    pub not_found: Option<&'static str>,
    /// What is left of a file system's capabilities over the protocol, by the client's options.
    pub limit: fn(&mut Capabilities, &Network),
    /// What a figure of it depends on, each with a title.
    pub facts: &'static [NetworkFact],
}

/// The configuration of a server.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// The directory that it serves.
    pub folder: &'a str,
    /// The options of the export.
    pub export: &'a [&'static str],
}

impl Served<'_> {
    /// Whether the export has this option.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.export.contains(&word)
    }
}

/// How a server is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkServer {
    /// The kernel's server of NFS, through its files below /proc.
    Nfs {
        /// Whether it answers before its file system has written what it changed.
        is_async: bool,
        threads: u32,
        /// The largest request that it takes.
        request_bytes: u32,
    },
    /// A program that serves, or that configures the kernel's server.
    Program(Box<ServerProgram>),
}

/// A server's program, which stays in the foreground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProgram {
    /// The command.
    pub line: CommandLine,
    /// Its configuration: files to write before, path and text.
    pub files: Vec<(&'static str, String)>,
    /// The port at which it, or the kernel for it, answers once it is ready.
    pub port: u16,
    /// What ends the kernel's part before the program is ended: a file, and what to write there.
    pub kernel_stop: Option<(&'static str, &'static str)>,
}

/// A protocol as data, as `fslab fs show` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NetworkDetails {
    /// The word before the file system that it serves.
    pub name: &'static str,
    /// Its name in prose.
    pub title: &'static str,
    /// Its history.
    pub history: &'static str,
    /// The kernel configuration that has client and server.
    pub kernel_config: String,
    /// The programs of the server, each with its Debian package.
    pub programs: Vec<(&'static str, &'static str)>,
    /// What serves.
    pub server: &'static str,
    /// The options of every export.
    pub export: Vec<&'static str>,
    /// The client's mount command, with the word `MOUNTPOINT`.
    pub mount: Vec<String>,
    /// The options with a value that a subject may set, and those that it may give to the export.
    pub client_keys: Vec<&'static str>,
    /// The options that a subject may give to the export.
    pub export_words: &'static [&'static str],
    /// What a figure of it depends on.
    pub facts: &'static [NetworkFact],
}

impl NetworkFileSystem {
    /// The entry in full.
    pub fn details(&self) -> NetworkDetails {
        NetworkDetails {
            name: self.protocol.as_str(),
            title: self.title,
            history: self.history,
            kernel_config: self.config.to_string(),
            programs: self
                .tools
                .iter()
                .map(|it| (it.program, it.package))
                .collect(),
            server: self.server,
            export: self.exported(None),
            mount: self.mount_words(&self.client.join(","), MOUNT_POINT_WORD),
            client_keys: self.client_keys.iter().map(|it| it.key).collect(),
            export_words: self.export_words,
            facts: self.facts,
        }
    }

    /// The options of an export; `asked` is that of the subject.
    fn exported(&self, asked: Option<&'static str>) -> Vec<&'static str> {
        let chosen = asked.or(self.export_words.first().copied());
        self.export.iter().copied().chain(chosen).collect()
    }

    fn mount_words(&self, options: &str, mount_point: &str) -> Vec<String> {
        let place = [self.source, mount_point];
        ["mount", "-t", self.fs_type, "-o", options]
            .into_iter()
            .chain(place)
            .map(str::to_owned)
            .collect()
    }

    /// The export option `word`, if a subject may give it.
    fn export_word(&self, word: &str) -> Result<&'static str, RefusedWord> {
        let found = self.export_words.iter().copied().find(|it| *it == word);
        found.ok_or_else(|| RefusedWord {
            word: word.to_owned(),
            reason: "it is not an option that a subject may give to an export".to_owned(),
            allowed: Some(match self.export_words {
                [] => format!("an export over {} takes no options", self.protocol),
                words => format!("use one of {}", words.join(", ")),
            }),
        })
    }
}

/// A property of a protocol that explains its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NetworkFact {
    /// Its subject, in a few words.
    pub title: &'static str,
    /// What holds: sentences.
    pub text: &'static str,
}

/// What makes a phase cold where client and server are of one kernel.
pub(crate) const COLD: NetworkFact = NetworkFact {
    title: "cold",
    text: "Client and server are unmounted and stopped, then all caches of the kernel are \
           dropped, which both use.",
};

/// A local file system that is served, and mounted over its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkMounting {
    /// Mounts the local file system.
    pub local: Mounting,
    /// Its mount point.
    pub served_at: String,
    pub protocol: Protocol,
    /// Serves it.
    pub server: NetworkServer,
    /// The equivalent command that ends the server.
    pub stop: &'static [&'static str],
    /// What the client mounts.
    pub source: &'static str,
    /// The client's arguments of mount(2).
    pub call: MountCall,
    /// The equivalent commands, joined by `&&`.
    pub(crate) command: Vec<String>,
}

/// What the catalogue knows about `protocol`.
pub fn network_file_system(protocol: Protocol) -> &'static NetworkFileSystem {
    match protocol {
        Protocol::Nfs => &NFS,
        Protocol::Smb => &SMB,
        Protocol::NineP => &NINE_P,
    }
}

/// The programs of the server of `subject`; none without a protocol.
pub fn network_tools(subject: &Subject) -> &'static [Tool] {
    let entry = subject.network().map(|it| network_file_system(it.protocol));
    entry.map_or(&[], |entry| entry.tools)
}

/// The mount point of the local file system; without a protocol, `mount_point` itself.
pub(crate) fn local_mount_point(mount_point: &str, subject: &Subject) -> String {
    match subject.network() {
        None => mount_point.to_owned(),
        Some(_) => format!("{mount_point}{SERVED}"),
    }
}

/// Mounts over `network` what `local` mounts at `served_at`.
pub(crate) fn over_network(
    network: &Network,
    local: Mounting,
    served_at: &str,
    place: &MountPlace<'_>,
) -> Result<NetworkMounting, (&'static str, RefusedWord)> {
    let entry = network_file_system(network.protocol);
    for option in &network.client {
        check_option(entry.client_keys, option).map_err(|refused| ("client", refused))?;
    }
    let mut asked = None;
    for word in &network.export {
        let word = entry
            .export_word(word)
            .map_err(|refused| ("export", refused))?;
        asked = Some(word);
    }
    let own = entry.client.iter();
    let own = own.map(|option| option.replace(SERVED_WORD, served_at));
    let client: Vec<String> = own.chain(network.client.iter().cloned()).collect();
    let export = entry.exported(asked);
    let served = Served {
        folder: served_at,
        export: &export,
    };
    let server = (entry.serve)(&served);
    let mut command = local.words();
    command.push("&&".to_owned());
    command.extend(server.words(&served));
    command.push("&&".to_owned());
    command.extend(entry.mount_words(&client.join(","), place.mount_point));
    Ok(NetworkMounting {
        local,
        served_at: served_at.to_owned(),
        protocol: network.protocol,
        server,
        stop: entry.stop,
        source: entry.source,
        call: MountCall::new(entry.fs_type, client.iter().map(String::as_str)),
        command,
    })
}

impl NetworkServer {
    /// The equivalent commands.
    fn words(&self, served: &Served<'_>) -> Vec<String> {
        let (threads, options) = match self {
            Self::Program(program) => return program.line.words(),
            Self::Nfs { threads, .. } => (threads.to_string(), served.export.join(",")),
        };
        let exported = format!("127.0.0.1:{}", served.folder);
        let words = [
            "rpc.nfsd", &threads, "&&", "exportfs", "-o", &options, &exported,
        ];
        words.map(str::to_owned).into()
    }
}

/// Why `guest` cannot serve and mount `subject` over its protocol; none if it can, or if the
/// subject has no protocol.
pub fn network_obstacles(subject: &Subject, guest: &GuestKernel) -> Vec<Obstacle> {
    let Some(network) = subject.network() else {
        return Vec::new();
    };
    let entry = network_file_system(network.protocol);
    let has_modules = guest
        .module_lists
        .as_ref()
        .is_none_or(|lists| lists.contains(network.protocol.as_str()));
    if !has_modules || !entry.config.is_met_by(&guest.config) {
        return vec![Obstacle::MissingDriver {
            kernel: format!("the guest kernel {}", guest.name),
            config: entry.config.to_string(),
            hint: LAB_HINT.to_owned(),
        }];
    }
    let missing = entry.tools.iter();
    missing
        .filter_map(|&tool| not_in_lab(guest, tool, "fslab lab build --network --new-root"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fslab_model::FailureKind;

    use super::*;
    use crate::{find, parse_subject, parse_subjects};

    fn mounting(text: &str) -> NetworkMounting {
        let subject = parse_subject(text).expect(text);
        let place = MountPlace {
            device: "/dev/simdisk",
            others: &[],
            mount_point: "/tmp/mnt",
            size: None,
        };
        let entry = find(subject.fs()).expect("an entry");
        match entry.mounting(&place, &subject).expect("mounts") {
            Some(Mounting::Network(network)) => *network,
            other => panic!("{other:?}"),
        }
    }

    fn is_async(network: &NetworkMounting) -> bool {
        matches!(network.server, NetworkServer::Nfs { is_async: true, .. })
    }

    fn program(network: &NetworkMounting) -> &ServerProgram {
        match &network.server {
            NetworkServer::Program(program) => program,
            NetworkServer::Nfs { .. } => panic!("{network:?}"),
        }
    }

    #[test]
    fn the_local_file_system_is_mounted_beside_the_place_of_the_workload() {
        let network = mounting("nfs:ext4:data=journal:client=actimeo=0,noatime");
        assert_eq!(network.served_at, "/tmp/mnt-served");
        assert_eq!(
            network.local.words(),
            [
                "mount",
                "-t",
                "ext4",
                "-o",
                "data=journal",
                "/dev/simdisk",
                "/tmp/mnt-served"
            ]
        );
        assert_eq!(network.call.fs_type, "nfs4");
        assert!(
            network.call.data.starts_with("vers=4.2,"),
            "{:?}",
            network.call
        );
        assert!(
            network.call.data.ends_with(",actimeo=0"),
            "{:?}",
            network.call
        );
        assert!(!is_async(&network));
        let command = network.command.join(" ");
        assert!(
            command.contains("/tmp/mnt-served && rpc.nfsd 8 && exportfs -o "),
            "{command}"
        );
        assert!(
            command.contains(",sync 127.0.0.1:/tmp/mnt-served && mount -t nfs4 "),
            "{command}"
        );
        assert!(command.ends_with(" 127.0.0.1:/ /tmp/mnt"), "{command}");
    }

    #[test]
    fn an_export_is_sync_unless_the_subject_says_async() {
        assert!(is_async(&mounting("nfs:xfs:export=async")));
        assert!(!is_async(&mounting("nfs:xfs:export=sync")));
        for (text, kind) in [
            ("nfs:xfs:export=insecure", "export"),
            ("nfs:xfs:client=addr=10.0.0.1", "client"),
            ("nfs:xfs:client=vers=3", "client"),
            ("9p:xfs:export=sync", "export"),
            ("9p:xfs:client=aname=/etc", "client"),
            ("9p:xfs:client=trans=fd", "client"),
            ("smb:xfs:client=ip=10.0.0.1", "client"),
            ("smb:xfs:export=sync", "export"),
        ] {
            let error = parse_subject(text).expect_err(text);
            let start = format!("cannot use the {kind} option '");
            assert!(error.message.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn a_subject_of_a_protocol_needs_one_of_the_catalogue_behind_it() {
        let texts = ["nfs:ext4,nfs:xfs", "ext4"];
        let subjects = parse_subjects(&texts).expect("three");
        let names: Vec<_> = subjects.iter().map(Subject::to_string).collect();
        assert_eq!(names, ["nfs:ext4", "nfs:xfs", "ext4"]);
        let unknown = parse_subject("nfs:etx4").expect_err("a slip");
        assert_eq!(unknown.hint.as_deref(), Some("did you mean 'ext4'?"));
        let alone = parse_subject("nfs").expect_err("serves nothing");
        assert!(alone.hint.is_some_and(|hint| hint.contains("nfs:ext4")));
        let fake = parse_subject("nfs:fake").expect_err("mounts nothing");
        assert_eq!(fake.kind, FailureKind::Unsupported, "{fake}");
    }

    #[test]
    fn a_kernel_needs_client_and_server() {
        let subject = parse_subject("nfs:ext4").expect("a subject");
        let guest =
            |config: &str| GuestKernel::new("mine".into(), "6.12".into(), config, BTreeSet::new());
        let all = configuration(&NFS, "y");
        assert_eq!(network_obstacles(&subject, &guest(&all)), []);
        let client = guest("CONFIG_NFS_V4=y\nCONFIG_NFS_V4_2=y\n");
        let obstacles = network_obstacles(&subject, &client);
        let [obstacle] = &obstacles[..] else {
            panic!("{obstacles:?}");
        };
        assert!(obstacle.to_string().contains("CONFIG_NFSD"), "{obstacle}");
        assert!(
            obstacle
                .hint()
                .is_some_and(|hint| hint.contains("lab build --network"))
        );
        assert_eq!(network_obstacles(&Subject::plain("ext4"), &client), []);
    }

    fn configuration(entry: &NetworkFileSystem, value: &str) -> String {
        let names = entry.config.0[0].iter();
        names.map(|name| format!("{name}={value}\n")).collect()
    }

    #[test]
    fn a_guest_needs_the_program_of_the_server() {
        for text in ["smb:ext4", "9p:ext4"] {
            let subject = parse_subject(text).expect("a subject");
            let [tool] = network_tools(&subject) else {
                panic!("{text}");
            };
            let entry = network_file_system(subject.network().expect("a protocol").protocol);
            let config = configuration(entry, "y");
            let guest = |programs: &[&str]| {
                let programs = programs.iter().map(|&it| it.to_owned()).collect();
                GuestKernel::new("mine".into(), "6.12".into(), &config, programs)
            };
            assert_eq!(network_obstacles(&subject, &guest(&[tool.program])), []);
            let obstacles = network_obstacles(&subject, &guest(&[]));
            let [Obstacle::NotInLab { hint, .. }] = &obstacles[..] else {
                panic!("{obstacles:?}");
            };
            assert!(hint.contains(tool.package), "{hint}");
            assert!(hint.contains("--network --new-root"), "{hint}");
        }
        assert!(network_tools(&Subject::plain("ext4")).is_empty());
    }

    /// A kernel of a distribution has all modules, and its lab only those that it was built with.
    #[test]
    fn a_guest_with_modules_needs_those_of_the_protocol() {
        let subject = parse_subject("nfs:ext4").expect("a subject");
        let config = configuration(&NFS, "m");
        let guest = |lists: &[&str]| {
            let lists = lists.iter().map(|&it| it.to_owned()).collect();
            GuestKernel::new("pc".into(), "6.1".into(), &config, BTreeSet::new())
                .with_modules(&config, lists)
        };
        assert_eq!(network_obstacles(&subject, &guest(&["ext4", "nfs"])), []);
        assert_eq!(network_obstacles(&subject, &guest(&["ext4"])).len(), 1);
    }

    #[test]
    fn a_program_serves_the_folder_of_the_local_file_system() {
        let nine_p = mounting("9p:ext4:client=cache=loose");
        let words = program(&nine_p).line.words().join(" ");
        assert!(words.ends_with("--export /tmp/mnt-served"), "{words}");
        let data = &nine_p.call.data;
        assert!(data.contains("aname=/tmp/mnt-served,"), "{data}");
        assert!(data.ends_with(",cache=none,cache=loose"), "{data}");
        let command = nine_p.command.join(" ");
        assert!(command.contains(" && diod --foreground "), "{command}");
        assert!(command.ends_with(" 127.0.0.1 /tmp/mnt"), "{command}");
        let smb = mounting("smb:xfs");
        let [(_, configuration), (_, users)] = &program(&smb).files[..] else {
            panic!("{smb:?}");
        };
        assert!(configuration.contains("path = /tmp/mnt-served\n"));
        assert!(configuration.contains("smb2 leases = yes\n"));
        assert!(users.starts_with("root:"), "{users}");
        let plain = mounting("smb:xfs:export=nooplocks");
        let configuration = &program(&plain).files[0].1;
        assert!(configuration.contains("smb2 leases = no\n"));
        assert!(configuration.contains("oplocks = no\n"));
    }
}
