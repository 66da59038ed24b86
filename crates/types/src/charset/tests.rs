//! Collations against MariaDB's answers, and keys against comparison.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use proptest::prelude::*;

use super::{Charset, Collation, LikePattern};

fn hash_of(c: Collation, s: &[u8]) -> u64 {
    let mut h = DefaultHasher::new();
    c.hash(s, &mut h);
    h.finish()
}

fn key_of(c: Collation, s: &[u8]) -> Vec<u8> {
    let mut k = Vec::new();
    c.weights(s, &mut k);
    k
}

/// Whatever two texts are: keys order as they compare, none begins another, hashes agree.
fn check_consistent(c: Collation, a: &[u8], b: &[u8]) {
    let order = c.compare(a, b);
    let (ka, kb) = (key_of(c, a), key_of(c, b));
    let name = c.name();
    assert_eq!(ka.cmp(&kb), order, "{name}: keys of {a:02X?} and {b:02X?}: {ka:02X?} {kb:02X?}");
    assert_eq!(c.compare(b, a), order.reverse(), "{name}: {a:02X?} {b:02X?}");
    assert_eq!(c.equal(a, b), order.is_eq(), "{name}: {a:02X?} {b:02X?}");
    if order.is_eq() {
        assert_eq!(hash_of(c, a), hash_of(c, b), "{name}: {a:02X?} {b:02X?}");
    } else {
        assert!(!ka.starts_with(&kb) && !kb.starts_with(&ka), "{name}: {a:02X?} {b:02X?}");
    }
    for invert in [0, 0xFF] {
        let followed: Vec<u8> = ka.iter().chain(b"\x20\x02\0\0\x02").map(|x| x ^ invert).collect();
        assert_eq!(c.key_len(&followed, invert), Some(ka.len()), "{name}: length of the key of {a:02X?}");
        assert_eq!(c.key_len(&followed[..ka.len() - 1], invert), None, "{name}: {a:02X?} cut off");
    }
}

/// The key of a text begins as its prefixes' do.
fn check_prefix(c: Collation, a: &[u8], b: &[u8]) {
    let mut prefix = Vec::new();
    c.weights_prefix(a, &mut prefix);
    let longer = [a, b].concat();
    assert!(key_of(c, &longer).starts_with(&prefix), "{}: {a:02X?} is no key prefix of {longer:02X?}", c.name());
}

fn unhex(s: &str) -> Vec<u8> {
    (0..s.len() / 2).map(|i| u8::from_str_radix(&s[i * 2..i * 2 + 2], 16).expect("hex")).collect()
}

/// Checks a fixture's lines; returns how many there were and what was wrong.
fn check_fixture(file: &str) -> (usize, Vec<String>) {
    let (mut n, mut wrong) = (0, Vec::new());
    for line in file.lines() {
        let f: Vec<&str> = line.split('\t').collect();
        let [name, a, b, cmp, like, upper, lower] = f[..] else { panic!("{line}") };
        let Some(c) = Collation::by_name(name) else {
            wrong.push(format!("{name}: unknown"));
            continue;
        };
        n += 1;
        let (a, b) = (unhex(a), unhex(b));
        let show = || format!("{name}: {:?} {:?}", String::from_utf8_lossy(&a), String::from_utf8_lossy(&b));
        let got = c.compare(&a, &b) as i32;
        if cmp != got.to_string() {
            wrong.push(format!("{} compare {got} not {cmp}", show()));
        }
        let got = c.like(&a, &b, Some('\\')) as i32;
        if like != got.to_string() {
            wrong.push(format!("{} like {got} not {like}", show()));
        }
        if LikePattern::new(c, &b, Some('\\')).matches(&a) as i32 != got {
            wrong.push(format!("{} prepared pattern differs", show()));
        }
        if c.upper(&a) != unhex(upper) {
            wrong.push(format!("{} upper", show()));
        }
        if c.lower(&a) != unhex(lower) {
            wrong.push(format!("{} lower", show()));
        }
        check_consistent(c, &a, &b);
        check_prefix(c, &a, &b);
    }
    (n, wrong)
}

/// The pattern of this fixture (40 pairs each): `^(utf8mb4_(general|unicode|bin|czech|myanmar|thai|croatian|german2|
/// turkish|uca1400_a._c[si]|uca1400_(czech|danish|turkish)_nopad_a._ci)|latin1|cp1251_general_ci|gbk_chinese_ci|ujis|
/// utf16_general_ci|binary)`.
#[test]
fn as_mariadb() {
    let (n, wrong) = check_fixture(include_str!("testdata/mariadb.tsv"));
    assert!(n > 1000, "{n} lines");
    assert!(wrong.is_empty(), "{} wrong of {n}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// A larger fixture, made on the spot: `COLLATION_FIXTURE=file cargo test -- --ignored`.
#[test]
#[ignore = "needs a fixture file"]
fn as_mariadb_at_length() {
    let path = std::env::var("COLLATION_FIXTURE").expect("COLLATION_FIXTURE");
    let (n, wrong) = check_fixture(&std::fs::read_to_string(path).expect("fixture"));
    println!("{} wrong of {n}:\n{}", wrong.len(), wrong[..wrong.len().min(2000)].join("\n"));
    assert!(n > 0 && wrong.is_empty());
}

fn some_collation() -> impl Strategy<Value = Collation> {
    prop_oneof![
        Just(Collation::UTF8MB4_GENERAL_CI),
        Just(Collation::UTF8MB4_BIN),
        Just(Collation::BINARY),
        proptest::sample::select(Collation::all()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let c = prop_oneof![
        4 => proptest::sample::select(" aAbBcCzZßÄäéE\t\u{1}\0\u{a0}\u{ad}\u{301}hHchlLnjsS日😀เก".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    proptest::collection::vec(c, 0..8).prop_map(|v| v.into_iter().collect())
}

/// Bytes that are often pieces of characters.
fn broken() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        proptest::sample::select(b" aA\xC3\xA9\x80\xE2\x82\xAC\xF0\x9F\x98\xE0\xED\xA0".to_vec()),
        any::<u8>()
    ];
    proptest::collection::vec(byte, 0..7)
}

proptest! {
    #[test]
    fn keys_order_as_texts_compare(c in some_collation(), a in text(), b in text(), common in text()) {
        check_consistent(c, a.as_bytes(), b.as_bytes());
        check_prefix(c, a.as_bytes(), b.as_bytes());
        check_consistent(c, (common.clone() + &a).as_bytes(), (common + &b).as_bytes());
    }

    #[test]
    fn any_bytes_are_compared_without_panic(c in some_collation(), a: Vec<u8>, b: Vec<u8>) {
        c.compare(&a, &b);
        key_of(c, &a);
        hash_of(c, &a);
        c.like(&a, &b, Some('\\'));
        c.upper(&a);
        c.lower(&b);
        c.find(&a, &b, 0);
        c.substring(&a, 2, 3);
        c.reverse(&a);
        c.key_len(&a, 0);
        c.charset().decode(&a).ok();
        c.charset().encode(&a);
        prop_assert_eq!(c.equal(&a, &a), true);
    }

    #[test]
    fn broken_characters_keep_an_order(c in some_collation(), a in broken(), b in broken(), common in broken()) {
        check_consistent(c, &a, &b);
        check_consistent(c, &[&common[..], &a].concat(), &[&common[..], &b].concat());
    }

    #[test]
    fn transitive(c in some_collation(), mut v in proptest::collection::vec(text(), 3)) {
        v.sort_by(|a, b| c.compare(a.as_bytes(), b.as_bytes()));
        prop_assert!(c.compare(v[0].as_bytes(), v[2].as_bytes()).is_le());
    }

    #[test]
    fn sets_give_back_what_they_hold(set in proptest::sample::select(Charset::all().collect::<Vec<_>>()), s in text()) {
        let (bytes, lost) = set.encode(s.as_bytes());
        prop_assert_eq!(lost == 0, set.can_hold(s.as_bytes()));
        prop_assert_eq!(bytes.len(), set.byte_len(s.as_bytes()));
        let (restricted, lost_too) = set.restrict(s.as_bytes());
        prop_assert_eq!(lost, lost_too);
        prop_assert_eq!(set.decode(&bytes), Ok(restricted));
    }
}

#[test]
fn pads_with_spaces() {
    for name in ["utf8mb4_general_ci", "utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_unicode_ci"] {
        let c = Collation::by_name(name).expect("known");
        assert!(c.equal(b"a", b"a   "), "{name}");
        assert!(c.compare(b"a ", b"a b").is_lt(), "{name}");
    }
    for name in ["utf8mb4_general_ci", "utf8mb4_bin", "latin1_swedish_ci"] {
        let c = Collation::by_name(name).expect("known");
        assert!(c.compare(b"a\t", b"a").is_lt(), "{name}");
        assert!(c.compare(b"a \t", b"a").is_lt(), "{name}");
        assert!(c.compare(b"a \tz", b"a  \t").is_lt(), "{name}");
    }
    let c = Collation::by_name("utf8mb4_general_nopad_ci").expect("known");
    assert!(c.compare(b"a", b"a\t").is_lt() && !c.equal(b"a", b"a "));
}

#[test]
fn like_goes_back_only_to_the_last_wildcard() {
    let text = "a".repeat(20_000);
    let pattern = "%a".repeat(60) + "%b";
    for c in [Collation::UTF8MB4_GENERAL_CI, Collation::BINARY] {
        assert!(!c.like(text.as_bytes(), pattern.as_bytes(), None));
    }
}

#[test]
fn names() {
    assert_eq!(Collation::by_name("UTF8_General_CI"), Some(Collation::UTF8MB3_GENERAL_CI));
    assert_eq!(Collation::by_name("utf8mb4_0900_ai_ci").map(Collation::name), Some("utf8mb4_uca1400_nopad_ai_ci"));
    assert_eq!(
        Collation::by_name("utf8mb4_es_trad_0900_as_cs").map(Collation::name),
        Some("utf8mb4_uca1400_spanish2_nopad_as_cs")
    );
    assert_eq!(Collation::by_name("utf8mb4_klingon_ci"), None);
    assert_eq!(Collation::by_name_in(Charset::Utf8mb3, "uca1400_ai_ci").map(|c| c.0), Some(2048));
    assert_eq!(Charset::by_name("UTF8"), Some(Charset::Utf8mb3));
    assert_eq!(Charset::Latin1.default_collation(), Collation::LATIN1_SWEDISH_CI);
    assert_eq!(Charset::Latin1.bin_collation().name(), "latin1_bin");
    assert_eq!(Charset::Binary.bin_collation(), Collation::BINARY);
    assert!(Collation(63).is_binary() && Collation(63).is_bin() && Collation(63).no_pad());
    for set in Charset::all() {
        assert_eq!(set.default_collation().charset(), set, "{}", set.name());
        assert_eq!(set.bin_collation().charset(), set, "{}", set.name());
        assert_eq!(Charset::by_name(set.name()), Some(set));
    }
    for c in Collation::all() {
        assert_eq!(Collation::by_name(c.name()), Some(*c));
    }
}

#[test]
fn sets() {
    let latin1 = Charset::Latin1;
    assert_eq!(latin1.encode("a€日".as_bytes()), (Cow::Owned(vec![b'a', 0x80, b'?']), 1));
    assert_eq!(latin1.decode(&[b'a', 0x80, 0xE9]).as_deref(), Ok("a€é".as_bytes()));
    assert_eq!(Charset::Utf8mb3.encode("x😀".as_bytes()), (Cow::Owned(b"x?".to_vec()), 1));
    assert_eq!(Charset::Utf8mb3.decode("x😀".as_bytes()), Err(1));
    assert_eq!(Charset::Ascii.decode(b"ab\xe9"), Err(2));
    assert_eq!(Charset::Utf16.encode("a😀".as_bytes()).0.as_ref(), b"\0a\xD8\x3D\xDE\x00");
    assert_eq!(Charset::Utf16le.decode(b"a\0\x3D\xD8\x00\xDE").as_deref(), Ok("a😀".as_bytes()));
    assert_eq!(Charset::Utf16.decode(b"\xD8\x3D\0a"), Err(0));
    assert_eq!(Charset::Utf8mb4.decode(b"ab\xff"), Err(2));
}
