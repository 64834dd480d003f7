//! Groups of problems that a report shows apart: what is good for bits need not be good for scales.
//!
//! | group | knobs |
//! |---|---|
//! | binary | all have two levels |
//! | nominal | some have more, none is graded |
//! | graded | some are graded |
//! | small boards | the family `board`, which users' own problems resemble most |

use trimtab::{Knob, Level};

use super::{Sources, Spec, board};

/// A kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Binary,
    Nominal,
    Graded,
    Boards,
}

impl Group {
    pub(crate) const ALL: [Self; 4] = [Self::Binary, Self::Nominal, Self::Graded, Self::Boards];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Nominal => "nominal",
            Self::Graded => "graded",
            Self::Boards => "small boards",
        }
    }

    pub(crate) fn of_knobs(knobs: &[Knob]) -> Self {
        if knobs.iter().any(Knob::is_graded) {
            Self::Graded
        } else if knobs.iter().all(|knob| knob.levels() <= 2) {
            Self::Binary
        } else {
            Self::Nominal
        }
    }

    /// The group of a problem in a file of runs. A problem that cannot be built from its name, such
    /// as an instance from a file, is judged by the highest levels that its runs tried.
    pub(crate) fn of(name: &str, highest: &[Level]) -> Self {
        let spec = name.parse::<Spec>().ok();
        if spec.as_ref().is_some_and(|spec| spec.family().name == board::FAMILY.name) {
            return Self::Boards;
        }
        match spec.and_then(|spec| spec.build(0, &Sources::default()).ok()) {
            Some(problem) => Self::of_knobs(problem.knobs()),
            None if highest.iter().all(|level| *level <= 1) => Self::Binary,
            None => Self::Nominal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_grouped_by_their_knobs() {
        for (name, group) in [
            ("ising:lambda=1e-4", Group::Binary),
            ("bqp:m=16", Group::Binary),
            ("sparse-classification:data=file,l1=0.002", Group::Binary),
            ("max-sat:file=gone.wcnf", Group::Binary),
            ("pest-control", Group::Nominal),
            ("antenna", Group::Graded),
            ("board", Group::Boards),
            ("board:knobs=7", Group::Boards),
            ("bqp10_0", Group::Binary),
        ] {
            assert_eq!(Group::of(name, &[1, 0, 1]), group, "{name}");
        }
        assert_eq!(Group::of("my-instance", &[1, 4]), Group::Nominal);
        assert_eq!(Group::of_knobs(&[Knob::nominal(2), Knob::ranked(3)]), Group::Graded);
    }
}
