//! `fslab bundle`: one file with everything that a study needs elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use fslab_disk::registry;
use fslab_lab::{
    BundleFile, BundleInput, BundleLayer, BundleParts, BundleVenue, Lab, Layer, Manifest,
};
use fslab_model::{Bytes, Failure, FailureKind, InputPlace, Plan, Study};
use fslab_run::{NamedKernels, Request, StudySource, VenueChoice};

use crate::commands::measure::venue_args::VenueArgs;
use crate::commands::measure::{guest_lab, layers};
use crate::defaults;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{output_file, screen};

/// The end of the names of bundles.
pub(crate) const EXTENSION: &str = "bundle";
/// The most bytes of a text beside a study.
const TEXT_MAX: u64 = 16 << 20;

/// Arguments of `fslab bundle`.
#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    /// Study: a name, an alias or a unique prefix from `fslab study list`, or a file
    study: String,
    /// Bundle to write [default: the study's name with .bundle]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Allow packing the programs that a study file names
    #[arg(long)]
    allow_commands: bool,
    #[command(flatten)]
    venue: VenueArgs,
}

impl BundleArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let (study, source) = fslab_run::load_study(&self.study)?;
        let kernels = NamedKernels::of(&study, &[]);
        if !kernels.names.is_empty() {
            let text = "a bundle has only one lab, but the study's subjects name labs with @";
            return Err(Failure::new(FailureKind::BadInput, text).into());
        }
        let choice = self.venue.or_sim().choice(&kernels)?;
        let (venue, guest, disk) = match &choice {
            VenueChoice::Sim(_, hardware) if hardware.machine.is_some() => {
                let text =
                    "a bundle cannot have a machine, since there may be no emulator where it runs";
                return Err(Failure::new(FailureKind::BadInput, text)
                    .hint("leave out --machine; --disk and --memory still apply")
                    .into());
            }
            VenueChoice::Sim(guest, hardware) => (BundleVenue::Sim, guest, hardware.disk.clone()),
            VenueChoice::Guest(guest) => (BundleVenue::Guest, guest, None),
            VenueChoice::Auto { .. } | VenueChoice::Named(_) => {
                let text = "a bundle needs the venue sim or guest";
                return Err(Failure::new(FailureKind::BadInput, text)
                    .hint("leave out --venue, or use --venue sim")
                    .into());
            }
        };
        let (lab, memory) = (guest_lab::find(Some(&guest.lab))?, guest.memory);
        let mut plan = fslab_run::resolve(&Request::new(study.clone(), &[], choice, 1))?.plan;
        if !self.allow_commands {
            fslab_workload::ensure_programs_allowed(&plan.phases)?;
        }
        layers::add(&mut plan)?;
        let mut content = Content::of(&study, &source)?;
        let disk = content.with_disk(disk.or_else(|| study.disk.clone()))?;
        let inputs = inputs_of(&study, &plan)?;
        let manifest = Manifest {
            format: Manifest::format(),
            fslab: env!("CARGO_PKG_VERSION").to_owned(),
            study: study.name.clone(),
            venue,
            lab: lab.digest.clone(),
            memory_bytes: memory.map(|Bytes(bytes)| bytes),
            disk,
            files: content.described(),
            inputs: inputs.keys().cloned().collect(),
            layers: plan.venue.layers().iter().map(described).collect(),
        };
        self.write(manifest, content, inputs, lab, &plan)
    }

    fn write(
        &self,
        manifest: Manifest,
        content: Content,
        inputs: BTreeMap<BundleInput, PathBuf>,
        lab: Lab,
        plan: &Plan,
    ) -> CommandResult {
        let cache = defaults::cache()?;
        let found = plan.venue.layers().iter();
        let found: Result<Vec<Layer>, _> = found
            .map(|layer| cache.layer(&layer.name, &layer.digest))
            .collect();
        let name = format!("{}.{EXTENSION}", manifest.study);
        ensure_extension(self.out.as_deref().unwrap_or(Path::new(&name)))?;
        let parts = BundleParts {
            files: content.0,
            inputs: inputs
                .into_iter()
                .map(|(input, path)| (input.sha256, path))
                .collect(),
            layers: found.map_err(Failure::from)?,
            lab,
            manifest,
        };
        let (file, output) = output_file::start(self.out.as_deref(), &name)?;
        let bytes = fslab_lab::write_bundle(&parts, output, &file).map_err(Failure::from)?;
        screen::print(&format!(
            "{}: {}, with the lab {} and {}\n",
            file.display(),
            Bytes(bytes),
            parts.lab.digest,
            screen::counted(parts.layers.len(), "layer")
        ))?;
        Ok(Exit::Done)
    }
}

fn described(layer: &fslab_model::LayerPlan) -> BundleLayer {
    BundleLayer {
        name: layer.name.clone(),
        digest: layer.digest.clone(),
    }
}

/// Refuses a name by which `fslab run` would not know a bundle.
fn ensure_extension(file: &Path) -> Result<(), Failure> {
    if file.extension().is_some_and(|it| it == EXTENSION) {
        return Ok(());
    }
    let text = format!("{} does not end in .{EXTENSION}", file.display());
    Err(Failure::new(FailureKind::BadInput, text)
        .hint("name the file NAME.bundle: `fslab run` recognises bundles by this extension"))
}

/// The study and the files beside it, by their names in the bundle.
struct Content(BTreeMap<String, Vec<u8>>);

impl Content {
    fn of(study: &Study, source: &StudySource) -> Result<Self, CommandError> {
        let mut files = BTreeMap::new();
        match source {
            StudySource::BuiltIn(_) | StudySource::CommandLine | StudySource::JobFile { .. } => {
                let text = toml::to_string(study).map_err(|error| {
                    CommandError::bad_input(format!("cannot write the study: {error}"))
                })?;
                files.insert("study.toml".to_owned(), text.into_bytes());
            }
            StudySource::File { path, .. } => {
                files.insert("study.toml".to_owned(), read(path)?);
                for name in study.workloads.keys() {
                    let name = format!("workloads/{name}.toml");
                    files.insert(name.clone(), read(&path.with_file_name(&name))?);
                }
                for name in ["claims.toml", "published.csv"] {
                    let path = path.with_file_name(name);
                    if path.exists() {
                        files.insert(name.to_owned(), read(&path)?);
                    }
                }
            }
        }
        Ok(Self(files))
    }

    /// Adds the disk profile if it is a file, or drawn from one; else returns its name.
    fn with_disk(&mut self, disk: Option<String>) -> Result<Option<String>, CommandError> {
        let Some(file) = disk.as_deref().and_then(registry::file_of) else {
            return Ok(disk);
        };
        let content = match disk.as_deref().filter(|disk| Path::new(disk) != file) {
            Some(drawn) => registry::find(drawn)?.to_toml().into_bytes(),
            None => read(file)?,
        };
        self.0.insert("disk.toml".to_owned(), content);
        Ok(None)
    }

    /// Their descriptions, the study's first.
    fn described(&self) -> Vec<BundleFile> {
        let mut files: Vec<_> = self
            .0
            .iter()
            .map(|(name, content)| BundleFile::of(name, content))
            .collect();
        files.sort_by_key(|file| file.name != "study.toml");
        files
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let text = fslab_sys::read_named_text(path, TEXT_MAX);
    let text =
        text.map_err(|error| CommandError::io(format!("cannot read {}", path.display()), &error))?;
    Ok(text.into_bytes())
}

/// The files that phases name by content, with the parameters that name them.
fn inputs_of(study: &Study, plan: &Plan) -> Result<BTreeMap<BundleInput, PathBuf>, Failure> {
    let mut inputs = BTreeMap::new();
    let brings = fslab_run::brings(&plan.phases).map_err(CommandError::from);
    let brings = brings.map_err(|error| error.failure)?;
    for (path, place) in brings.into_values().flat_map(|brings| brings.files) {
        let InputPlace::Content { sha256 } = place else {
            continue;
        };
        let is_it = |text: &str| std::path::absolute(text).is_ok_and(|found| found == path);
        let named = study.phases.iter().flat_map(|phase| {
            let parameters = phase.parameters.iter();
            let named = parameters.filter(|(_, value)| value.as_str().is_some_and(is_it));
            named.map(|(parameter, _)| (phase.name.clone(), parameter.clone()))
        });
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            let text = format!("cannot put {} into a bundle", path.display());
            return Err(Failure::new(FailureKind::Unsupported, text)
                .hint("name it in the parameters of a phase, not in a workload or a sweep"));
        }
        for (phase, parameter) in named {
            let sha256 = sha256.clone();
            let input = BundleInput {
                phase,
                parameter,
                sha256,
            };
            inputs.insert(input, path.clone());
        }
    }
    Ok(inputs)
}
