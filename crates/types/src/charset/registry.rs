//! Which collations there are, and what each one sorts by.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use super::case::{self, Case, Family};
use super::registry_data::ROWS;
use super::table::{Reader, Table};
use super::{Charset, Collation, multi_byte, single_byte};

/// What a collation sorts by.
pub(super) enum Order {
    /// The bytes of UTF-8, which sort as code points do.
    Bytes,
    /// One weight a character.
    Single(&'static Table),
    /// Any number of weights a character, level by level.
    Many(Vec<&'static Table>),
}

/// One collation.
pub(super) struct Info {
    pub id: u16,
    pub name: &'static str,
    pub charset: Charset,
    pub is_default: bool,
    pub sortlen: u8,
    /// PAD SPACE: trailing spaces do not count.
    pub pad: bool,
    pub is_bin: bool,
    order: OnceLock<Order>,
    case: OnceLock<&'static Case>,
}

/// Names that MySQL 8 dumps bring, and what they mean here.
const LANGUAGES_0900: &[(&str, &str)] = &[
    ("cs", "czech"),
    ("da", "danish"),
    ("de_pb", "german2"),
    ("eo", "esperanto"),
    ("es", "spanish"),
    ("es_trad", "spanish2"),
    ("et", "estonian"),
    ("hr", "croatian"),
    ("hu", "hungarian"),
    ("is", "icelandic"),
    ("la", "roman"),
    ("lt", "lithuanian"),
    ("lv", "latvian"),
    ("pl", "polish"),
    ("ro", "romanian"),
    ("sk", "slovak"),
    ("sl", "slovenian"),
    ("sv", "swedish"),
    ("tr", "turkish"),
    ("vi", "vietnamese"),
];

struct Registry {
    /// Sorted by id.
    infos: Vec<Info>,
    ids: Vec<Collation>,
    /// Position in `infos` plus one by id, 0 for unknown ids.
    by_id: Vec<u16>,
    by_name: HashMap<&'static str, u16>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut infos: Vec<Info> = ROWS
        .iter()
        .map(|&(id, name, charset, is_default, sortlen)| Info {
            id,
            name,
            charset,
            is_default,
            sortlen,
            pad: charset != Charset::Binary && !name.contains("nopad"),
            is_bin: name.ends_with("bin") || charset == Charset::Binary,
            order: OnceLock::new(),
            case: OnceLock::new(),
        })
        .collect();
    infos.sort_by_key(|i| i.id);
    let mut by_id = vec![0; infos.last().map_or(0, |i| i.id as usize + 1)];
    let mut by_name = HashMap::new();
    for (at, info) in infos.iter().enumerate() {
        by_id[info.id as usize] = at as u16 + 1;
        by_name.insert(info.name, info.id);
    }
    Registry { ids: infos.iter().map(|i| Collation(i.id)).collect(), infos, by_id, by_name }
});

/// The collation of that id; `binary` for ids that this server does not have.
#[inline]
pub(super) fn info(id: u16) -> &'static Info {
    let r: &'static Registry = &REGISTRY;
    let at = r.by_id.get(id as usize).copied().unwrap_or(0);
    match r.infos.get((at as usize).wrapping_sub(1)) {
        Some(i) => i,
        None => &r.infos[r.by_id[Collation::BINARY.0 as usize] as usize - 1],
    }
}

pub(super) fn is_known(id: u16) -> bool {
    REGISTRY.by_id.get(id as usize).is_some_and(|&at| at != 0)
}

pub(super) fn all() -> &'static [Collation] {
    &REGISTRY.ids
}

pub(super) fn default_of(set: Charset, bin: bool) -> Collation {
    let found = REGISTRY
        .infos
        .iter()
        .find(|i| i.charset == set && if bin { i.is_bin && (i.pad || set == Charset::Binary) } else { i.is_default });
    found.map_or(Collation::BINARY, |i| Collation(i.id))
}

/// By name in lower case, MySQL's 0900 names included.
pub(super) fn by_name(name: &str) -> Option<Collation> {
    let r: &'static Registry = &REGISTRY;
    if let Some(&id) = r.by_name.get(name) {
        return Some(Collation(id));
    }
    if let Some(rest) = name.strip_prefix("utf8_") {
        return r.by_name.get(format!("utf8mb3_{rest}").as_str()).map(|&id| Collation(id));
    }
    let rest = name.strip_prefix("utf8mb4_")?;
    let mapped = match rest.split_once("0900_")? {
        ("", "bin") => "utf8mb4_nopad_bin".to_string(),
        ("", strength) => format!("utf8mb4_uca1400_nopad_{strength}"),
        (language, strength) => {
            let language = language.strip_suffix('_')?;
            let (_, ours) = LANGUAGES_0900.iter().find(|(theirs, _)| *theirs == language)?;
            format!("utf8mb4_uca1400_{ours}_nopad_{strength}")
        }
    };
    r.by_name.get(mapped.as_str()).map(|&id| Collation(id))
}

impl Info {
    /// The name without its character set.
    fn suffix(&self) -> &'static str {
        self.name.strip_prefix(self.charset.name()).and_then(|s| s.strip_prefix('_')).unwrap_or(self.name)
    }

    /// Whether a level (0-based) is padded: NO PAD is only of the first, as MariaDB compares.
    pub fn pad_at(&self, level: usize) -> bool {
        self.pad || level > 0
    }

    #[inline]
    pub fn order(&self) -> &Order {
        self.order.get_or_init(|| self.make_order())
    }

    fn make_order(&self) -> Order {
        if self.charset == Charset::Binary || self.is_bin && self.charset.is_unicode() {
            return Order::Bytes;
        }
        let tables = if self.charset.is_unicode() && self.charset != Charset::Ascii {
            unicode_tables(self.suffix())
        } else {
            vec![table(&self.name.replace("_nopad", ""))]
        };
        match tables.as_slice() {
            [t] if t.single => Order::Single(t),
            _ => Order::Many(tables),
        }
    }

    pub fn case(&self) -> &'static Case {
        let set = self.charset.name();
        self.case.get_or_init(|| match (single_byte::get(set), multi_byte::get(set)) {
            (Some(s), _) => &s.case,
            (_, Some(m)) => &m.case,
            _ => case::unicode(Family::of(self.suffix())),
        })
    }
}

/// The levels of a Unicode collation, from its name without the character set.
fn unicode_tables(suffix: &str) -> Vec<&'static Table> {
    let name = suffix.replace("_nopad", "");
    if let Some(rest) = name.strip_prefix("uca1400_") {
        let words: Vec<&str> = rest.rsplitn(3, '_').collect();
        let language = words.get(2).map_or(String::new(), |l| format!("_{l}"));
        let mut levels = vec![0];
        if words.get(1) == Some(&"as") {
            levels.push(1);
        }
        if words.first() == Some(&"cs") {
            levels.push(2);
        }
        return levels.into_iter().map(|l| table(&format!("uca1400{language}/{l}"))).collect();
    }
    match name.as_str() {
        "general_ci" | "general_mysql500_ci" => vec![table(&name)],
        "unicode_ci" => vec![table("uca400/0")],
        "unicode_520_ci" => vec![table("uca520/0")],
        "thai_520_w2" => vec![table("uca520_thai/0"), table("uca520_thai/1")],
        _ => {
            let language = name.trim_end_matches("_ci");
            let on_520 = format!("uca520_{language}");
            let version = if TAILORINGS.contains_key(on_520.as_str()) { "520" } else { "400" };
            vec![table(&format!("uca{version}_{language}/0"))]
        }
    }
}

/// Tables are made when first used and kept for good.
fn table(key: &str) -> &'static Table {
    static TABLES: LazyLock<Mutex<HashMap<String, &'static Table>>> = LazyLock::new(Mutex::default);
    if let Some(t) = TABLES.lock().unwrap_or_else(PoisonError::into_inner).get(key) {
        return t;
    }
    // Made without the lock, since a tailoring asks for its root; a race only makes one twice.
    let made: &'static Table = Box::leak(Box::new(make_table(key)));
    TABLES.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_string()).or_insert(made)
}

fn make_table(key: &str) -> Table {
    let Some((family, level)) = key.split_once('/') else {
        return match key {
            "general_ci" => Table::load(include_bytes!("data/general_ci.bin"), true),
            "general_mysql500_ci" => Table::load(include_bytes!("data/general_mysql500_ci.bin"), true),
            _ => {
                let set = key.split('_').next().unwrap_or_default();
                let single = single_byte::get(set).and_then(|s| s.table(key));
                let table = single.or_else(|| multi_byte::get(set).map(|m| m.table(key.ends_with("_bin"))));
                table.unwrap_or_else(|| Table::load(&[], true))
            }
        };
    };
    let level: usize = level.parse().unwrap_or(0);
    let (version, language) = family.split_once('_').unwrap_or((family, ""));
    let root = if language.is_empty() {
        let pages: &[u8] = match (version, level) {
            ("uca400", _) => include_bytes!("data/uca400_1.bin"),
            ("uca520", 0) => include_bytes!("data/uca520_1.bin"),
            ("uca520", _) => include_bytes!("data/uca520_2.bin"),
            (_, 0) => include_bytes!("data/uca1400_1.bin"),
            (_, 1) => include_bytes!("data/uca1400_2.bin"),
            _ => include_bytes!("data/uca1400_3.bin"),
        };
        Table::load(pages, false)
    } else {
        table(&format!("{version}/{level}")).clone()
    };
    match TAILORINGS.get(family) {
        Some(data) => {
            let changes = read_tailoring(data, level);
            root.tailored(changes.iter().map(|(chars, weights)| (chars.as_slice(), weights.as_slice())))
        }
        None => root,
    }
}

/// Where each tailoring begins in the file: at its number of levels.
static TAILORINGS: LazyLock<HashMap<&'static str, &'static [u8]>> = LazyLock::new(|| {
    let mut r = Reader(include_bytes!("data/tailorings.bin"));
    let count = r.u16();
    (0..count)
        .map(|_| {
            let name = r.text();
            let data = r.0;
            let levels = r.u8();
            for _ in 0..r.u16() {
                let n = r.u8() as usize;
                r.bytes(n * 3);
                for _ in 0..levels {
                    let n = r.u8() as usize;
                    r.bytes(n * 2);
                }
            }
            (name, data)
        })
        .collect()
});

/// The changes of one level (0-based).
fn read_tailoring(data: &'static [u8], level: usize) -> Vec<(Vec<u32>, Vec<u16>)> {
    let mut r = Reader(data);
    let levels = r.u8() as usize;
    let count = r.u16();
    (0..count)
        .map(|_| {
            let n = r.u8();
            let chars = (0..n).map(|_| r.u24()).collect();
            let mut weights = Vec::new();
            for l in 0..levels {
                let n = r.u8() as usize;
                let w = r.u16s(n);
                if l == level {
                    weights = w;
                }
            }
            (chars, weights)
        })
        .collect()
}
