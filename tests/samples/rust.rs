//! Shapes: 形.
#![deny(missing_docs)]

extern crate alloc;
use std::fmt::{self, Display};

/// A circle.
#[derive(Debug, Clone)]
pub struct Circle<T> {
    radius: T,
}

pub(crate) enum Colour {
    Red,
    Green(u8),
}

pub trait Shape {
    const CORNERS: usize;
    type Unit;

    /// In m².
    fn area(&self) -> f64;

    fn twice(&self) -> f64 {
        2.0 * self.area()
    }
}

impl<T: Copy> Circle<T>
where
    T: Into<f64>,
{
    pub const ZERO: u8 = 0;

    #[inline]
    pub fn new(radius: T) -> Self {
        fn inner() {}
        inner();
        Self { radius }
    }
}

impl<T> fmt::Display for Circle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ö")
    }
}

impl Shape for &'static [Circle<u8>] {
    const CORNERS: usize = 0;
    type Unit = u8;

    fn area(&self) -> f64 {
        0.0
    }
}

pub mod outer {
    pub mod inner {
        pub(super) async unsafe fn deep() {}
    }
}

mod elsewhere;

type Table<K> = std::collections::HashMap<K, Circle<u8>>;

static LIMIT: u8 = 3;

#[macro_export]
macro_rules! circle {
    ($r:expr) => {
        Circle::new($r)
    };
}

extern "C" {
    fn c_area(radius: f64) -> f64;
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_works() {
        assert!(true);
    }
}
