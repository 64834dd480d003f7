//! The types of number that a range of [`knobs!`](crate::knobs!) can have.

/// A number that is made from `f32`.
pub trait Value: Copy {
    /// The nearest of this type.
    fn of(value: f32) -> Self;
    /// This number.
    fn number(&self) -> f32;
    /// Whether this number was meant by that value: the same after rounding.
    fn is(&self, value: f32) -> bool;
}

macro_rules! whole {
    ($($type:ty),+) => {
        $(impl Value for $type {
            fn of(value: f32) -> Self {
                // A cast cuts towards 0 and saturates.
                (if value < 0.0 { value - 0.5 } else { value + 0.5 }) as Self
            }

            fn number(&self) -> f32 {
                *self as f32
            }

            fn is(&self, value: f32) -> bool {
                Self::of(value) == *self
            }
        })+
    };
}

whole!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl Value for f32 {
    fn of(value: f32) -> Self {
        value
    }

    fn number(&self) -> f32 {
        *self
    }

    fn is(&self, value: f32) -> bool {
        (self - value).abs() <= 1e-6 * value.abs()
    }
}

impl Value for f64 {
    fn of(value: f32) -> Self {
        value.into()
    }

    fn number(&self) -> f32 {
        *self as f32
    }

    fn is(&self, value: f32) -> bool {
        (*self as f32).is(value)
    }
}
