//! Numbers, matrices and their factors.

use trimtab::internals::{
    Arithmetic, Cholesky, Libm, Math, Matrix, Random, Standard, Triangle, dot, erfc, matern52, matern52_slope,
    pseudo_inverse, squared_distance,
};
use trimtab::math::{exp, ln, rough, sqrt};
use trimtab::sizes::triangle;

use crate::opaque::{Opaque, keep};

/// Rows of the matrices.
const T: usize = 7;
const P: usize = triangle(T);

pub(crate) fn call_all(o: &Opaque) {
    numbers(o);
    matrices(o);
    factor(o);
}

fn numbers(o: &Opaque) {
    keep([sqrt(o.float()), exp(o.float()), ln(o.float()), erfc(o.float())]);
    each_kind::<Libm>(o);
    each_kind::<Arithmetic>(o);
    keep([rough::sqrt(o.float()), rough::ln(o.float())]);
    let (a, b) = (o.floats::<11>(), o.floats::<11>());
    let (a, b) = (o.part(&a), o.part(&b));
    keep((dot(a, b), squared_distance(a, b)));
    let mut random = Random::new(o.long(), o.long());
    keep((random.uniform(), random.below(o.word()), random.bits()));
    let standard = Standard::of(a.iter().copied(), o.float(), o.float());
    keep((standard.apply(o.float()), standard.undo(o.float()), standard.deviation()));
    keep((Standard::NONE.apply(o.float()), Standard::NONE.undo(o.float())));
}

fn each_kind<F: Math>(o: &Opaque) {
    keep((F::sqrt(o.float()), F::exp(o.float()), F::ln(o.float())));
    keep((matern52::<F>(o.float()), matern52_slope::<F>(o.float())));
}

fn matrices(o: &Opaque) {
    let numbers = o.floats::<T>();
    let mut matrix = Matrix::<T, 3>::new();
    matrix.row_mut(o.size()).iter_mut().zip(o.part(&numbers)).for_each(|(own, number)| *own = *number);
    matrix.remove_row(o.size());
    keep(dot(matrix.row(o.size()), &numbers));
    matrix.rows().for_each(keep);
    let mut inverse = Matrix::<3, T>::default();
    keep((pseudo_inverse(&matrix, &mut inverse), inverse));

    let mut packed = Triangle::<P>::default();
    let (before, row) = packed.split_row(o.size());
    row.iter_mut().zip(numbers).for_each(|(own, number)| *own = number);
    before.for_each(keep);
    keep(packed.row(o.size()));
    packed.rows().chain(packed.rows_from(o.size(), o.size())).for_each(keep);
    keep((Triangle::<P>::new(), triangle(o.size())));
}

fn factor(o: &Opaque) {
    let mut factor = Cholesky::<P>::new();
    for _ in 0..o.size() {
        let row = o.floats::<T>();
        let appended = factor.append(o.part(&row)).is_ok();
        keep(appended || factor.append_with(|own| own.fill(o.float())).is_ok());
    }
    let (mut b, n) = (o.floats::<T>(), o.size());
    let b = b.get_mut(..n).unwrap_or_default();
    factor.solve_lower(b);
    factor.solve_upper(b);
    factor.solve(b);
    keep(factor.solve_lower_from(o.size(), b, |i, x| i < o.size() || x < o.float()));
    keep((factor.len(), factor.is_empty(), factor.row(o.size()), factor.log_determinant()));
    factor.truncate(o.size());
    keep(factor.clone());
    factor.clear();
    keep((factor, Cholesky::<P>::default()));
}
