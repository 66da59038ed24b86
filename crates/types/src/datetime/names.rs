//! English names (`lc_time_names = en_US`).

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Monday first.
pub(super) const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The first three letters.
pub(super) fn short(name: &'static str) -> &'static str {
    &name[..3]
}

impl super::Date {
    /// MONTHNAME; `None` for a zero month.
    pub fn month_name(self) -> Option<&'static str> {
        MONTHS.get((self.month() as usize).wrapping_sub(1)).copied()
    }

    /// DAYNAME.
    pub fn day_name(self) -> &'static str {
        DAYS[self.weekday() as usize % 7]
    }
}
