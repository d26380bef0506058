//! NFS 4: the kernel's server and client, without a program of nfs-utils.

use fslab_model::Protocol;

use crate::KernelConfig;
use crate::network::{COLD, NetworkFact, NetworkFileSystem, NetworkServer, Served};
use crate::option_rule::{KeyRule, OptionValue, key};

/// Bytes of the largest request: what the server takes on a machine with 4 GiB of memory or more.
/// Otherwise it would follow from the memory of the guest.
const REQUEST_BYTES: u32 = 1 << 20;

const THREADS: u32 = 8;

const CLIENT_KEYS: &[KeyRule] = &[
    key("vers", OptionValue::OneOf(&["4.0", "4.1", "4.2"])),
    key("rsize", OptionValue::Number),
    key("wsize", OptionValue::Number),
    key("acregmin", OptionValue::Number),
    key("acregmax", OptionValue::Number),
    key("acdirmin", OptionValue::Number),
    key("acdirmax", OptionValue::Number),
    key("actimeo", OptionValue::Number),
    key(
        "lookupcache",
        OptionValue::OneOf(&["all", "pos", "positive", "none"]),
    ),
    key("nconnect", OptionValue::Number),
    key("timeo", OptionValue::Number),
    key("retrans", OptionValue::Number),
];

fn serve(served: &Served<'_>) -> NetworkServer {
    NetworkServer::Nfs {
        is_async: served.has("async"),
        threads: THREADS,
        request_bytes: REQUEST_BYTES,
    }
}

pub(crate) static NFS: NetworkFileSystem = NetworkFileSystem {
    protocol: Protocol::Nfs,
    title: "NFS",
    history: "Sun published it in 1984 as a server without state. Version 4 of 2000 (RFC 3010, \
              now RFC 7530) gave it state, locks and delegations, 4.1 of 2010 sessions, and 4.2 \
              of 2016 holes, copies and clones on the server.",
    config: KernelConfig(&[&[
        "CONFIG_NFS_FS",
        "CONFIG_NFS_V4",
        "CONFIG_NFS_V4_2",
        "CONFIG_NFSD",
        "CONFIG_NFSD_V4",
    ]]),
    tools: &[],
    server: "8 threads of the guest's kernel (nfsd)",
    serve,
    stop: &["rpc.nfsd", "0"],
    fs_type: "nfs4",
    source: "127.0.0.1:/",
    client: &[
        "vers=4.2",
        "proto=tcp",
        "sec=sys",
        "hard",
        "rsize=1048576",
        "wsize=1048576",
        "addr=127.0.0.1",
        "clientaddr=127.0.0.1",
    ],
    client_keys: CLIENT_KEYS,
    export: &["rw", "no_root_squash", "no_subtree_check", "fsid=0"],
    export_words: &["sync", "async"],
    not_found: None,
    limit: |_, _| {},
    facts: &[
        NetworkFact {
            title: "close-to-open",
            text: "close(2) writes a file's dirty data to the server and waits until it is on the \
                   disk (COMMIT), unless the client holds a write delegation; open(2) asks the \
                   server for the attributes and drops cached data that they contradict. \
                   client=nocto leaves the question out.",
        },
        NetworkFact {
            title: "attribute cache",
            text: "The client answers stat(2) from its cache for 3 to 60 s for files and 30 to \
                   60 s for directories, the longer the longer nothing has changed \
                   (acregmin, acregmax, acdirmin, acdirmax). client=actimeo=SECONDS sets all \
                   four, client=noac switches the cache off and makes writes synchronous.",
        },
        NetworkFact {
            title: "sync",
            text: "The export is sync: the server answers a change of a name or of attributes \
                   when its file system has committed it, one fsync(2) of the directory for each. \
                   export=async lets it answer at once, against the protocol: a crash of the \
                   server then loses what the client holds for durable.",
        },
        COLD,
        NetworkFact {
            title: "left out",
            text: "NFS 2 and 3: their mount protocol is served by a program. Kerberos: sec=sys.",
        },
    ],
};
