//! Guest layers: programs and files of this machine that the phases of a run need.

use fslab_lab::{BaseRoot, LayerRequest};
use fslab_model::{Bytes, Failure, LayerPlan, Plan, VenueKind};

use super::guest_lab::find;
use crate::defaults;
use crate::exit::CommandError;
use crate::terminal::screen;

/// The size from which writing a layer is announced.
const ANNOUNCED_MIN: Bytes = Bytes::mib(16);

/// True if the trials of `plan` run in guests.
pub(crate) fn takes_layers(plan: &Plan) -> bool {
    matches!(plan.venue.kind(), VenueKind::Guest | VenueKind::Sim)
}

/// Writes the layers that the phases of `plan` need in a guest, and adds them to the plan. A layer
/// in the cache is found by the names and times of its files.
pub(crate) fn add(plan: &mut Plan) -> Result<(), CommandError> {
    if !takes_layers(plan) {
        return Ok(());
    }
    let requests: Vec<_> = fslab_run::brings(&plan.phases)?
        .into_iter()
        .map(|(name, brings)| LayerRequest { name, brings })
        .collect();
    if requests.is_empty() {
        return Ok(());
    }
    let cache = defaults::cache()?;
    let base = base_of(plan)?;
    let mut layers = Vec::new();
    for draft in fslab_lab::drafts(&requests, &base).map_err(Failure::from)? {
        let written = cache.written(&draft).map_err(Failure::from)?;
        if written.is_none() && draft.bytes() >= ANNOUNCED_MIN {
            screen::notice(&format!(
                "writing the guest layer '{}': {} of programs and files from this machine",
                draft.name(),
                draft.bytes()
            ));
        }
        let layer = match written {
            Some(layer) => layer,
            None => cache.write_layer(&draft).map_err(Failure::from)?,
        };
        layers.push(LayerPlan {
            name: draft.name().to_owned(),
            digest: layer.facts.digest,
        });
    }
    plan.venue.set_layers(layers);
    Ok(())
}

/// The files that the root images of all labs of the plan have, which layers need not contain.
pub(crate) fn base_of(plan: &Plan) -> Result<BaseRoot, Failure> {
    let mut base: Option<BaseRoot> = None;
    for lab in plan.labs() {
        let files = find(Some(lab.digest.as_str()))?.root.files.into_iter();
        let its = BaseRoot {
            files: files.map(|file| (file.path, file.sha256)).collect(),
        };
        base = Some(match base {
            None => its,
            Some(base) => base.common(&its),
        });
    }
    Ok(base.unwrap_or_default())
}
