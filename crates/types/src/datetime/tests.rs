//! Dates and times: reading, printing, calculating.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn day_numbers_go_both_ways(n in 366i64..3_652_425) {
        let d = Date::from_day_number(n);
        prop_assert_eq!(d.day_number(), n);
        let strict = DateRules { no_zero_in_date: true, no_zero_date: true, ..DateRules::default() };
        prop_assert!(d.is_valid(strict));
    }

    #[test]
    fn order_is_order_in_time(a in 366 * DAY..3_652_424 * DAY, b in 366 * DAY..3_652_424 * DAY) {
        let (x, y) = (DateTime::from_linear_micros(a), DateTime::from_linear_micros(b));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        prop_assert_eq!(x.map(DateTime::linear_micros), Some(a));
    }

    #[test]
    fn written_dates_are_read_back(a in 366 * DAY..3_652_424 * DAY) {
        let t = DateTime::from_linear_micros(a).unwrap_or_default();
        let mut out = Vec::new();
        t.write_to(6, &mut out);
        let p = Parts::parse_datetime(&out, DateRules::default()).map(|p| p.datetime(6, DateRules::default()));
        prop_assert_eq!(p, Some(t));
    }

    #[test]
    fn any_bytes_parse_without_panic(b in proptest::collection::vec(any::<u8>(), 0..40), n in any::<i64>()) {
        let _ = Parts::parse_datetime(&b, DateRules::default());
        let _ = Parts::parse_time(&b, DateRules::default());
        let _ = Parts::datetime_from_number(n, 0, DateRules::default());
        let _ = Parts::time_from_number(n, false, 0, DateRules::default());
        let _ = Interval::from_text(IntervalUnit::DayMicrosecond, &b);
    }

    #[test]
    fn datelike_text_parses_without_panic(s in "[0-9T:. -]{0,30}") {
        let _ = Parts::parse_datetime(s.as_bytes(), DateRules::default());
        let _ = Parts::parse_time(s.as_bytes(), DateRules::default());
        let _ = str_to_date(s.as_bytes(), "%Y-%m-%d %H:%i:%s.%f %j %U %w %x %v", DateRules::default());
    }

    #[test]
    fn zones_go_both_ways(utc in 1i64..2_147_483_647, zone in prop::sample::select(vec!["UTC", "Asia/Tokyo", "+05:30"])) {
        let zone = TimeZone::parse(zone).unwrap_or(TimeZone::UTC);
        prop_assert_eq!(zone.to_utc(zone.to_local(utc * SECOND)), Some(utc * SECOND));
    }
}

fn at(s: &str) -> DateTime {
    Parts::parse_datetime(s.as_bytes(), DateRules::default())
        .map(|p| p.datetime(6, DateRules::default()))
        .unwrap_or_else(|| panic!("{s} is no date"))
}

#[test]
fn daylight_saving() {
    let berlin = TimeZone::parse("europe/berlin").unwrap_or(TimeZone::UTC);
    assert_eq!(berlin.to_string(), "Europe/Berlin");
    let gap = berlin.resolve(at("2024-03-31 02:59:59.9"));
    assert_eq!(gap, Some(LocalTime { utc_micros: 1_711_846_800_900_000, in_gap: true }));
    assert_eq!(berlin.to_utc(at("2024-10-27 02:30:00")), Some(1_729_989_000 * SECOND));
    assert_eq!(berlin.to_utc(at("2038-01-19 04:14:07.999999")), Some(TIMESTAMP_MAX_MICROS));
    assert_eq!(berlin.to_utc(at("2038-01-19 04:14:08")), None);
    assert_eq!(berlin.to_utc(at("1970-01-01 01:00:00")), None);
    assert_eq!(berlin.to_utc(at("1970-01-01 01:00:00.5")), Some(500_000));
    assert_eq!(berlin.to_local(1_711_846_800 * SECOND), at("2024-03-31 03:00:00"));
}

#[test]
fn zone_names() {
    for (given, shown) in [("+5:30", "+05:30"), ("+05:3", "+05:03"), ("-12:59", "-12:59"), ("system", "SYSTEM")] {
        assert_eq!(TimeZone::parse(given).map(|z| z.to_string()).as_deref(), Some(shown));
    }
    for bad in ["+14:00", "-13:00", "+1", "+1:60", "", "Mars/Phobos", "+é:00", "+-1:00"] {
        assert_eq!(TimeZone::parse(bad), None, "{bad}");
    }
}

#[test]
fn months_keep_to_the_calendar() {
    let plus = |s: &str, unit, n| Interval::from_int(unit, n).and_then(|i| at(s).plus(i)).map(|t| t.to_string());
    assert_eq!(plus("2024-01-31", IntervalUnit::Month, 1).as_deref(), Some("2024-02-29 00:00:00"));
    assert_eq!(plus("2024-02-29", IntervalUnit::Year, -1).as_deref(), Some("2023-02-28 00:00:00"));
    assert_eq!(plus("9999-12-31", IntervalUnit::Day, 1), None);
    assert_eq!(plus("2024-01-01", IntervalUnit::Microsecond, -1).as_deref(), Some("2023-12-31 23:59:59.999999"));
    assert_eq!(
        Interval::from_text(IntervalUnit::DayMicrosecond, b"-1 2:3:4.5").map(|i| i.micros),
        Some(-(DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 500_000))
    );
    assert_eq!(Interval::from_text(IntervalUnit::DaySecond, b"90").map(|i| i.micros), Some(90 * SECOND));
}
