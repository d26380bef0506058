//! A mount of a file system that a server keeps, as the client's kernel describes it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::DeviceIdentity;

/// A mounted network file system. `None` is what the table of mounts does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkMount {
    /// The protocol or the system: `NFS`, `SMB`, `9P`, `Lustre`.
    pub protocol: String,
    /// The version of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What carries it: `tcp`, `rdma`, `virtio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The name of the server, or of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The network address of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What the server exports: a path, a share or a volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<String>,
    /// The mount options, without names of users and addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// True if a process mounts it, by FUSE: its caches are not the kernel's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_process: bool,
}

impl NetworkMount {
    /// Protocol, version and transport: `NFS 4.2 over tcp`.
    pub fn protocol_text(&self) -> String {
        let mut text = self.protocol.clone();
        for (before, part) in [(" ", &self.version), (" over ", &self.transport)] {
            text.extend(part.iter().flat_map(|part| [before, part]));
        }
        text
    }

    /// Server, export and address: `nas:/export (10.0.0.5)`.
    pub fn server_text(&self) -> String {
        let text = match (&self.server, &self.export) {
            (Some(server), Some(export)) => format!("{server}:{export}"),
            (None, None) => "an unknown server".to_owned(),
            (only, None) | (None, only) => only.clone().unwrap_or_default(),
        };
        match &self.address {
            Some(address) if Some(address) != self.server.as_ref() => {
                format!("{text} ({address})")
            }
            _ => text,
        }
    }

    /// True if the server is this machine, by its address.
    pub fn is_local(&self) -> bool {
        let address = self.address.as_ref().or(self.server.as_ref());
        address.is_some_and(|it| {
            let address = it.parse::<std::net::IpAddr>();
            it == "localhost" || address.is_ok_and(|address| address.is_loopback())
        })
    }

    /// Which caches a cold phase does not empty, as a clause.
    pub fn cold_limit(&self) -> &'static str {
        match (self.by_process, self.is_local()) {
            (true, _) => {
                "cold in the client's kernel alone: the caches of the process that mounts it and \
                 of the server stay as they are"
            }
            (false, false) => "cold on the client alone: the caches of the server stay as they are",
            (false, true) => {
                "cold in this kernel alone: the server is on this machine, and the caches of its \
                 processes stay as they are"
            }
        }
    }

    /// The properties by which a later mount is recognised as the same.
    pub fn identity(&self) -> DeviceIdentity {
        DeviceIdentity::new([
            ("server", self.server_text()),
            ("protocol", self.protocol_text()),
            ("option_list", self.options.join(",")),
        ])
    }
}

impl fmt::Display for NetworkMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", self.protocol_text(), self.server_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount() -> NetworkMount {
        NetworkMount {
            protocol: "NFS".to_owned(),
            version: Some("4.2".to_owned()),
            transport: Some("tcp".to_owned()),
            server: Some("nas".to_owned()),
            address: Some("10.0.0.5".to_owned()),
            export: Some("/export".to_owned()),
            options: vec!["rw".to_owned(), "hard".to_owned()],
            by_process: false,
        }
    }

    #[test]
    fn it_is_named_by_protocol_server_and_address() {
        let text = "NFS 4.2 over tcp from nas:/export (10.0.0.5)";
        assert_eq!(mount().to_string(), text);
        let bare = NetworkMount {
            version: None,
            transport: None,
            server: None,
            address: None,
            export: None,
            ..mount()
        };
        assert_eq!(bare.to_string(), "NFS from an unknown server");
    }

    #[test]
    fn what_a_cold_phase_leaves_depends_on_the_place_of_the_server() {
        assert!(mount().cold_limit().contains("on the client alone"));
        let here = NetworkMount {
            address: Some("::1".to_owned()),
            ..mount()
        };
        assert!(here.is_local());
        assert!(here.cold_limit().contains("the server is on this machine"));
        let fuse = NetworkMount {
            by_process: true,
            ..here
        };
        assert!(fuse.cold_limit().contains("the process that mounts it"));
    }

    #[test]
    fn another_option_or_server_is_another_mount() {
        let soft = NetworkMount {
            options: vec!["rw".to_owned(), "soft".to_owned()],
            ..mount()
        };
        let difference = mount().identity().difference(&soft.identity());
        assert_eq!(
            difference.as_deref(),
            Some("its option list was rw,hard, and is now rw,soft")
        );
        assert_eq!(mount().identity().difference(&mount().identity()), None);
    }
}
