//! Values of knobs that live as long as the page.

/// Core needs `'static` values. A page reads a handful of logs, so each list is leaked.
pub(crate) fn interned(values: Vec<f32>) -> &'static [f32] {
    Box::leak(values.into_boxed_slice())
}
