//! The bill of materials: CycloneDX 1.5, as JSON, the same bytes for the same sources.

use serde_json::{Value, json};

use super::debian::DebianPackage;
use super::dependencies::Linked;

/// The document of the binary `fslab`, with the system's libraries that are linked into it.
pub(super) fn of_binary(version: &str, linked: &[Linked], libraries: &[DebianPackage]) -> Value {
    let crates = linked.iter().map(of_crate);
    let components = crates.chain(libraries.iter().map(of_package));
    let dependencies = linked
        .iter()
        .map(|it| json!({ "ref": it.id(), "dependsOn": it.uses }));
    document(
        &json!({ "type": "application", "bom-ref": "fslab", "name": "fslab", "version": version }),
        &components.collect::<Vec<_>>(),
        &dependencies.collect::<Vec<_>>(),
    )
}

/// The document of a guest: its kernel, by its source, and the packages of its programs.
pub(super) fn of_guest(lab: &str, kernel: &str, packages: &[DebianPackage]) -> Value {
    let kernel = kernel.split_once(' ').unwrap_or((kernel, ""));
    let kernel = json!({
        "type": "operating-system",
        "bom-ref": "kernel",
        "name": kernel.0,
        "version": kernel.1,
        "licenses": [{ "expression": "GPL-2.0-only" }],
    });
    let components = std::iter::once(kernel).chain(packages.iter().map(of_package));
    document(
        &json!({ "type": "platform", "bom-ref": "guest", "name": "fslab-guest", "version": lab }),
        &components.collect::<Vec<_>>(),
        &[],
    )
}

/// The libraries of zig in a program that it has linked.
pub(super) fn of_zig(version: &str) -> Value {
    json!({
        "type": "library",
        "bom-ref": "zig",
        "name": "compiler_rt and libunwind of zig",
        "version": version,
        "licenses": [{ "expression": "MIT AND Apache-2.0 WITH LLVM-exception" }],
    })
}

fn document(subject: &Value, components: &[Value], dependencies: &[Value]) -> Value {
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": subject },
        "components": components,
        "dependencies": dependencies,
    })
}

fn of_crate(linked: &Linked) -> Value {
    let package = &linked.package;
    let mut component = json!({
        "type": "library",
        "bom-ref": linked.id(),
        "name": package.name,
        "version": package.version.to_string(),
    });
    if let Some(licence) = &package.license {
        // Older manifests separate the two with a slash.
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if let Some(checksum) = &linked.checksum {
        component["purl"] = json!(format!("pkg:cargo/{}@{}", package.name, package.version));
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

fn of_package(package: &DebianPackage) -> Value {
    // `+` of a version is escaped in a purl.
    let version = package.version.replace('+', "%2B").replace(':', "%3A");
    json!({
        "type": "library",
        "bom-ref": format!("deb:{}", package.name),
        "name": package.name,
        "version": package.version,
        "purl": format!("pkg:deb/debian/{}@{version}", package.name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_the_document_is_one_of_its_components() {
        let linked = super::super::dependencies::linked(&crate::root(), "x86_64-unknown-linux-gnu");
        let libc = DebianPackage {
            name: "libc6-dev".to_owned(),
            version: "2.36-9+deb12u1".to_owned(),
            ..DebianPackage::default()
        };
        let document = of_binary("0.1.0", &linked.expect("crates"), &[libc]);
        let texts = |value: &Value, key: &str| -> Vec<String> {
            let items = value.as_array().expect("a list").iter();
            items
                .map(|it| it[key].as_str().expect(key).to_owned())
                .collect()
        };
        let known = texts(&document["components"], "bom-ref");
        assert!(known.len() > 100, "{} components", known.len());
        for it in document["dependencies"].as_array().expect("a list") {
            for used in it["dependsOn"].as_array().expect("a list") {
                let used = used.as_str().expect("a reference");
                assert!(known.iter().any(|it| it == used), "{used}");
            }
        }
        let last = document["components"].as_array().expect("a list").last();
        assert_eq!(
            last.expect("one")["purl"],
            "pkg:deb/debian/libc6-dev@2.36-9%2Bdeb12u1"
        );
    }
}
