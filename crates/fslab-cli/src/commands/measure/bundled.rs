//! The study of a bundle, on the machine that runs it.

use std::collections::BTreeSet;
use std::path::Path;

use fslab_lab::{Manifest, TakenBundle};
use fslab_model::{Failure, FailureKind, LayerPlan, Plan, VenueKind};

use crate::commands::measure::bundle::EXTENSION;
use crate::defaults;
use crate::exit::CommandError;
use crate::terminal::screen;

/// The bundle at `study`, put into the cache; `None` if it is no name of a bundle. What the cache
/// lacks of its lab and layers joins only with `allow_guest`.
pub(crate) fn find(study: &str, allow_guest: bool) -> Result<Option<TakenBundle>, Failure> {
    let path = Path::new(study);
    if path.extension().is_none_or(|it| it != EXTENSION) {
        return Ok(None);
    }
    let cache = defaults::cache()?;
    let manifest = fslab_lab::read_manifest(path).map_err(Failure::from)?;
    if let Some(known) = fslab_lab::find_bundle(&cache, &manifest) {
        return Ok(Some(known));
    }
    let is_layer_here = |digest: &str| cache.layer("", digest).is_ok();
    let is_lab_here = cache.find_lab(manifest.lab.as_str()).is_ok();
    let is_here = is_lab_here
        && manifest
            .layers
            .iter()
            .all(|layer| is_layer_here(&layer.digest));
    if !is_here && !allow_guest {
        return Err(refused(&manifest));
    }
    let taken = fslab_lab::take_bundle(&cache, path).map_err(Failure::from)?;
    if taken.manifest.has_file("claims.toml") {
        let claims = taken.study().with_file_name("claims.toml");
        screen::notice(&format!("the bundle's claims: {}", claims.display()));
    }
    Ok(Some(taken))
}

fn refused(manifest: &Manifest) -> Failure {
    let layers = screen::counted(manifest.layers.len(), "layer");
    let text = format!(
        "the bundle contains programs that this machine does not have: the lab {} and {layers}",
        manifest.lab
    );
    let failure = Failure::new(FailureKind::BadInput, text);
    failure.hint(
        "allow them with --allow-guest: a guest runs as your process, can read all that you can \
         read, and with Landlock can write only to a trial's directory",
    )
}

/// What `--set` would say so that phases find their inputs.
pub(crate) fn settings(bundle: &TakenBundle) -> Vec<String> {
    let inputs = bundle.manifest.inputs.iter();
    let setting = |input: &fslab_lab::BundleInput| {
        let path = bundle.input(&input.sha256);
        format!(
            "phase.{}.{}={}",
            input.phase,
            input.parameter,
            path.display()
        )
    };
    inputs.map(setting).collect()
}

/// Sets the bundle's layers in the plan, which must need exactly these.
pub(crate) fn set_layers(plan: &mut Plan, bundle: &TakenBundle) -> Result<(), CommandError> {
    if !matches!(plan.venue.kind(), VenueKind::Guest | VenueKind::Sim) {
        return Ok(());
    }
    let brings = fslab_run::brings(&plan.phases)?;
    let programs = brings.iter().filter(|(_, it)| !it.programs.is_empty());
    let mut needed: BTreeSet<&str> = programs.map(|(name, _)| name.as_str()).collect();
    if !needed.is_empty() {
        needed.insert("loader");
    }
    if brings.values().any(|it| !it.files.is_empty()) {
        needed.insert("inputs");
    }
    let layers = &bundle.manifest.layers;
    let brought: BTreeSet<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    if needed != brought {
        let list = |names: &BTreeSet<&str>| match names.is_empty() {
            true => "none".to_owned(),
            false => names.iter().copied().collect::<Vec<_>>().join(", "),
        };
        let text = format!(
            "the run needs the layers {}, but the bundle has the layers {}",
            list(&needed),
            list(&brought)
        );
        return Err(Failure::new(FailureKind::BadInput, text)
            .hint("leave out --set, or create a bundle of a study with that change")
            .into());
    }
    let layers = layers.iter().map(|layer| LayerPlan {
        name: layer.name.clone(),
        digest: layer.digest.clone(),
    });
    plan.venue.set_layers(layers.collect());
    Ok(())
}
