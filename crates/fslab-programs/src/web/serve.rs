//! The job `web-server`: serves a site to clients and times their requests.

use fslab_engine::{EngineKind, Measured, RunContext, cpu_use};
use fslab_job::{Finished, RunError};
use fslab_model::{LatencyHistogram, OperationLatency};
use fslab_sys::ResourceUse;

use super::clients::{ClientResult, Clients, OPERATION};
use super::parameters::ServeParameters;
use super::server::{Server, SiteFolders};
use super::site::Site;
use crate::figures::{synthetic_program, virtual_note};
use crate::links::ensure_links_stay_inside;
use crate::permission::Permission;

const SYNTHETIC_NS: u64 = 150_000;

/// Starts the server, runs the clients, and ends the server.
pub(crate) fn run_serve(
    parameters: &ServeParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    let site = parameters.site();
    let passes = u64::from(parameters.passes);
    if context.engine == EngineKind::Null {
        let (requests, bytes) = (passes * site.files, passes * site.bytes());
        return Ok(synthetic_program(context.seed, requests, Some(bytes), SYNTHETIC_NS).into());
    }
    let permission = Permission::of(parameters, context)?;
    ensure_links_stay_inside(context, &site.directory)?;
    // Clients and servers need files outside of the confined tree.
    context.outside(|| serve(parameters, permission, &site, context))
}

fn serve(
    parameters: &ServeParameters,
    permission: Permission,
    site: &Site,
    context: &RunContext,
) -> Result<Finished, RunError> {
    let base = context.outer_path(&context.root);
    let folders = SiteFolders {
        base: &base,
        root: &base.join(&site.directory),
    };
    let server = Server::start(parameters, permission, folders, &context.stop)?;
    let transport = server.endpoint.kind();
    let clients = Clients {
        parameters,
        site,
        context,
        endpoint: &server.endpoint,
    };
    let used = ResourceUse::of_process();
    let served = clients.run();
    let used = ResourceUse::of_process().since(used);
    let end = server.stop()?;
    let served = served.map_err(|error| error.printed(&end.error_output))?;
    let name = served.iter().find_map(|it| it.server.as_deref());
    let note = format!(
        "served by {} with {} through {transport}",
        name.unwrap_or("a server without a name"),
        plural(parameters.workers, "worker"),
    );
    Ok(Finished {
        notes: [note].into_iter().chain(virtual_note()).collect(),
        ..measured(&served, used.and(end.used)).into()
    })
}

fn plural(count: u32, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The figures of all clients together.
fn measured(served: &[ClientResult], used: ResourceUse) -> Measured {
    let starts = served.iter().map(|it| it.start_ns);
    let ends = served.iter().map(|it| it.end_ns);
    let start_ns = starts.min().unwrap_or(0);
    let first_end_ns = ends.clone().min().unwrap_or(start_ns);
    let elapsed_ns = ends.max().unwrap_or(start_ns) - start_ns;
    let mut histogram = LatencyHistogram::new();
    for client in served {
        histogram.merge(&client.latency.histogram());
    }
    Measured {
        start_ns,
        start_skew_ns: 0,
        elapsed_ns,
        operations: histogram.count(),
        bytes: Some(served.iter().map(|it| it.bytes).sum()),
        latencies: vec![OperationLatency {
            operation: OPERATION.into(),
            histogram,
        }],
        series: None,
        cpu: Some(cpu_use(used)),
        threads: served.iter().map(ClientResult::thread).collect(),
        first_done_ns: first_end_ns - start_ns,
        last_done_ns: elapsed_ns,
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fslab_job::JobKind;
    use fslab_model::{Bytes, Failure, FailureKind, Parameters};

    use super::super::parameters::PublishParameters;
    use super::*;
    use crate::locate;

    const SEED: u64 = 9;

    fn run(root: &Path, workload: &str, given: &serde_json::Value) -> Result<Finished, RunError> {
        let given: Parameters = serde_json::from_value(given.clone()).expect("a map");
        let job = match workload {
            "web-publish" => JobKind::of::<PublishParameters>(),
            _ => JobKind::of::<ServeParameters>(),
        };
        let resolved = (job.resolve)(&given, Bytes::mib(64)).expect("resolves");
        let context = RunContext::new(EngineKind::Psync, root, SEED);
        (job.run)(&resolved.parameters, &context)
    }

    fn publish(root: &Path) {
        let given = serde_json::json!({ "files": 23, "file_size": 300_001 });
        let finished = run(root, "web-publish", &given).expect("is published");
        assert_eq!(finished.measured.bytes, Some(23 * 300_001));
        assert_eq!(finished.measured.operations, 23);
    }

    fn given(server: &str, more: &serde_json::Value) -> serde_json::Value {
        let mut given = serde_json::json!({
            "files": 23, "file_size": 300_001, "server": server, "passes": 2, "verify": true,
        });
        let more = more.as_object().expect("a map").clone();
        given.as_object_mut().expect("a map").extend(more);
        given
    }

    /// Serves with all transports and several combinations of the other parameters.
    fn serve_in_all_variants(server: &str, transports: &[&str], name: &str) {
        let folder = tempfile::tempdir().expect("a directory");
        publish(folder.path());
        for transport in transports {
            for (clients, keep_alive, method) in [
                (1, false, "sendfile"),
                (3, true, "sendfile"),
                (3, false, "read"),
            ] {
                let more = serde_json::json!({
                    "clients": clients, "keep_alive": keep_alive, "method": method,
                    "transport": transport,
                });
                let finished = run(folder.path(), "web-server", &given(server, &more))
                    .unwrap_or_else(|error| panic!("{more}: {:?}", Failure::from(error)));
                let measured = finished.measured;
                assert_eq!(measured.operations, 2 * 23, "{more}");
                assert_eq!(measured.bytes, Some(2 * 23 * 300_001), "{more}");
                assert_eq!(measured.threads.len(), clients, "{more}");
                let requests = measured.latency("request").expect("recorded");
                assert_eq!(requests.count(), 2 * 23, "{more}");
                let note = &finished.notes[0];
                assert!(note.starts_with(&format!("served by {name}/")), "{note}");
            }
        }
    }

    #[test]
    fn the_embedded_server_serves_the_published_files_in_all_variants() {
        serve_in_all_variants("embedded", &["unix", "tcp"], "fslab");
    }

    #[test]
    fn nginx_serves_the_published_files_in_all_variants() {
        if locate::program("nginx").is_none() {
            eprintln!("skipped: nginx is not installed (package nginx-light)");
            return;
        }
        serve_in_all_variants("nginx", &["unix", "tcp"], "nginx");
    }

    #[test]
    fn apache_serves_the_published_files_if_it_has_access() {
        use fslab_sys::os::PermissionsExt;
        if !super::super::server::is_apache_here() {
            eprintln!("skipped: apache2 is not installed (package apache2-bin)");
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        publish(folder.path());
        let given = given(
            "apache2",
            &serde_json::json!({ "clients": 2, "keep_alive": true }),
        );
        let closed = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), closed).expect("is ours");
        if fslab_sys::is_superuser() {
            let refused = run(folder.path(), "web-server", &given)
                .map(drop)
                .expect_err("closed");
            assert!(matches!(&refused, RunError::Impossible(_)), "{refused:?}");
            assert!(refused.to_string().contains("nobody"), "{refused}");
        }
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("is ours");
        let finished = run(folder.path(), "web-server", &given)
            .unwrap_or_else(|error| panic!("{:?}", Failure::from(error)));
        assert_eq!(finished.measured.bytes, Some(2 * 23 * 300_001));
        assert!(
            finished.notes[0].contains("Apache/"),
            "{:?}",
            finished.notes
        );
    }

    #[test]
    fn changed_missing_and_shorter_files_are_found() {
        let folder = tempfile::tempdir().expect("a directory");
        publish(folder.path());
        let given = given("embedded", &serde_json::json!({}));
        let file = folder.path().join("web/d000/f00007");
        let original = std::fs::read(&file).expect("reads");
        let mut changed = original.clone();
        changed[270_000] ^= 1;
        for (content, word) in [
            (Some(changed), "270000"),
            (Some(original[..300_000].to_vec()), "300000 bytes"),
            (None, "404"),
        ] {
            match content {
                Some(content) => std::fs::write(&file, content).expect("writes"),
                None => std::fs::remove_file(&file).expect("removed"),
            }
            let failed = run(folder.path(), "web-server", &given).expect_err(word);
            let failure = Failure::from(failed);
            assert_eq!(failure.kind, FailureKind::Corrupt, "{failure:?}");
            assert!(failure.message.contains(word), "{failure:?}");
            assert!(failure.message.contains("f00007"), "{failure:?}");
        }
    }

    #[test]
    fn clients_and_server_stop_on_request() {
        let folder = tempfile::tempdir().expect("a directory");
        publish(folder.path());
        let given = given(
            "auto",
            &serde_json::json!({ "passes": 10_000, "clients": 2 }),
        );
        let given: Parameters = serde_json::from_value(given).expect("a map");
        let job = JobKind::of::<ServeParameters>();
        let resolved = (job.resolve)(&given, Bytes::mib(64)).expect("resolves");
        let context = RunContext::new(EngineKind::Psync, folder.path(), SEED);
        let stop = context.stop.clone();
        let raiser = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            stop.raise();
        });
        let stopped = (job.run)(&resolved.parameters, &context).expect_err("is stopped");
        raiser.join().expect("raised it");
        assert_eq!(Failure::from(stopped).kind, FailureKind::Interrupted);
    }
}
