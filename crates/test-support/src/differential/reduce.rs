//! Makes a statement shorter as long as it still shows what it was kept for.

/// Tries at most.
const TRIES_MAX: usize = 150;

/// The shortest form found of `sql` for which `shows` is still true.
pub fn reduce(sql: &str, mut shows: impl FnMut(&str) -> bool) -> String {
    let mut best = sql.to_owned();
    let mut tries = 0;
    'again: loop {
        for candidate in candidates(&best) {
            tries += 1;
            if tries > TRIES_MAX {
                return best;
            }
            if shows(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// A piece of the text in parentheses, with what stands before them if it is a function's name.
struct Group {
    /// Where the name, or else the parenthesis, begins.
    start: usize,
    /// Where the parenthesis opens.
    open: usize,
    /// Where it closes.
    close: usize,
    /// Commas at its top.
    commas: Vec<usize>,
    /// Top-level words AND and OR, as ranges.
    words: Vec<(usize, usize)>,
}

/// Shorter forms, the shortest first.
fn candidates(sql: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for group in groups(sql) {
        let (before, after) = (&sql[..group.start], &sql[group.close + 1..]);
        let inside = &sql[group.open + 1..group.close];
        if inside.trim_start().starts_with("SELECT") || group.open > group.start {
            out.push(format!("{before}1{after}"));
            out.push(format!("{before}NULL{after}"));
        }
        let mut from = group.open + 1;
        for end in group.commas.iter().copied().chain([group.close]) {
            let argument = sql[from..end].trim();
            from = end + 1;
            if argument.len() < group.close + 1 - group.start && !argument.is_empty() && !argument.starts_with("SELECT") {
                out.push(format!("{before}{argument}{after}"));
            }
        }
        for (start, end) in &group.words {
            out.push(format!("{before}{}{after}", &sql[group.open + 1..*start]));
            out.push(format!("{before}{}{after}", &sql[*end..group.close]));
        }
    }
    for clause in [" WHERE ", " ORDER BY ", " LIMIT ", " HAVING ", " GROUP BY ", " OFFSET ", " WITH ROLLUP", " LEFT JOIN ", " UNION ", " EXCEPT "] {
        for (at, _) in sql.match_indices(clause) {
            if depth_at(sql, at) != 0 {
                continue;
            }
            let rest = &sql[at + 1..];
            let next = [" WHERE ", " ORDER BY ", " LIMIT ", " HAVING ", " GROUP BY "]
                .iter()
                .filter_map(|c| rest.match_indices(c).map(|(i, _)| i).find(|i| depth_at(rest, *i) == 0))
                .min();
            let tail = next.map_or("", |i| &rest[i..]);
            out.push(format!("{}{tail}", &sql[..at]));
        }
    }
    // Items of the first list.
    if let Some(list) = sql.strip_prefix("SELECT ") {
        let end = list.match_indices(" FROM ").map(|(i, _)| i).find(|i| depth_at(list, *i) == 0).unwrap_or(list.len());
        let items = split_top(&list[..end]);
        if items.len() > 1 {
            for n in 0..items.len() {
                let rest: Vec<&str> = items.iter().enumerate().filter(|(i, _)| *i != n).map(|(_, s)| s.trim()).collect();
                out.push(format!("SELECT {}{}", rest.join(", "), &list[end..]));
            }
        }
    }
    out.retain(|c| c.len() < sql.len());
    out.sort_by_key(String::len);
    out.dedup();
    out
}

fn depth_at(text: &str, at: usize) -> i32 {
    let mut depth = 0;
    for (_, c) in outside_quotes(&text[..at]) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth
}

fn split_top(text: &str) -> Vec<&str> {
    let (mut out, mut from, mut depth) = (Vec::new(), 0, 0);
    for (i, c) in outside_quotes(text) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(&text[from..i]);
                from = i + 1;
            }
            _ => {}
        }
    }
    out.push(&text[from..]);
    out
}

/// Characters that are not inside of quotes.
fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut quoted = false;
    let mut escaped = false;
    text.char_indices().filter(move |(_, c)| {
        if escaped {
            escaped = false;
            return false;
        }
        match c {
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            _ => return !quoted,
        }
        false
    })
}

fn groups(sql: &str) -> Vec<Group> {
    let mut open: Vec<Group> = Vec::new();
    let mut done = Vec::new();
    for (i, c) in outside_quotes(sql) {
        match c {
            '(' => {
                let name = sql[..i].bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
                open.push(Group { start: i - name, open: i, close: i, commas: Vec::new(), words: Vec::new() });
            }
            ')' => {
                if let Some(mut group) = open.pop() {
                    group.close = i;
                    done.push(group);
                }
            }
            ',' => {
                if let Some(group) = open.last_mut() {
                    group.commas.push(i);
                }
            }
            ' ' => {
                for word in [" AND ", " OR ", " + ", " - ", " = ", " * ", " / "] {
                    if let Some(group) = open.last_mut()
                        && sql[i..].starts_with(word)
                    {
                        group.words.push((i, i + word.len()));
                    }
                }
            }
            _ => {}
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_goes() {
        let sql = "SELECT id, IF(a, CONCAT('x,)', BAD(b + 1)), 3) AS x0, 5 AS x1 FROM t WHERE (a = 1) ORDER BY id LIMIT 3";
        assert_eq!(reduce(sql, |s| s.contains("BAD(") && s.starts_with("SELECT")), "SELECT BAD(b + 1) AS x0 FROM t");
    }
}
