//! Exact decimal numbers of up to 65 digits, 38 of them after the point.

/// An exact decimal number. Arithmetic follows MariaDB's rules for scale and precision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Decimal(Box<()>);
