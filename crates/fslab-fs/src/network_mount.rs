//! Network file systems among the mounts: server, protocol and options, from mountinfo(5).
//!
//! Each driver writes its source and its options in another form (nfs(5), mount.cifs(8),
//! Documentation/filesystems/9p.rst and ceph.rst of the kernel, mount.lustre(8), mount.fuse(8)). A
//! driver with its form is one line in `KINDS`.

use fslab_model::NetworkMount;

use crate::Recognised;

/// Options that name what has its own place in a [`NetworkMount`], or users and addresses, which
/// change no figure.
const NAMED_ELSEWHERE: [&str; 29] = [
    "addr",
    "clientaddr",
    "mountaddr",
    "mountport",
    "mountproto",
    "mountvers",
    "vers",
    "version",
    "proto",
    "trans",
    "mon_addr",
    "name",
    "fsid",
    "secret",
    "key",
    "user",
    "username",
    "domain",
    "credentials",
    "uid",
    "gid",
    "forceuid",
    "noforceuid",
    "forcegid",
    "noforcegid",
    "user_id",
    "group_id",
    "uname",
    "aname",
];

/// How a driver writes the source of a mount.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// `SERVER:EXPORT`; a user may stand before the server: `me@nas:/home`.
    Colon,
    /// `//SERVER/SHARE`.
    Share,
    /// `SERVERS:/FOLDER`, with several servers, whose names may have colons.
    LastColon,
    /// `SCHEME://SERVER/EXPORT`.
    Address,
    /// A name that stands for the export, with no server.
    Name,
    /// The server's address, if the transport is a network, else a name.
    ByTransport,
    /// Nothing that says what is mounted.
    Nothing,
}

/// A driver of a network file system.
struct Kind {
    /// Its type in the table of mounts.
    fs_type: &'static str,
    protocol: &'static str,
    source: Source,
    /// The option with the version.
    version: Option<&'static str>,
    /// The option with the transport.
    transport: Option<&'static str>,
}

const fn kind(fs_type: &'static str, protocol: &'static str, source: Source) -> Kind {
    Kind {
        fs_type,
        protocol,
        source,
        version: None,
        transport: None,
    }
}

const NFS: Kind = Kind {
    version: Some("vers"),
    transport: Some("proto"),
    ..kind("nfs", "NFS", Source::Colon)
};

const SMB: Kind = Kind {
    version: Some("vers"),
    ..kind("cifs", "SMB", Source::Share)
};

/// The known drivers.
const KINDS: [Kind; 26] = [
    NFS,
    Kind {
        fs_type: "nfs4",
        ..NFS
    },
    SMB,
    Kind {
        fs_type: "smb3",
        ..SMB
    },
    // Of macOS and FreeBSD.
    Kind {
        fs_type: "smbfs",
        ..SMB
    },
    Kind {
        version: Some("version"),
        transport: Some("trans"),
        ..kind("9p", "9P", Source::ByTransport)
    },
    kind("virtiofs", "virtiofs", Source::Name),
    kind("lustre", "Lustre", Source::LastColon),
    kind("ceph", "CephFS", Source::LastColon),
    kind("fuse.ceph-fuse", "CephFS", Source::Nothing),
    kind("beegfs", "BeeGFS", Source::Nothing),
    kind("gpfs", "GPFS", Source::Name),
    kind("pvfs2", "OrangeFS", Source::Address),
    kind("wekafs", "WekaFS", Source::Name),
    kind("afs", "AFS", Source::Name),
    kind("fuse.glusterfs", "GlusterFS", Source::Colon),
    kind("fuse.sshfs", "SFTP", Source::Colon),
    kind("fuse.mfs", "MooseFS", Source::Name),
    kind("fuse.lizardfs", "LizardFS", Source::Name),
    kind("fuse.juicefs", "JuiceFS", Source::Name),
    kind("fuse.s3fs", "S3", Source::Name),
    kind("fuse.gcsfuse", "Google Cloud Storage", Source::Name),
    kind("fuse.rclone", "rclone", Source::Name),
    kind("fuse.cvmfs2", "CernVM-FS", Source::Name),
    kind("fuse.quobyte", "Quobyte", Source::Name),
    kind("fuse.nfs", "NFS", Source::Address),
];

/// What a mount is on a network; `None` for a local file system.
///
/// Of unknown processes that mount by FUSE, those whose source is an address with `://`, or a
/// server with an absolute path, are network file systems.
pub fn network_mount(mount: &Recognised) -> Option<NetworkMount> {
    let fs_type = mount.fs_type.as_str();
    let Some(kind) = KINDS.iter().find(|kind| kind.fs_type == fs_type) else {
        let process = fs_type.strip_prefix("fuse.");
        if process.is_none() && fs_type != "fuse" {
            return None;
        }
        let form = form_of_unknown(&mount.source)?;
        let protocol = process.or_else(|| mount.source.split("://").next());
        let protocol = protocol.unwrap_or_default();
        return Some(described(mount, protocol, form, (None, None)));
    };
    let option = |name: Option<&str>| name.and_then(|name| value(&mount.options, name));
    let ways = (option(kind.version), option(kind.transport));
    Some(described(mount, kind.protocol, kind.source, ways))
}

/// The form of an unknown source, if it names a server.
fn form_of_unknown(source: &str) -> Option<Source> {
    let is_address = source.contains("://");
    let (server, export) = source.split_once(':').unwrap_or_default();
    let is_server = !server.is_empty() && !server.contains('/') && export.starts_with('/');
    match (is_address, is_server) {
        (true, _) => Some(Source::Address),
        (false, true) => Some(Source::Colon),
        (false, false) => None,
    }
}

fn described(
    mount: &Recognised,
    protocol: &str,
    form: Source,
    (version, transport): (Option<&str>, Option<&str>),
) -> NetworkMount {
    let place = Place::of(&mount.source, form, transport);
    let words = mount.options.iter();
    let kept = words.filter(|word| {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        !NAMED_ELSEWHERE.contains(&name)
    });
    let mut options: Vec<String> = kept.cloned().collect();
    options.sort_unstable();
    let address = value(&mount.options, "addr").or_else(|| value(&mount.options, "mon_addr"));
    NetworkMount {
        protocol: protocol.to_owned(),
        version: version.map(str::to_owned),
        transport: transport.map(str::to_owned).or(place.transport),
        server: place.server,
        address: address.map(str::to_owned),
        // 9P names the exported tree in an option.
        export: value(&mount.options, "aname")
            .map(str::to_owned)
            .or(place.export),
        options,
        by_process: mount.fs_type.starts_with("fuse"),
    }
}

/// The value of an option.
fn value<'a>(options: &'a [String], name: &str) -> Option<&'a str> {
    let mut options = options.iter().filter_map(|word| word.split_once('='));
    options.find_map(|(known, value)| (known == name).then_some(value))
}

/// What a source says.
#[derive(Default)]
struct Place {
    server: Option<String>,
    export: Option<String>,
    transport: Option<String>,
}

impl Place {
    fn of(source: &str, form: Source, transport: Option<&str>) -> Self {
        let at = |server: &str, export: &str| Self {
            server: Some(server.to_owned()).filter(|it| !it.is_empty()),
            export: Some(export.to_owned()).filter(|it| !it.is_empty()),
            transport: None,
        };
        match form {
            Source::Colon => match source.strip_prefix('[').and_then(|it| it.split_once("]:")) {
                // An IPv6 address stands in brackets.
                Some((server, export)) => at(server, export),
                None => {
                    let (server, export) = source.split_once(':').unwrap_or((source, ""));
                    at(without_user(server), export)
                }
            },
            Source::Share => {
                let rest = source.trim_start_matches('/');
                let (server, share) = rest.split_once('/').unwrap_or((rest, ""));
                at(without_user(server), share)
            }
            Source::LastColon => {
                // CephFS since Linux 5.17: USER@CLUSTER.NAME=/FOLDER.
                if let Some((cluster, export)) = source.split_once("=/") {
                    return at(without_user(cluster), &format!("/{export}"));
                }
                let (servers, export) = source.rsplit_once(":/").unwrap_or((source, ""));
                let mut place = at(servers, &format!("/{export}"));
                // Lustre: 10.0.0.1@tcp0 is the network `tcp`, its first.
                let network = servers.rsplit_once('@').map(|(_, network)| network);
                let network = network.map(|it| it.trim_end_matches(|c: char| c.is_ascii_digit()));
                place.transport = network
                    .filter(|it| ["tcp", "o2ib", "kfi", "gni"].contains(it))
                    .map(str::to_owned);
                place
            }
            Source::Address => {
                let (scheme, rest) = source.split_once("://").unwrap_or(("", source));
                let (server, export) = rest.split_once('/').unwrap_or((rest, ""));
                Self {
                    transport: Some(scheme.to_owned()).filter(|it| ["tcp", "ib"].contains(&&**it)),
                    ..at(server, &format!("/{export}"))
                }
            }
            Source::ByTransport if matches!(transport, Some("tcp" | "rdma" | "unix")) => {
                at(source, "")
            }
            Source::Name | Source::ByTransport => at("", source),
            Source::Nothing => Self::default(),
        }
    }
}

/// A server, without the name of a user before it.
fn without_user(server: &str) -> &str {
    server.rsplit_once('@').map_or(server, |(_, server)| server)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fslab_sys::parse_mount_table;

    use super::*;
    use crate::recognise_in;

    /// The mount of this line, from its optional fields on.
    fn of(rest: &str) -> Option<NetworkMount> {
        let table = format!("1 0 0:9 / / rw,relatime - {rest}\n");
        let mounts = parse_mount_table(table.as_bytes());
        network_mount(&recognise_in(&mounts, Path::new("/x")).expect("covered"))
    }

    fn texts(rest: &str) -> (String, String) {
        let found = of(rest).expect(rest);
        (found.to_string(), found.options.join(","))
    }

    #[test]
    fn local_file_systems_are_none() {
        for line in [
            "ext4 /dev/sda1 rw",
            "tmpfs tmpfs rw",
            "fuseblk /dev/sda2 rw,user_id=0",
            "fuse.mergerfs a:b rw",
            "fuse.encfs encfs rw",
            "fuse.bindfs /a rw",
            "overlay overlay rw,lowerdir=/a:/b",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    /// Lines of the kernel 6.18 with sshfs 3.7.3 and GlusterFS 10.3.
    #[test]
    fn mounts_by_a_process_are_recognised_as_the_kernel_has_them() {
        let (sshfs, options) =
            texts("fuse.sshfs root@127.0.0.1:/srv/files rw,user_id=0,group_id=0,allow_other");
        assert_eq!(sshfs, "SFTP from 127.0.0.1:/srv/files");
        assert_eq!(options, "allow_other,relatime,rw");
        let gluster = of(
            "fuse.glusterfs 192.0.2.2:/v1 rw,user_id=0,group_id=0,default_permissions,\
             allow_other,max_read=131072",
        );
        let gluster = gluster.expect("a network mount");
        assert_eq!(gluster.to_string(), "GlusterFS from 192.0.2.2:/v1");
        assert!(gluster.by_process);
        assert_eq!(
            gluster.options.join(","),
            "allow_other,default_permissions,max_read=131072,relatime,rw"
        );
    }

    /// Lines of the guest's kernel 6.12, which served NFS and mounted it, and mounted 9P.
    #[test]
    fn mounts_by_the_kernel_are_recognised_as_it_has_them() {
        let (nfs, options) = texts(
            "nfs4 127.0.0.1:/ rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,\
             timeo=600,retrans=2,sec=sys,clientaddr=127.0.0.1,local_lock=none,addr=127.0.0.1",
        );
        assert_eq!(nfs, "NFS 4.2 over tcp from 127.0.0.1:/");
        assert_eq!(
            options,
            "hard,local_lock=none,namlen=255,relatime,retrans=2,rsize=1048576,rw,sec=sys,timeo=600,\
             wsize=1048576"
        );
        let (plan9, options) = texts(
            "9p 127.0.0.1 rw,sync,dirsync,uname=root,aname=/tmp/mnt-served,access=user,msize=65536,\
             trans=tcp",
        );
        assert_eq!(plan9, "9P over tcp from 127.0.0.1:/tmp/mnt-served");
        assert_eq!(options, "access=user,dirsync,msize=65536,relatime,rw,sync");
    }

    /// The forms of the manual pages of drivers that this project has not run.
    #[test]
    fn each_driver_has_its_form_of_a_source() {
        for (line, expected) in [
            (
                "cifs //nas/share rw,vers=3.1.1,cache=strict,username=me,uid=0,addr=10.0.0.5",
                "SMB 3.1.1 from nas:share (10.0.0.5)",
            ),
            ("smbfs //me@nas/share rw", "SMB from nas:share"),
            (
                "9p 10.0.0.5 rw,access=user,trans=tcp,msize=131072,version=9p2000.L",
                "9P 9p2000.L over tcp from 10.0.0.5",
            ),
            (
                "9p share rw,access=any,trans=virtio",
                "9P over virtio from share",
            ),
            (
                "nfs4 [fd00::5]:/e rw,vers=4.2,proto=tcp6,addr=fd00::5",
                "NFS 4.2 over tcp6 from fd00::5:/e",
            ),
            (
                "lustre 10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch rw,flock",
                "Lustre over o2ib from 10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch",
            ),
            (
                "ceph 10.0.0.1:6789,10.0.0.2:6789:/a rw,name=admin,secret=<hidden>,acl",
                "CephFS from 10.0.0.1:6789,10.0.0.2:6789:/a",
            ),
            (
                "ceph me@0d4b.cephfs=/a rw,mon_addr=10.0.0.1:6789,acl",
                "CephFS from 0d4b.cephfs:/a (10.0.0.1:6789)",
            ),
            (
                "pvfs2 tcp://node:3334/orangefs rw",
                "OrangeFS over tcp from node:3334:/orangefs",
            ),
            (
                "beegfs beegfs_nodev rw,cfgFile=/etc/b.conf",
                "BeeGFS from an unknown server",
            ),
            ("gpfs fs1 rw", "GPFS from fs1"),
            ("fuse https://cloud/dav rw", "https from cloud:/dav"),
            ("fuse.other nas:/a rw", "other from nas:/a"),
        ] {
            assert_eq!(texts(line).0, expected);
        }
    }

    #[test]
    fn users_and_addresses_are_no_options() {
        let (_, options) = texts(
            "cifs //nas/s rw,username=me,domain=d,uid=1,forceuid,gid=1,addr=10.0.0.5,soft,\
             rsize=4194304,cache=none,actimeo=1",
        );
        assert_eq!(
            options,
            "actimeo=1,cache=none,relatime,rsize=4194304,rw,soft"
        );
    }
}
