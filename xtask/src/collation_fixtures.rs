//! Random texts and what a running MariaDB makes of them, for the collations' differential tests.
//!
//! `cargo run -p xtask -- codegen collation-fixtures SOCKET FILE PAIRS [COLLATION-PATTERN]`

use std::fmt::Write as _;

use super::collations::{Result, Server};

/// Characters that collations treat unlike one another: case, accents, ligatures, contractions,
/// ignorable ones, computed weights, characters below space, wildcards.
const UNUSUAL: &str = "aAbBcCdDhHjJlLnNsSzZiIuUyYgG0 9-   \t\u{1}%_\\%_äÄéÉßœŒÆæøØåÅñÑłŁčČđžŽšíÍıİþ\u{301}\u{308}\u{30a}\u{306}\
    σςΣИиЙйЁאبأเแกขคລຄ한글日本語かがカガーｱ㌀ﬁﬃ\u{ad}\u{200d}\u{a0}ﷺ\u{fffd}\u{ffff}😀😁𐐀𐐨𗀀𛅰𝐀\u{10ffff}";

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn unicode(&mut self, limit: u32) -> String {
        let chars: Vec<char> = UNUSUAL.chars().filter(|c| (*c as u32) < limit).collect();
        let n = self.below(7);
        (0..n)
            .map(|_| match self.below(10) {
                0 => char::from_u32(self.below(limit.min(0x2_0000) as u64) as u32).unwrap_or('x'),
                1 => char::from_u32(self.below(limit.min(0x300) as u64) as u32).unwrap_or('x'),
                _ => chars[self.below(chars.len() as u64) as usize],
            })
            .collect()
    }

    /// Another text that is often near to the first one.
    fn near(&mut self, text: &str, limit: u32) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        match self.below(5) {
            0 => return self.unicode(limit),
            1 => chars.push(' '),
            2 => chars = text.to_uppercase().chars().collect(),
            3 => chars = text.to_lowercase().chars().collect(),
            _ => {}
        }
        if self.below(2) == 0 {
            let at = self.below(chars.len() as u64 + 1) as usize;
            chars.insert(at, self.unicode(limit).chars().next().unwrap_or('%'));
        }
        if self.below(3) == 0 && !chars.is_empty() {
            let at = self.below(chars.len() as u64) as usize;
            chars[at] = self.unicode(limit).chars().next().unwrap_or('_');
        }
        chars.into_iter().filter(|c| (*c as u32) < limit).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

/// Writes lines of collation, a, b (UTF-8 in hex), STRCMP, a LIKE b, UPPER(a), LOWER(a).
pub fn generate(socket: &str, file: &str, pairs: usize, pattern: &str) -> Result<()> {
    let server = Server { socket: socket.to_string() };
    let collations = server.rows(&format!(
        "SELECT a.full_collation_name, a.character_set_name, s.maxlen \
         FROM information_schema.collation_character_set_applicability a \
         JOIN information_schema.character_sets s USING (character_set_name) \
         WHERE a.full_collation_name RLIKE '{pattern}' ORDER BY a.id"
    ))?;
    let mut random = Random(2026);
    let mut out = String::new();
    for c in &collations {
        let (name, set) = (&c[0], c[1].as_str());
        let unicode = matches!(set, "utf8mb4" | "utf8mb3" | "ucs2" | "utf16" | "utf32" | "utf16le");
        let limit = if matches!(set, "utf8mb3" | "ucs2") { 0x10000 } else { 0x110000 };
        let from = if unicode || c[2] != "1" { "utf8mb4" } else { set };
        let mut values = String::new();
        for _ in 0..pairs {
            let (a, b) = if unicode {
                let a = random.unicode(limit);
                let b = random.near(&a, limit);
                (a.into_bytes(), b.into_bytes())
            } else if c[2] == "1" {
                let mut bytes = || -> Vec<u8> {
                    let limit = if set == "ascii" { 128 } else { 256 };
                    let n = random.below(6);
                    let plain = b"aAbBcCsSzZhH  %_\\\t";
                    let any = |r: &mut Random| match r.below(2) {
                        0 => r.below(limit) as u8,
                        _ => plain[r.below(plain.len() as u64) as usize],
                    };
                    (0..n).map(|_| any(&mut random)).collect()
                };
                let a = bytes();
                let mut b = bytes();
                if b.len() % 2 == 0 {
                    b = [&a[..], &b[..b.len() / 2]].concat();
                }
                (a, b)
            } else {
                // Characters that the set lacks become question marks before they are looked at.
                let a = random.unicode(0x10000);
                let b = random.near(&a, 0x10000);
                (a.into_bytes(), b.into_bytes())
            };
            let _ = write!(values, "(x'{}',x'{}'),", hex(&a), hex(&b));
        }
        values.pop();
        let text = |x: &str| format!("CONVERT(CONVERT(BINARY({x}) USING {from}) USING {set})");
        let text = |x: &str| if set == "binary" { x.to_string() } else { text(x) };
        let utf8 = |x: String| match set {
            "binary" => format!("HEX({x})"),
            _ => format!("HEX(CONVERT({x} USING utf8mb4))"),
        };
        let (a, b) = (text("a"), text("b"));
        let rows = server.rows(&format!(
            "CREATE TEMPORARY TABLE t (a VARBINARY(200), b VARBINARY(200)); INSERT INTO t VALUES {values}; \
             SELECT {}, {}, STRCMP({a} COLLATE `{name}`, {b} COLLATE `{name}`), {a} COLLATE `{name}` LIKE {b} COLLATE `{name}`, \
             {}, {} FROM t",
            utf8(a.clone()),
            utf8(b.clone()),
            utf8(format!("UPPER({a} COLLATE `{name}`)")),
            utf8(format!("LOWER({a} COLLATE `{name}`)")),
        ))?;
        for r in rows {
            let _ = writeln!(out, "{name}\t{}", r.join("\t"));
        }
    }
    std::fs::write(file, out).map_err(|e| format!("{file}: {e}"))
}
