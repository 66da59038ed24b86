//! One macro for the protocol's bit sets, so that each is a type of its own with named bits.

/// Declares a set of bits: a newtype over an integer whose unknown bits are kept.
macro_rules! flag_set {
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $int:ty {
            $($(#[$flag_meta:meta])* $flag:ident = $value:expr;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name($int);

        impl $name {
            $($(#[$flag_meta])* pub const $flag: Self = Self($value);)*

            /// No bit set.
            pub const EMPTY: Self = Self(0);

            /// The set with these bits, known or not.
            pub const fn from_bits(bits: $int) -> Self {
                Self(bits)
            }

            /// The bits as they stand in packets.
            pub const fn bits(self) -> $int {
                self.0
            }

            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether any bit of `other` is set.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// The bits of both.
            pub const fn union(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// The bits of `self` that are not in `other`.
            pub const fn difference(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// Sets or clears all bits of `other`.
            pub fn set(&mut self, other: Self, on: bool) {
                *self = if on { self.union(other) } else { self.difference(other) };
            }

            /// Whether no bit is set.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                self.union(other)
            }
        }

        impl std::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                *self = self.union(other);
            }
        }

        impl std::ops::BitAnd for $name {
            type Output = Self;
            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                self.difference(other)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut left = *self;
                let mut separator = "";
                $(if left.contains(Self::$flag) && !Self::$flag.is_empty() {
                    write!(f, "{separator}{}", stringify!($flag))?;
                    separator = "|";
                    left = left - Self::$flag;
                })*
                if !left.is_empty() || separator.is_empty() {
                    write!(f, "{separator}{:#x}", left.0)?;
                }
                Ok(())
            }
        }
    };
}

pub(crate) use flag_set;
