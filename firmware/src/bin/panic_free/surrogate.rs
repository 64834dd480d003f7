//! The surrogate: the Gaussian process, its hyper-parameters, the acquisition, and the search of a
//! box.

use trimtab::internals::{
    Fit, Gp, Pair, Posterior, Random, Repeats, Rule, descend, gradient_error, minimise, posterior_gradient,
    score_gradient,
};
use trimtab::sizes::triangle;
use trimtab::{Acquisition, Beta, Fitting, Hyper, Prior};

use crate::opaque::{Opaque, keep};

/// Observations and dimensions.
const T: usize = 7;
const P: usize = triangle(T);
const D: usize = 3;

pub(crate) fn call_all(o: &Opaque) {
    process(o);
    hyper_parameters(o);
    scores(o);
}

fn prior(o: &Opaque) -> Prior {
    let any = Prior { mean_precision: o.float(), signal_weight: o.float() };
    o.one_of(any, &[Prior::WEAK, Prior::FIXED, Prior::MAXIMUM_LIKELIHOOD])
}

fn process(o: &Opaque) {
    let mut gp = Gp::<T, P>::new();
    let (diagonal, other, y) = (o.float(), o.float(), o.floats::<T>());
    let write = |i: usize, row: &mut [f32]| {
        row.fill(other);
        row.iter_mut().skip(i).for_each(|own| *own = diagonal);
    };
    keep(gp.extend(o.size(), write).is_ok());
    let repeats = Repeats { missing: o.float(), count: o.float(), square: o.float(), log_noise: o.float() };
    gp.condition(o.part(&y), &prior(o), repeats);
    keep((gp.log_likelihood(), gp.signal(), gp.len(), gp.is_empty()));
    keep(gp.posterior(o.float(), |row| row.fill(other)));
    let mut k = y;
    keep(gp.posterior_slopes(o.float(), &mut k));
    searches(o, &gp);
    gp.truncate(o.size());
    keep(gp.clone());
    gp.clear();
    keep((gp, Gp::<T, P>::default()));
}

fn hyper_parameters(o: &Opaque) {
    let search = Fitting { linear: o.word() & 1 == 0, priors: o.word() & 1 == 0, sweeps: o.size() as u8 };
    let mut fit = Fit::new(&search, o.float());
    fit.sweep(&search, o.word() & 1 == 0, |hyper| hyper.length_scale - o.float());
    fit.set_noise(o.float());
    keep((fit.add_noise(), fit.hyper()));
    let hyper = Hyper { length_scale: o.float(), linear_weight: o.float(), noise: o.float() };
    let pair = Pair { squared_distance: o.float(), product: o.float() };
    keep((hyper.covariance(pair), hyper.variance(pair), hyper.slope(o.float())));
}

/// Searches of a box: of a caller's function, and of the acquisition.
fn searches(o: &Opaque, gp: &Gp<T, P>) {
    let hyper = Hyper { length_scale: o.float(), linear_weight: o.float(), noise: o.float() };
    let (places, x): ([[f32; D]; T], [f32; D]) = (core::array::from_fn(|_| o.floats()), o.floats());
    let rule = Rule::Ucb { beta: o.float() };
    let score =
        |x: &[f32; D], gradient: &mut [f32; D]| score_gradient(gp, &hyper, &rule, o.part(&places).iter(), x, gradient);
    keep(posterior_gradient(gp, &hyper, o.part(&places).iter(), &x));
    let bounds: [(f32, f32); D] = core::array::from_fn(|_| (o.float(), o.float()));
    let mut random = Random::new(o.long(), 0);
    keep(minimise(&bounds, o.size() as u16, &mut random, score));
    keep((descend(&bounds, &x, score), gradient_error(&x, o.float(), score)));
    keep(minimise(&bounds, o.size() as u16, &mut random, |_, gradient| {
        *gradient = o.floats();
        o.float()
    }));
}

fn scores(o: &Opaque) {
    let theorem = Beta::Theorem { scale: o.float(), delta: o.float() };
    let beta = o.one_of(theorem, &[Beta::Constant(o.float()), Beta::Logarithmic(o.float())]);
    let acquisition = o.one_of(Acquisition::ExpectedImprovement, &[Acquisition::Ucb(beta)]);
    let posterior = Posterior::new(o.float(), o.float());
    let prepared = acquisition.prepare(o.size(), o.float(), o.float());
    let any = [Rule::Ucb { beta: o.float() }, Rule::ExpectedImprovement { best: o.float() }];
    let rule = o.one_of(prepared, &any);
    keep(rule.slopes(posterior));
    keep((rule.score(posterior), rule.needed_variance(o.float(), o.float()), beta.at(o.size(), o.float())));
}
