//! The values of literal tokens: quotes and escapes taken away.

/// The bytes between a token's quotes, doubled quotes and (if there are any) escapes resolved.
///
/// `quoted` includes both quotes.
pub(crate) fn unquote(quoted: &[u8], escapes: bool) -> Vec<u8> {
    let quote = quoted[0];
    let inner = &quoted[1..quoted.len() - 1];
    let special = if escapes {
        memchr::memchr2(quote, b'\\', inner)
    } else {
        memchr::memchr(quote, inner)
    };
    let Some(first) = special else {
        return inner.to_vec();
    };
    let mut out = Vec::with_capacity(inner.len());
    out.extend_from_slice(&inner[..first]);
    let mut rest = &inner[first..];
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == quote {
            // The lexer let only doubled quotes through.
            out.push(quote);
            rest = rest.get(1..).unwrap_or(&[]);
        } else if byte == b'\\' && escapes {
            let Some((&escaped, after)) = rest.split_first() else {
                break;
            };
            rest = after;
            match escaped {
                b'0' => out.push(0),
                b'b' => out.push(8),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b't' => out.push(b'\t'),
                b'Z' => out.push(26),
                // Kept for LIKE, which has escapes of its own.
                b'%' | b'_' => out.extend_from_slice(&[b'\\', escaped]),
                other => out.push(other),
            }
        } else {
            out.push(byte);
        }
    }
    out
}

/// Pairs of hexadecimal digits to bytes; an odd first digit stands alone.
pub(crate) fn unhex(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    let odd = digits.len() % 2;
    let mut out = Vec::with_capacity(digits.len().div_ceil(2));
    if odd == 1 {
        out.push(value(digits[0]));
    }
    out.extend(
        digits[odd..]
            .chunks_exact(2)
            .map(|pair| value(pair[0]) << 4 | value(pair[1])),
    );
    out
}

/// Binary digits to big-endian bytes.
pub(crate) fn unbit(digits: &[u8]) -> Vec<u8> {
    digits
        .rchunks(8)
        .rev()
        .map(|byte| byte.iter().fold(0, |value, bit| value << 1 | (bit - b'0')))
        .collect()
}

/// Takes the marks of executable comments out of a text, as MariaDB does before it names a column by it;
/// other comments stay.
pub(crate) fn without_executable_marks(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let mark = if rest.starts_with(b"/*!") { 3 } else { 4 };
        if rest.starts_with(b"/*!") || rest.starts_with(b"/*M!") {
            let digits = rest[mark..]
                .iter()
                .take(6)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            at += mark + if digits >= 5 { digits } else { 0 };
        } else if rest.starts_with(b"*/") {
            at += 2;
        } else if rest.starts_with(b"/*") {
            let len = rest
                .windows(2)
                .position(|pair| pair == b"*/")
                .map_or(rest.len(), |end| end + 2);
            out.extend_from_slice(&rest[..len]);
            at += len;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// A name's text; bytes that are not UTF-8 become replacement characters.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{unbit, unhex, unquote, without_executable_marks};

    #[test]
    fn strings() {
        assert_eq!(unquote(b"'it''s'", true), b"it's");
        assert_eq!(
            unquote(br"'a\nb\%\_\q\0\Z\\'", true),
            b"a\nb\\%\\_q\0\x1a\\"
        );
        assert_eq!(unquote(br"'a\n'", false), br"a\n");
        assert_eq!(unquote(b"``````", false), b"``");
        assert_eq!(unquote(b"''", true), b"");
    }

    #[test]
    fn executable_marks() {
        assert_eq!(without_executable_marks(b"a /*!50000 + 1 */"), b"a  + 1 ");
        assert_eq!(
            without_executable_marks(b"a /* x */ + /*M! 1"),
            b"a /* x */ +  1"
        );
    }

    #[test]
    fn digits() {
        assert_eq!(unhex(b"4D7953"), b"MyS");
        assert_eq!(unhex(b"abc"), [0x0a, 0xbc]);
        assert_eq!(unbit(b"1000000001"), [2, 1]);
        assert_eq!(unbit(b""), []);
    }
}
