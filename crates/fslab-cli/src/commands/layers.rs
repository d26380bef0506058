//! The layers of a run in a guest: programs and files of this machine that its phases need.

use std::path::PathBuf;

use fslab_lab::LayerRequest;
use fslab_model::{Bytes, Failure, LayerPlan, Plan, VenueKind};

use super::guest_lab::{self, ensure_trusted};
use crate::defaults;
use crate::exit::CommandError;
use crate::screen;

/// To write less takes no time worth a line.
const WORTH_A_LINE: Bytes = Bytes::mib(16);

/// Writes the layers that the phases of `plan` need, where it is one for a guest, and puts them
/// into it. What is written already is found by the names and times of its files.
///
/// # Errors
/// With each program that is missing here, and its package.
pub(super) fn bring(plan: &mut Plan) -> Result<(), CommandError> {
    if !matches!(plan.venue.kind(), VenueKind::Guest | VenueKind::Sim) {
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
    let base = guest_lab::base_of(&plan.venue)?;
    let mut layers = Vec::new();
    for draft in fslab_lab::drafts(&requests, &base).map_err(Failure::from)? {
        let written = cache.written(&draft).map_err(Failure::from)?;
        if written.is_none() && draft.bytes() >= WORTH_A_LINE {
            screen::notice(&format!(
                "writing the layer '{}' for guests: {} of programs and files of this machine",
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

/// The images of the layers that `plan` names, the topmost first.
pub(super) fn images(plan: &Plan) -> Result<Vec<PathBuf>, Failure> {
    let cache = defaults::cache()?;
    let image = |layer: &LayerPlan| {
        let image = cache.layer(&layer.name, &layer.digest)?.image;
        // It holds programs that root in a guest runs.
        ensure_trusted(&image)?;
        Ok(image)
    };
    plan.venue.layers().iter().map(image).collect()
}
