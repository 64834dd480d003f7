//! Complex numbers, as far as the network needs them.

use core::ops::Add;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f32,
    pub(super) im: f32,
}

impl Complex {
    /// re² + im².
    pub(super) fn norm(self) -> f32 {
        self.re * self.re + self.im * self.im
    }

    /// 1/z.
    pub(super) fn inverse(self) -> Self {
        let norm = self.norm();
        Self { re: self.re / norm, im: -self.im / norm }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}
