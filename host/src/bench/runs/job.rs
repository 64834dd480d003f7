//! The plan of a bench: problems × seeds × masks × methods, and this shard's part of it.
//!
//! **Choices**
//! - All methods of a seed get the same instance and the same initial points. A mask changes only
//!   the names of the levels.
//! - An instance and its optimum are built when the first of its runs starts, and shared by all.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::args::{Masks, RaceArgs};
use super::noise::Noise;
use super::store::{Settings, checksum};
use crate::bench::domain::Domain;
use crate::bench::method::{Choice, EXTRA, Entry, METHODS};
use crate::bench::problem::{BEYOND, Fence, Instance, Mask, Optimum, PAPER, Problem, Sources, Spec};
use crate::error::Error;

/// Separates the random numbers of initial points from those of instances and masks.
const STREAM: u64 = 0x494e_4954;

/// One run.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) problem: Arc<str>,
    pub(crate) method: &'static Entry,
    pub(crate) seed: u64,
    pub(crate) mask: bool,
    /// Index of the plan's arena.
    arena: usize,
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, method, seed, mask, .. } = self;
        write!(f, "{} on {problem}, seed {seed}{}", method.name, if *mask { ", masked" } else { "" })
    }
}

/// All jobs, and the instances they run on.
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    pub(crate) jobs: Vec<Job>,
    arenas: Vec<Arena>,
    sources: Sources,
}

/// Where a problem comes from.
#[derive(Clone)]
enum Origin {
    Spec(Spec),
    File(PathBuf),
}

/// One instance, shared by all methods of a seed.
struct Arena {
    name: Arc<str>,
    origin: Origin,
    seed: u64,
    built: OnceLock<Result<Arc<Built>, String>>,
}

/// An instance with everything a run needs.
pub(crate) struct Built {
    pub(crate) problem: Box<dyn Problem>,
    pub(crate) optimum: Option<Optimum>,
    /// In the problem's own levels.
    pub(crate) initial: Vec<Vec<Level>>,
    pub(crate) mask: Mask,
    pub(crate) noise: Option<Noise>,
    pub(crate) fence: Option<Fence>,
}

impl Plan {
    pub(crate) fn new(args: &RaceArgs) -> Result<Self, Error> {
        let sources = Sources { data: args.data.clone() };
        let mut origins = Vec::new();
        for name in args.problem.iter().flat_map(|names| separate(names)) {
            let named = match name.as_str() {
                "all" => [PAPER, BEYOND].concat(),
                "paper" => PAPER.to_vec(),
                "beyond" => BEYOND.to_vec(),
                name => vec![name],
            };
            for name in named {
                let spec: Spec = name.parse().map_err(Error::Usage)?;
                let id = spec.id(&sources);
                origins.push((id, Origin::Spec(spec)));
            }
        }
        for path in &args.instance {
            origins.push((Instance::read(path)?.name(), Origin::File(path.clone())));
        }
        if origins.is_empty() {
            return Err(Error::Usage("name a problem with --problem or --instance; `trimtab list` shows them".into()));
        }
        let methods = methods(&args.method)?;
        let masks: &[bool] = match args.mask {
            Masks::Off => &[false],
            Masks::On => &[true],
            Masks::Both => &[false, true],
        };
        let (mut arenas, mut jobs) = (Vec::new(), Vec::<Job>::new());
        for (id, origin) in origins {
            if jobs.iter().any(|job| *job.problem == *id) {
                continue;
            }
            let problem: Arc<str> = id.into();
            for seed in args.first_seed..args.first_seed.saturating_add(args.seeds) {
                let arena = arenas.len();
                arenas.push(Arena { name: problem.clone(), origin: origin.clone(), seed, built: OnceLock::new() });
                for mask in masks {
                    let job = |method| Job { problem: problem.clone(), method, seed, mask: *mask, arena };
                    jobs.extend(methods.iter().map(|method| job(*method)));
                }
            }
        }
        let ours = |place: usize| place % args.shard.of == args.shard.index;
        let jobs = jobs.into_iter().enumerate().filter(|(place, _)| ours(*place)).map(|(_, job)| job).collect();
        let data = args.data.as_deref().map(checksum).transpose()?;
        let (noise, heavy_tails, fail) = (args.noise, args.heavy_tails, args.fail);
        let settings = Settings { budget: args.budget, init: args.init, data, noise, heavy_tails, fail };
        Ok(Self { settings, jobs, arenas, sources })
    }

    pub(crate) fn built(&self, job: &Job) -> Result<Arc<Built>, Error> {
        let arena = &self.arenas[job.arena];
        let built = arena.built.get_or_init(|| self.build(arena).map(Arc::new).map_err(|error| error.to_string()));
        built.clone().map_err(Error::Failed)
    }

    fn build(&self, arena: &Arena) -> Result<Built, Error> {
        let problem = match &arena.origin {
            Origin::Spec(spec) => spec.build(arena.seed, &self.sources)?,
            Origin::File(path) => Instance::read(path)?.problem()?,
        };
        let domain = Domain::new(problem.knobs());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(arena.seed ^ STREAM);
        let mut initial: Vec<_> = problem.start().into_iter().collect();
        let most = usize::try_from(domain.cardinality()).unwrap_or(usize::MAX);
        while initial.len() < self.settings.init.min(most) {
            let levels = domain.random(&mut random);
            if !initial.contains(&levels) {
                initial.push(levels);
            }
        }
        let mask = Mask::random(&*problem, arena.seed);
        let optimum = problem.optimum();
        let noise = Noise::new(&*problem, &arena.name, arena.seed, &self.settings);
        let best = optimum.as_ref().map(|optimum| optimum.levels.as_slice());
        let fence = self.settings.fail.and_then(|share| Fence::new(&*problem, best, share, arena.seed));
        Ok(Built { optimum, problem, initial, mask, noise, fence })
    }
}

/// Splits problems at commas. A comma before `name=` goes on with the parameters of one problem.
fn separate(names: &str) -> Vec<String> {
    let mut problems: Vec<String> = Vec::new();
    for part in names.split(',') {
        let goes_on = part.split_once('=').is_some_and(|(name, _)| !name.contains(':'));
        match problems.last_mut() {
            Some(problem) if goes_on => *problem += &format!(",{part}"),
            _ => problems.push(part.into()),
        }
    }
    problems
}

/// The methods with these names, in table order, each once; extra ones last and only by name.
fn methods(names: &[String]) -> Result<Vec<&'static Entry>, Error> {
    for name in names.iter().filter(|name| *name != "all") {
        name.parse::<Choice>().map_err(Error::Usage)?;
    }
    let is_named = |entry: &&Entry| names.iter().any(|name| name == entry.name);
    let is_all = names.iter().any(|name| name == "all");
    let own = METHODS.iter().filter(|entry| is_all || is_named(entry));
    Ok(own.chain(EXTRA.iter().filter(is_named)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_problems_and_parameters() {
        for (text, parts) in [
            ("ising", &["ising"][..]),
            ("ising,bqp", &["ising", "bqp"]),
            ("bqp:m=16,lambda=0", &["bqp:m=16,lambda=0"]),
            (
                "labs,bqp:m=16,lambda=0,ising:lambda=1e-4,board",
                &["labs", "bqp:m=16,lambda=0", "ising:lambda=1e-4", "board"],
            ),
        ] {
            assert_eq!(separate(text), parts, "{text}");
        }
    }
}
