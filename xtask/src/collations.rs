//! Derives the collation data of `crates/types/src/charset/data` from a running MariaDB.
//!
//! Sort weights, case mappings and character maps are facts about the server that Selkie has to
//! agree with, so they are asked from it (`WEIGHT_STRING`, `UPPER`, `CONVERT`) over all code points
//! instead of being written down by hand. Run it against a private server:
//! `cargo run -p xtask -- codegen collations /path/to/socket`.
//!
//! File formats stand in `crates/types/src/charset/data/README.md`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

pub type Result<T> = std::result::Result<T, String>;

/// Entry value of the first expansion; below stand single weights.
const EXPANSION: u16 = 0xE000;
/// Entries that stand for a computed pair of weights: the pair's base.
const IMPLICIT: [(u16, u16); 6] =
    [(0xFFFF, 0xFBC0), (0xFFFE, 0xFB80), (0xFFFD, 0xFB40), (0xFFFC, 0xFB00), (0xFFFB, 0xFB01), (0xFFFA, 0xFB02)];

/// A running MariaDB, asked through its command-line client.
pub struct Server {
    /// Path of its socket.
    pub socket: String,
}

impl Server {
    /// Runs statements and returns the rows of the last one, split at tabs.
    pub fn rows(&self, sql: &str) -> Result<Vec<Vec<String>>> {
        let out = Command::new("mariadb")
            .args(["--no-defaults", "-S", &self.socket, "-D", "test", "--default-character-set=utf8mb4", "-N", "-q"])
            .args(["--raw", "-e", sql])
            .output()
            .map_err(|e| format!("mariadb client: {e}"))?;
        if !out.status.success() {
            let message = String::from_utf8_lossy(&out.stderr).into_owned();
            let error = message.lines().find(|l| l.starts_with("ERROR")).unwrap_or(&message);
            return Err(error.chars().take(500).collect());
        }
        let text = String::from_utf8(out.stdout).map_err(|e| e.to_string())?;
        Ok(text.lines().map(|l| l.split('\t').map(str::to_string).collect()).collect())
    }

    fn column(&self, sql: &str) -> Result<Vec<String>> {
        Ok(self.rows(sql)?.into_iter().map(|mut r| r.swap_remove(0)).collect())
    }
}

fn data_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/types/src/charset/data")
}

fn save(name: &str, bytes: &[u8]) -> Result<()> {
    let path = data_dir().join(name);
    std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("{name}: {} bytes", bytes.len());
    Ok(())
}

/// SQL for the character of code point `expr`, in utf8mb4.
fn chr(expr: &str) -> String {
    format!("CONVERT(CAST(UNHEX(LPAD(HEX({expr}),8,'0')) AS CHAR CHARACTER SET utf32) USING utf8mb4)")
}

fn parse_weights(hex: &str, digits: usize) -> Result<Vec<u16>> {
    if hex == "NULL" {
        return Ok(Vec::new());
    }
    (0..hex.len() / digits)
        .map(|i| u16::from_str_radix(&hex[i * digits..(i + 1) * digits], 16).map_err(|e| format!("{hex}: {e}")))
        .collect()
}

fn put16(out: &mut Vec<u8>, v: u16) {
    out.extend_from_slice(&v.to_le_bytes());
}

fn put24(out: &mut Vec<u8>, v: u32) {
    out.extend_from_slice(&v.to_le_bytes()[..3]);
}

/// Pages of 256 entries with equal pages stored once.
fn page_file(entries: &[u16], expansions: &[Vec<u16>]) -> Vec<u8> {
    let mut pages: Vec<&[u16]> = Vec::new();
    let mut seen: HashMap<&[u16], u16> = HashMap::new();
    let mut index = Vec::new();
    for page in entries.chunks(256) {
        let n = *seen.entry(page).or_insert_with(|| {
            pages.push(page);
            (pages.len() - 1) as u16
        });
        index.push(n);
    }
    let mut out = Vec::new();
    put16(&mut out, index.len() as u16);
    put16(&mut out, pages.len() as u16);
    put16(&mut out, expansions.len() as u16);
    index.iter().for_each(|&i| put16(&mut out, i));
    pages.iter().flat_map(|p| p.iter()).for_each(|&e| put16(&mut out, e));
    for e in expansions {
        put16(&mut out, e.len() as u16);
        e.iter().for_each(|&w| put16(&mut out, w));
    }
    out
}

/// One weight a character: entries are differences to the code point, BMP only.
fn simple_table(server: &Server, collation: &str, file: &str) -> Result<()> {
    let set = collation.split('_').next().unwrap_or_default();
    let rows = server.column(&format!(
        "SELECT HEX(WEIGHT_STRING(CONVERT({} USING {set}) COLLATE {collation})) FROM seq_0_to_65535",
        chr("seq")
    ))?;
    let mut entries = Vec::with_capacity(65536);
    for (cp, hex) in rows.iter().enumerate() {
        // Surrogates are no characters: their row is never asked for.
        let surrogate = (0xD800..0xE000).contains(&cp);
        let w = if surrogate { cp as u16 } else { *parse_weights(hex, 4)?.first().ok_or("no weight")? };
        entries.push(w.wrapping_sub(cp as u16));
    }
    save(file, &page_file(&entries, &[]))
}

/// Any number of weights a character, over all of Unicode.
fn uca_table(server: &Server, collation: &str, level: &str, max: u32, file: &str) -> Result<()> {
    let rows = server.column(&format!(
        "SELECT HEX(WEIGHT_STRING({} COLLATE {collation} {level})) FROM seq_0_to_{max}",
        chr("seq")
    ))?;
    let mut expansions: Vec<Vec<u16>> = Vec::new();
    let mut seen: HashMap<Vec<u16>, u16> = HashMap::new();
    let mut entries = Vec::with_capacity(rows.len());
    for (cp, hex) in rows.iter().enumerate() {
        let surrogate = (0xD800..0xE000).contains(&cp);
        let w = if surrogate { vec![] } else { parse_weights(hex, 4)? };
        let implicit = IMPLICIT.iter().find(|(_, base)| w.len() == 2 && w == implicit(*base, cp as u32));
        let entry = match (w.len(), implicit) {
            (0, _) if surrogate => 0xFFFF,
            (0, _) => 0,
            (_, Some((entry, _))) => *entry,
            (1, _) if w[0] < EXPANSION => w[0],
            _ => *seen.entry(w.clone()).or_insert_with(|| {
                expansions.push(w);
                EXPANSION + (expansions.len() - 1) as u16
            }),
        };
        entries.push(entry);
    }
    save(file, &page_file(&entries, &expansions))
}

fn implicit(base: u16, cp: u32) -> [u16; 2] {
    match base {
        0xFB00 => [base, (cp.wrapping_sub(0x17000) as u16) | 0x8000],
        0xFB01 => [base, (cp.wrapping_sub(0x1B170) as u16) | 0x8000],
        0xFB02 => [base, (cp.wrapping_sub(0x18B00) as u16) | 0x8000],
        _ => [base + (cp >> 15) as u16, (cp & 0x7FFF) as u16 | 0x8000],
    }
}

/// Case mappings: pairs of code points that differ, equal ones stored once.
fn case_tables(server: &Server, collations: &[String]) -> Result<()> {
    type Pairs = Vec<(u32, u32)>;
    let mut tables: Vec<[Pairs; 2]> = Vec::new();
    let mut names: BTreeMap<String, u8> = BTreeMap::new();
    for c in collations {
        let mut both: [Pairs; 2] = [vec![], vec![]];
        for (side, function) in ["UPPER", "LOWER"].iter().enumerate() {
            let x = chr("seq");
            let rows = server.rows(&format!(
                "SELECT seq, HEX(CONVERT({function}({x} COLLATE {c}) USING utf32)) FROM seq_0_to_131071 \
                 WHERE CAST({function}({x} COLLATE {c}) AS BINARY) <> CAST({x} AS BINARY)"
            ))?;
            for r in rows {
                let to = u32::from_str_radix(&r[1], 16).map_err(|e| format!("{c} {r:?}: {e}"))?;
                both[side].push((r[0].parse().map_err(|e| format!("{e}"))?, to));
            }
        }
        let at = tables.iter().position(|t| *t == both).unwrap_or_else(|| {
            tables.push(both);
            tables.len() - 1
        });
        names.insert(c.clone(), at as u8);
    }
    let mut out = vec![tables.len() as u8];
    for t in &tables {
        for side in t {
            put16(&mut out, side.len() as u16);
            for (from, to) in side {
                put24(&mut out, *from);
                put24(&mut out, *to);
            }
        }
    }
    save("case.bin", &out)?;
    let main = names["utf8mb4_general_ci"];
    println!("case tables: {} (general {main})", tables.len());
    for (n, t) in names.iter().filter(|(_, t)| **t != main) {
        println!("  {n}: {t}");
    }
    Ok(())
}

/// 8-bit sets: Unicode values, case, and weights of each collation but the multi-pass ones.
fn single_byte(server: &Server) -> Result<()> {
    let sets = server.column(
        "SELECT character_set_name FROM information_schema.character_sets \
         WHERE maxlen=1 AND character_set_name<>'binary' ORDER BY 1",
    )?;
    let mut out = vec![sets.len() as u8];
    let byte = "UNHEX(LPAD(HEX(seq),2,'0'))";
    for set in &sets {
        out.push(set.len() as u8);
        out.extend_from_slice(set.as_bytes());
        let x = format!("CONVERT({byte} USING {set})");
        let rows = server.rows(&format!(
            "SELECT seq, HEX(CONVERT({x} USING utf32)), HEX(UPPER({x})), HEX(LOWER({x})) FROM seq_0_to_255"
        ))?;
        for r in &rows {
            let cp = u32::from_str_radix(&r[1], 16).unwrap_or(0xFFFF);
            // An unassigned byte reads as a question mark.
            put16(&mut out, if cp == 0x3F && r[0] != "63" { 0xFFFF } else { cp as u16 });
        }
        for side in [2, 3] {
            for r in &rows {
                let b = u8::from_str_radix(&r[side], 16);
                out.push(b.unwrap_or(r[0].parse().map_err(|e| format!("{e}"))?));
            }
        }
        let collations = server.column(&format!(
            "SELECT collation_name FROM information_schema.collations WHERE character_set_name='{set}' \
             AND collation_name NOT LIKE '%nopad%' ORDER BY id"
        ))?;
        out.push(collations.len() as u8);
        for c in &collations {
            out.push(c.len() as u8);
            out.extend_from_slice(c.as_bytes());
            let rows = server.column(&format!("SELECT HEX(WEIGHT_STRING({x} COLLATE {c})) FROM seq_0_to_255"))?;
            for hex in rows {
                let w = parse_weights(&hex, 2)?;
                out.push(w.len() as u8);
                out.extend(w.iter().map(|&w| w as u8));
            }
        }
    }
    save("single_byte.bin", &out)
}

/// East Asian sets: codes, weights and case.
fn multi_byte(server: &Server) -> Result<()> {
    let sets = server.rows(
        "SELECT character_set_name, default_collate_name, maxlen FROM information_schema.character_sets \
         WHERE maxlen IN (2,3) AND character_set_name NOT IN ('ucs2','utf8mb3') ORDER BY 1",
    )?;
    let mut file = vec![sets.len() as u8];
    for row in &sets {
        let (set, collation) = (row[0].as_str(), row[1].as_str());
        let mut ranges = vec!["128_to_255", "32768_to_65535"];
        if row[2] == "3" {
            ranges.push("9404544_to_9437183");
        }
        let mut decoded: BTreeMap<u32, u32> = BTreeMap::new();
        for range in ranges {
            let rows = server.rows(&format!(
                "SELECT seq, HEX(CONVERT(CONVERT(UNHEX(HEX(seq)) USING {set}) USING utf32)) FROM seq_{range}"
            ))?;
            for r in rows.iter().filter(|r| r[1].len() == 8 && r[1] != "0000003F") {
                let code = r[0].parse().map_err(|e| format!("{e}"))?;
                decoded.insert(code, u32::from_str_radix(&r[1], 16).map_err(|e| e.to_string())?);
            }
        }
        let x = format!("CONVERT({} USING {set})", chr("seq"));
        let rows = server.rows(&format!(
            "SELECT seq, HEX({x}), HEX(WEIGHT_STRING({x} COLLATE {collation})), HEX(CONVERT(UPPER({x}) USING utf32)), \
             HEX(CONVERT(LOWER({x}) USING utf32)) FROM seq_0_to_65535 WHERE HEX({x}) <> '3F' OR seq = 63"
        ))?;
        let mut encoded: BTreeMap<u32, u32> = BTreeMap::new();
        let mut weights: BTreeMap<u32, String> = BTreeMap::new();
        let mut case: [Vec<(u32, u32)>; 2] = [vec![], vec![]];
        for r in rows {
            let cp: u32 = r[0].parse().map_err(|e| format!("{e}"))?;
            if (0xD800..0xE000).contains(&cp) {
                continue;
            }
            let code = u32::from_str_radix(&r[1], 16).map_err(|e| e.to_string())?;
            if cp >= 128 {
                encoded.insert(cp, code);
            } else if code != cp {
                println!("{set}: U+{cp:04X} is {code:X}");
            }
            for side in 0..2 {
                let to = u32::from_str_radix(&r[3 + side], 16).unwrap_or(cp);
                if to != cp && cp >= 128 {
                    case[side].push((cp, to));
                }
            }
            weights.insert(cp, r[2].clone());
        }
        let mut out = Vec::new();
        // Codes in runs.
        let mut runs: Vec<(u32, Vec<u32>)> = Vec::new();
        for (&code, &cp) in &decoded {
            match runs.last_mut() {
                Some((start, cps)) if *start + cps.len() as u32 == code => cps.push(cp),
                _ => runs.push((code, vec![cp])),
            }
        }
        put16(&mut out, runs.len() as u16);
        for (start, cps) in &runs {
            put24(&mut out, *start);
            put16(&mut out, cps.len() as u16);
            cps.iter().for_each(|&cp| put16(&mut out, cp as u16));
        }
        // Characters whose code is not the lowest one that stands for them.
        let mut lowest: BTreeMap<u32, u32> = BTreeMap::new();
        for (&code, &cp) in decoded.iter().rev() {
            lowest.insert(cp, code);
        }
        let all: std::collections::BTreeSet<u32> = lowest.keys().chain(encoded.keys()).copied().collect();
        let other: Vec<(u32, u32)> = all
            .into_iter()
            .filter(|cp| lowest.get(cp) != encoded.get(cp))
            .map(|cp| (cp, encoded.get(&cp).copied().unwrap_or(0)))
            .collect();
        put16(&mut out, other.len() as u16);
        for (cp, code) in &other {
            put16(&mut out, *cp as u16);
            put24(&mut out, *code);
        }
        for side in &case {
            put16(&mut out, side.len() as u16);
            for (from, to) in side {
                put24(&mut out, *from);
                put24(&mut out, *to);
            }
        }
        // Weights by rank, ASCII ones as they are.
        let distinct: std::collections::BTreeSet<&String> =
            weights.values().filter(|w| w.len() > 2 || w.as_str() >= "80").collect();
        let rank: HashMap<&String, u16> = distinct.iter().enumerate().map(|(i, w)| (*w, 128 + i as u16)).collect();
        let weight = |cp: u32| {
            let w = &weights[&cp];
            rank.get(w).copied().or_else(|| u16::from_str_radix(w, 16).ok()).unwrap_or(0xFFFD)
        };
        out.extend((0..128).map(|cp| weight(cp) as u8));
        let mut by_code: Vec<(String, u32)> = encoded.iter().map(|(&cp, &code)| (format!("{code:X}"), cp)).collect();
        by_code.sort();
        // big5_chinese_ci compares by code, whatever WEIGHT_STRING says.
        let in_order = set == "big5" || by_code.iter().enumerate().all(|(i, (_, cp))| weight(*cp) == 128 + i as u16);
        out.push(!in_order as u8);
        if !in_order {
            encoded.keys().for_each(|&cp| put16(&mut out, weight(cp)));
        }
        file.push(set.len() as u8);
        file.extend_from_slice(set.as_bytes());
        file.extend_from_slice(&(out.len() as u32).to_le_bytes());
        file.extend_from_slice(&out);
        println!(
            "{set}: {} codes, {} exceptions, case {}/{}, weights {}",
            decoded.len(),
            other.len(),
            case[0].len(),
            case[1].len(),
            if in_order { "in code order" } else { "listed" }
        );
    }
    save("multi_byte.bin", &file)
}

/// What a tailoring changes against its root: sequences of characters and their weights by level.
struct Changes {
    levels: usize,
    found: BTreeMap<Vec<u32>, Vec<Vec<u16>>>,
}

/// Characters whose neighbours are tried for contractions: those of one block with each other,
/// Latin letters with each other, letters with combining marks (of roots only).
const BLOCKS: &str = "(seq BETWEEN 768 AND 12543 OR seq BETWEEN 42128 AND 44031 OR seq BETWEEN 69632 AND 73727)";
const LATIN: &str = "seq BETWEEN 32 AND 591";
const LETTERS: &str = "seq BETWEEN 32 AND 8191";
const MARKS: &str = "seq BETWEEN 768 AND 879";

/// One collation and its levels, as the server is asked for them.
struct Asked<'a> {
    server: &'a Server,
    collation: &'a str,
    levels: &'a [&'a str],
}

impl Asked<'_> {
    fn weights(&self, x: &str) -> Vec<String> {
        let c = self.collation;
        self.levels.iter().map(|l| format!("WEIGHT_STRING({x} COLLATE {c} {l})")).collect()
    }

    /// SQL that fills a temporary table `name` with characters or texts and their weights.
    fn fill(&self, name: &str, n: &str, x: &str, from: &str) -> String {
        let columns: String = (0..self.levels.len()).map(|i| format!(", w{i} VARBINARY(200)")).collect();
        format!(
            "CREATE TEMPORARY TABLE {name} (n INT, k INT, c VARCHAR(4) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin \
             {columns}, KEY(k)); INSERT INTO {name} SELECT {n}, {n} DIV 128, {x}, {} FROM {from};",
            self.weights(x).join(", ")
        )
    }

    /// The query for neighbours in `a` and `b` whose weights are not those of the two put together.
    fn unlike(&self, join: &str) -> String {
        let both = self.weights("CONCAT(a.c,b.c)");
        let hex: Vec<String> = both.iter().map(|w| format!("HEX({w})")).collect();
        let differ: Vec<String> =
            both.iter().enumerate().map(|(i, w)| format!("{w} <> CONCAT(a.w{i},b.w{i})")).collect();
        format!(
            "SELECT HEX(CONVERT(CONCAT(a.c,b.c) USING utf32)), {} FROM a JOIN b ON {join} WHERE {}",
            hex.join(", "),
            differ.join(" OR ")
        )
    }

    fn changes(&self, root: Option<&Asked<'_>>, max: u32) -> Result<Changes> {
        let mut found = Changes { levels: self.levels.len(), found: BTreeMap::new() };
        let x = chr("seq");
        if let Some(root) = root {
            let own = self.weights(&x);
            let differ: Vec<String> = own.iter().zip(root.weights(&x)).map(|(a, b)| format!("{a} <> {b}")).collect();
            let hex: Vec<String> = own.iter().map(|w| format!("HEX({w})")).collect();
            found.take(self.server.rows(&format!(
                "SELECT HEX(CONVERT({x} USING utf32)), {} FROM seq_0_to_{max} WHERE {}",
                hex.join(", "),
                differ.join(" OR ")
            ))?)?;
        }
        let mut tried = vec![(BLOCKS, BLOCKS, "a.k = b.k"), (LATIN, LATIN, "1")];
        if root.is_none() {
            tried.push((LETTERS, MARKS, "1"));
        }
        for (first, second, join) in tried {
            let a = self.fill("a", "seq", &x, &format!("seq_32_to_73727 WHERE {first}"));
            let b = self.fill("b", "seq", &x, &format!("seq_32_to_73727 WHERE {second}"));
            found.take(self.server.rows(&format!("{a} {b} {}", self.unlike(join)))?)?;
        }
        // Longer ones begin with a contraction of two.
        let heads: Vec<String> = found
            .found
            .keys()
            .filter(|k| k.len() == 2)
            .map(|k| {
                let hex: String = k.iter().map(|c| format!("{c:08X}")).collect();
                format!("SELECT {} AS n, CONVERT(_utf32 x'{hex}' USING utf8mb4) AS x", k[0])
            })
            .collect();
        if !heads.is_empty() {
            let a = self.fill("a", "n", "x", &format!("({}) AS h", heads.join(" UNION ALL ")));
            let b = self.fill("b", "seq", &x, &format!("seq_32_to_73727 WHERE {BLOCKS} OR {LATIN}"));
            let join = "b.k = a.k OR b.n BETWEEN 768 AND 879 OR (a.n < 592 AND b.n < 592)";
            let mut longer = Changes { levels: self.levels.len(), found: BTreeMap::new() };
            longer.take(self.server.rows(&format!("{a} {b} {}", self.unlike(join)))?)?;
            for (k, v) in longer.found {
                // A character before a contraction of the other two is not one of three.
                let chained = found.found.contains_key(&k[1..]);
                if !chained || self.levels.is_empty() {
                    found.found.insert(k, v);
                }
            }
        }
        Ok(found)
    }
}

impl Changes {
    fn take(&mut self, rows: Vec<Vec<String>>) -> Result<()> {
        for r in rows {
            let key = (0..r[0].len() / 8)
                .map(|i| u32::from_str_radix(&r[0][i * 8..i * 8 + 8], 16).map_err(|e| e.to_string()))
                .collect::<Result<Vec<u32>>>()?;
            let weights = r[1..].iter().map(|w| parse_weights(w, 4)).collect::<Result<Vec<_>>>()?;
            self.found.insert(key, weights);
        }
        Ok(())
    }

    /// Takes away what the root has too.
    fn without(&mut self, root: &Changes) {
        self.found.retain(|k, v| root.found.get(k) != Some(v));
    }

    fn write(&self, out: &mut Vec<u8>, name: &str) {
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.push(self.levels as u8);
        put16(out, self.found.len() as u16);
        for (k, levels) in &self.found {
            out.push(k.len() as u8);
            k.iter().for_each(|&c| put24(out, c));
            for v in levels {
                out.push(v.len() as u8);
                v.iter().for_each(|&w| put16(out, w));
            }
        }
        let contractions = self.found.keys().filter(|k| k.len() > 1).count();
        println!("{name}: {} changes, {contractions} contractions", self.found.len());
    }
}

/// The contractions of the roots and the tailorings by language.
fn tailorings(server: &Server, utf8mb4: &[String]) -> Result<()> {
    const LEVELS: &[&str] = &["LEVEL 1", "LEVEL 2", "LEVEL 3"];
    let mut out = Vec::new();
    let mut count = 0u16;
    let root = Asked { server, collation: "utf8mb4_uca1400_as_cs", levels: LEVELS };
    let root_changes = root.changes(None, 1114111)?;
    root_changes.write(&mut out, "uca1400");
    count += 1;
    for c in utf8mb4 {
        let language = c.strip_prefix("utf8mb4_uca1400_").and_then(|c| c.strip_suffix("_as_cs"));
        if let Some(language) = language.filter(|l| !l.contains("nopad")) {
            let mut changes = Asked { server, collation: c, levels: LEVELS }.changes(Some(&root), 131071)?;
            changes.without(&root_changes);
            changes.write(&mut out, &format!("uca1400_{language}"));
            count += 1;
        }
    }
    let root = Asked { server, collation: "utf8mb4_unicode_ci", levels: &[""] };
    let old = |c: &&String| !["general", "unicode", "_bin", "uca1400", "nopad", "w2"].iter().any(|w| c.contains(w));
    for c in utf8mb4.iter().filter(old) {
        let changes = Asked { server, collation: c, levels: &[""] };
        let vietnamese = Asked { server, collation: "utf8mb4_unicode_520_ci", levels: &[""] };
        // Two of the old languages are built on 5.2.0: those whose weights are nearer to it.
        let on_400 = changes.changes(Some(&root), 65535)?;
        let on_520 = if on_400.found.len() > 2000 { Some(changes.changes(Some(&vietnamese), 1114111)?) } else { None };
        let language = c.trim_start_matches("utf8mb4_").trim_end_matches("_ci");
        match on_520 {
            Some(on_520) => on_520.write(&mut out, &format!("uca520_{language}")),
            None => on_400.write(&mut out, &format!("uca400_{language}")),
        }
        count += 1;
    }
    let thai_levels = &["LEVEL 1", "LEVEL 2"];
    let thai = Asked { server, collation: "utf8mb4_thai_520_w2", levels: thai_levels };
    // Level 2 is compared with itself: its table was taken from this very collation.
    let mut changes = thai.changes(None, 131071)?;
    let root = Asked { server, collation: "utf8mb4_unicode_520_ci", levels: &["LEVEL 1", "LEVEL 1"] };
    for (k, v) in (Asked { server, collation: "utf8mb4_thai_520_w2", levels: &["LEVEL 1"] })
        .changes(Some(&Asked { levels: &["LEVEL 1"], ..root }), 131071)?
        .found
    {
        changes.found.entry(k).or_insert_with(|| vec![v[0].clone(), Vec::new()]);
    }
    changes.write(&mut out, "uca520_thai");
    count += 1;
    let mut file = Vec::new();
    put16(&mut file, count);
    file.extend(out);
    save("tailorings.bin", &file)
}

/// The list of collations as Rust.
fn registry(server: &Server) -> Result<()> {
    let rows = server.rows(
        "SELECT a.id, a.full_collation_name, a.character_set_name, a.is_default='Yes', c.sortlen \
         FROM information_schema.collation_character_set_applicability a \
         JOIN information_schema.collations c ON c.collation_name=a.collation_name \
         AND (c.character_set_name IS NULL OR c.character_set_name=a.character_set_name) ORDER BY a.id",
    )?;
    let mut out = String::from(
        "//! MariaDB's collations: id, name, character set, whether it is the set's default, SORTLEN.\n\
         //! Generated by `cargo run -p xtask -- codegen collations SOCKET`; do not edit.\n\n\
         use super::Charset;\n\n/// One collation as information_schema.COLLATIONS has it.\n\
         pub(super) type Row = (u16, &'static str, Charset, bool, u8);\n\n\
         pub(super) static ROWS: &[Row] = &[\n",
    );
    for r in rows {
        let set = &r[2];
        let variant = format!("{}{}", set[..1].to_uppercase(), &set[1..]);
        let _ = writeln!(out, "    ({}, \"{}\", Charset::{variant}, {}, {}),", r[0], r[1], r[3] == "1", r[4]);
    }
    out.push_str("];\n");
    let path = data_dir().join("../registry_data.rs");
    std::fs::write(&path, out).map_err(|e| e.to_string())
}

/// Writes every data file.
pub fn generate(socket: &str) -> Result<()> {
    let server = Server { socket: socket.to_string() };
    server.rows("SELECT 1")?;
    let only = std::env::var("ONLY").unwrap_or_default();
    let want = |name: &str| only.is_empty() || only.split(',').any(|o| o == name);
    let utf8mb4 = server.column(
        "SELECT full_collation_name FROM information_schema.collation_character_set_applicability \
         WHERE character_set_name='utf8mb4' ORDER BY id",
    )?;
    if want("registry") {
        registry(&server)?;
    }
    if want("single_byte") {
        single_byte(&server)?;
    }
    if want("multi_byte") {
        multi_byte(&server)?;
    }
    if want("weights") {
        simple_table(&server, "utf8mb4_general_ci", "general_ci.bin")?;
        simple_table(&server, "utf8mb3_general_mysql500_ci", "general_mysql500_ci.bin")?;
        uca_table(&server, "utf8mb4_unicode_ci", "", 65535, "uca400_1.bin")?;
        uca_table(&server, "utf8mb4_unicode_520_ci", "", 1114111, "uca520_1.bin")?;
        uca_table(&server, "utf8mb4_thai_520_w2", "LEVEL 2", 1114111, "uca520_2.bin")?;
        for l in 1..=3 {
            let level = format!("LEVEL {l}");
            uca_table(&server, "utf8mb4_uca1400_as_cs", &level, 1114111, &format!("uca1400_{l}.bin"))?;
        }
    }
    if want("case") {
        case_tables(&server, &utf8mb4)?;
    }
    if want("tailorings") {
        tailorings(&server, &utf8mb4)?;
    }
    Ok(())
}
