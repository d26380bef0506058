//! Network file systems: what the kernel serves over a protocol, and mounts again itself.
//!
//! ```text
//!     the local file system, at MOUNTPOINT-served
//!       --> export   the kernel's server, on the loopback interface
//!       --> mount    the kernel's client, at MOUNTPOINT: here the workload runs
//! ```

use fslab_model::{Network, Protocol, Subject};
use schemars::JsonSchema;
use serde::Serialize;

use crate::file_system::MOUNT_POINT_WORD;
use crate::mkfs::RefusedWord;
use crate::mount_call::check_option;
use crate::nfs::NFS;
use crate::option_rule::KeyRule;
use crate::{GuestKernel, KernelConfig, MountCall, MountPlace, Mounting, Obstacle};

/// What is appended to a mount point for that of the local file system.
const SERVED: &str = "-served";

/// What the catalogue knows about a protocol.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFileSystem {
    /// The protocol.
    pub protocol: Protocol,
    /// Its name in prose.
    pub title: &'static str,
    /// Its history, in two sentences.
    pub history: &'static str,
    /// The kernel configuration that has client and server.
    pub config: KernelConfig,
    /// The type to mount by.
    pub fs_type: &'static str,
    /// What the client mounts: the server's address and the root of what it exports.
    pub source: &'static str,
    /// Options of every mount, before the user's.
    pub client: &'static [&'static str],
    /// Options with a value that a subject may set.
    pub client_keys: &'static [KeyRule],
    /// Options of every export, in the words of exports(5), before the user's.
    pub export: &'static [&'static str],
    /// Options that a subject may give to the export.
    pub export_words: &'static [&'static str],
    /// The server's threads.
    pub threads: u32,
    /// The largest request that the server takes.
    pub request_bytes: u32,
    /// What a figure of it depends on, each with a title.
    pub facts: &'static [NetworkFact],
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
    /// The options of every export.
    pub export: Vec<&'static str>,
    /// The client's mount command, with the word `MOUNTPOINT`.
    pub mount: Vec<String>,
    /// The server's threads.
    pub threads: u32,
    /// What a figure of it depends on.
    pub facts: &'static [NetworkFact],
}

impl NetworkFileSystem {
    /// The entry in full.
    #[must_use]
    pub fn details(&self) -> NetworkDetails {
        let options = self.client.join(",");
        let words = ["mount", "-t", self.fs_type, "-o", &options];
        let place = [self.source, MOUNT_POINT_WORD];
        NetworkDetails {
            name: self.protocol.as_str(),
            title: self.title,
            history: self.history,
            kernel_config: self.config.to_string(),
            export: self
                .export
                .iter()
                .chain(self.export_words.first())
                .copied()
                .collect(),
            mount: words
                .iter()
                .chain(&place)
                .map(|&word| word.to_owned())
                .collect(),
            threads: self.threads,
            facts: self.facts,
        }
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

/// A local file system that is served, and mounted over its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkMounting {
    /// Mounts the local file system.
    pub local: Mounting,
    /// Its mount point.
    pub served_at: String,
    /// The protocol.
    pub protocol: Protocol,
    /// Whether the server answers before its file system has written what it changed.
    pub is_async: bool,
    /// The server's threads.
    pub threads: u32,
    /// The largest request that the server takes.
    pub request_bytes: u32,
    /// What the client mounts.
    pub source: &'static str,
    /// The client's arguments of mount(2).
    pub call: MountCall,
    /// The equivalent commands, joined by `&&`.
    pub(crate) command: Vec<String>,
}

/// What the catalogue knows about `protocol`.
#[must_use]
pub fn network_file_system(protocol: Protocol) -> &'static NetworkFileSystem {
    match protocol {
        Protocol::Nfs => &NFS,
    }
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
    for word in &network.export {
        ensure_export_word(entry, word).map_err(|refused| ("export", refused))?;
    }
    let own = entry.client.iter().copied();
    let client: Vec<&str> = own
        .chain(network.client.iter().map(String::as_str))
        .collect();
    let chosen = network
        .export
        .iter()
        .map(String::as_str)
        .next_back()
        .or(entry.export_words.first().copied());
    let export: Vec<&str> = entry.export.iter().copied().chain(chosen).collect();
    let (threads, export_options) = (entry.threads.to_string(), export.join(","));
    let client_options = client.join(",");
    let exported = format!("127.0.0.1:{served_at}");
    let mut command = local.words();
    command.extend(
        [
            "&&",
            "rpc.nfsd",
            &threads,
            "&&",
            "exportfs",
            "-o",
            &export_options,
            &exported,
            "&&",
            "mount",
            "-t",
            entry.fs_type,
            "-o",
            &client_options,
            entry.source,
            place.mount_point,
        ]
        .map(str::to_owned),
    );
    Ok(NetworkMounting {
        local,
        served_at: served_at.to_owned(),
        protocol: network.protocol,
        is_async: chosen == Some("async"),
        threads: entry.threads,
        request_bytes: entry.request_bytes,
        source: entry.source,
        call: MountCall::new(entry.fs_type, client),
        command,
    })
}

fn ensure_export_word(entry: &NetworkFileSystem, word: &str) -> Result<(), RefusedWord> {
    if entry.export_words.contains(&word) {
        return Ok(());
    }
    Err(RefusedWord {
        word: word.to_owned(),
        reason: "it is none that a subject may give to an export".to_owned(),
        allowed: Some(format!("one of {}", entry.export_words.join(", "))),
    })
}

/// Why `guest` cannot serve and mount `subject` over its protocol; `None` if it can, or if the
/// subject has none.
#[must_use]
pub fn network_obstacle(subject: &Subject, guest: &GuestKernel) -> Option<Obstacle> {
    let network = subject.network()?;
    let config = network_file_system(network.protocol).config;
    if config.is_met_by(&guest.config) {
        return None;
    }
    Some(Obstacle::MissingDriver {
        kernel: format!("the guest kernel {}", guest.name),
        config: config.to_string(),
        hint:
            "fslab lab build --network makes the lab 'network', which has it; for a PC's kernel, \
               fslab lab build --kernel debian:6.1 --network"
                .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{CatalogueError, find, parse_subject, parse_subjects};

    fn mounting(text: &str) -> NetworkMounting {
        let subject = parse_subject(text).expect(text);
        let place = MountPlace {
            device: "/dev/simdisk",
            mount_point: "/tmp/mnt",
            size: None,
        };
        let entry = find(subject.fs()).expect("an entry");
        match entry.mounting(&place, &subject).expect("mounts") {
            Some(Mounting::Network(network)) => *network,
            other => panic!("{other:?}"),
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
        assert!(!network.is_async);
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
        assert!(mounting("nfs:xfs:export=async").is_async);
        assert!(!mounting("nfs:xfs:export=sync").is_async);
        for (text, kind) in [
            ("nfs:xfs:export=insecure", "export"),
            ("nfs:xfs:client=addr=10.0.0.1", "client"),
            ("nfs:xfs:client=vers=3", "client"),
        ] {
            let error = parse_subject(text).expect_err(text);
            let CatalogueError::BadOption { kind: of, .. } = error else {
                panic!("{error}");
            };
            assert_eq!(of, kind);
        }
    }

    #[test]
    fn a_subject_of_a_protocol_needs_one_of_the_catalogue_behind_it() {
        let texts = ["nfs:ext4,nfs:xfs", "ext4"];
        let subjects = parse_subjects(&texts).expect("three");
        let names: Vec<_> = subjects.iter().map(Subject::to_string).collect();
        assert_eq!(names, ["nfs:ext4", "nfs:xfs", "ext4"]);
        let unknown = parse_subject("nfs:etx4").expect_err("a slip");
        assert_eq!(unknown.hint().as_deref(), Some("did you mean 'ext4'?"));
        let alone = parse_subject("nfs").expect_err("serves nothing");
        assert!(alone.hint().is_some_and(|hint| hint.contains("nfs:ext4")));
        let fake = parse_subject("nfs:fake").expect_err("mounts nothing");
        assert!(matches!(fake, CatalogueError::Unavailable { .. }), "{fake}");
    }

    #[test]
    fn a_kernel_needs_client_and_server() {
        let subject = parse_subject("nfs:ext4").expect("a subject");
        let guest =
            |config: &str| GuestKernel::new("mine".into(), "6.12".into(), config, BTreeSet::new());
        let all: String = NFS.config.0[0]
            .iter()
            .map(|name| format!("{name}=y\n"))
            .collect();
        assert_eq!(network_obstacle(&subject, &guest(&all)), None);
        let client = guest("CONFIG_NFS_V4=y\nCONFIG_NFS_V4_2=y\n");
        let obstacle = network_obstacle(&subject, &client).expect("no server");
        assert!(obstacle.to_string().contains("CONFIG_NFSD"), "{obstacle}");
        assert!(
            obstacle
                .hint()
                .is_some_and(|hint| hint.contains("lab build --network"))
        );
        assert_eq!(network_obstacle(&Subject::plain("ext4"), &client), None);
    }
}
