//! Checksums, digests, encryption, compression, passwords, random bytes, UUIDs.

use std::io::{Read, Write};

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use md5::Digest;
use selkie_types::{Collation, SqlResult, Value, sql_err};

use super::args::{self, arg, bytes};
use super::encoding::{byte_capacity, raw};
use super::{Build, Call, Def, EvalFn, def};
use crate::bind::{BindCtx, attr, collation};
use crate::context::EvalContext;
use crate::ir::{Coercibility, Expr};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("md5", 1, 1, |cx, n, a| digest(cx, n, md5_hex, a, 32)),
    def("sha", 1, 1, |cx, _, a| digest(cx, "sha", sha1_hex, a, 40)),
    def("sha1", 1, 1, |cx, _, a| digest(cx, "sha", sha1_hex, a, 40)),
    def("sha2", 2, 2, bind_sha2),
    def("password", 1, 1, |cx, n, a| digest(cx, n, password, a, 41)),
    def("old_password", 1, 1, |cx, n, a| digest(cx, n, old_password, a, 16)),
    def("aes_encrypt", 2, 2, |cx, n, a| {
        let len = (byte_capacity(&a[0]) / 16 + 1) * 16;
        let nullable = a.iter().any(|e| e.nullable);
        binary(cx, n, aes_encrypt, a, len).map(|e| Expr { nullable, ..e })
    }),
    def("aes_decrypt", 2, 2, |cx, n, a| {
        let len = byte_capacity(&a[0]);
        binary(cx, n, aes_decrypt, a, len)
    }),
    def("compress", 1, 1, |cx, n, a| {
        let len = byte_capacity(&a[0]) * 120 / 100 + 12;
        let nullable = a.iter().any(|e| e.nullable);
        binary(cx, n, compress, a, len).map(|e| Expr { nullable, ..e })
    }),
    def("uncompress", 1, 1, |cx, n, a| {
        let max = cx.max_allowed_packet as u64;
        binary(cx, n, uncompress, a, max)
    }),
    def("uncompressed_length", 1, 1, |cx, n, a| {
        Build::new(n, uncompressed_length, texts(cx, a), attr::int4(10)).nullable(true).ok()
    }),
    def("encode", 2, 2, |cx, n, a| {
        let len = byte_capacity(&a[0]);
        let nullable = a.iter().any(|e| e.nullable);
        binary(cx, n, legacy_encode, a, len).map(|e| Expr { nullable, ..e })
    }),
    def("decode", 2, 2, |cx, n, a| {
        let len = byte_capacity(&a[0]);
        let nullable = a.iter().any(|e| e.nullable);
        binary(cx, n, legacy_decode, a, len).map(|e| Expr { nullable, ..e })
    }),
    def("random_bytes", 1, 1, |_, n, a| {
        let len = super::string::const_count(&a[0]).unwrap_or(1024).clamp(0, 1024) as u64;
        let a = a.into_iter().map(args::to_int).collect();
        Build::new(n, random_bytes, a, attr::text(len, Collation::BINARY)).nullable(true).volatile().ok()
    }),
    def("uuid", 0, 0, |_, n, a| {
        Build::new(n, uuid, a, attr::text(36, Collation::UTF8MB3_GENERAL_CI)).nullable(false).volatile().ok()
    }),
    def("sys_guid", 0, 0, |cx, n, a| {
        Build::new(n, uuid, a, attr::text(32, cx.collation_connection)).mode(1).nullable(false).volatile().ok()
    }),
];

fn texts(cx: &BindCtx, args: Vec<Expr>) -> Vec<Expr> {
    args.into_iter().map(|e| collation::to_text(cx, e)).collect()
}

/// A function of one text with a text result in the connection's collation.
fn digest(cx: &BindCtx, name: &'static str, eval: EvalFn, args: Vec<Expr>, len: u64) -> SqlResult<Expr> {
    let ty = attr::text(len, cx.collation_connection);
    Build::new(name, eval, texts(cx, args), ty).strength(Coercibility::Literal).ok()
}

fn binary(cx: &BindCtx, name: &'static str, eval: EvalFn, args: Vec<Expr>, len: u64) -> SqlResult<Expr> {
    Build::new(name, eval, texts(cx, args), attr::text(len, Collation::BINARY)).nullable(true).ok()
}

/// CRC32([start,] text), CRC32C
pub(super) fn bind_crc(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let two = args.len() == 2;
    let args = args
        .into_iter()
        .enumerate()
        .map(|(i, e)| if two && i == 0 { args::to_int(e) } else { collation::to_text(cx, e) })
        .collect();
    let ty = attr::int(selkie_types::IntWidth::Int, 10, true);
    Build::new(name, crc, args, ty).mode((name == "crc32c") as i64).ok()
}

fn crc(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let mut start = 0;
    if args.len() == 2 {
        start = args::int(&arg!(args, 0, row, ctx)) as u32;
    }
    let last = args.len() - 1;
    let v = arg!(args, last, row, ctx);
    let b = raw(bytes(&v), &args[last]);
    Ok(Value::UInt(if call.mode == 1 {
        crc32c(start, &b) as u64
    } else {
        let mut h = crc32fast::Hasher::new_with_initial(start);
        h.update(&b);
        h.finalize() as u64
    }))
}

/// CRC-32C (Castagnoli), reflected polynomial 0x82F63B78.
fn crc32c(start: u32, b: &[u8]) -> u32 {
    let mut crc = !start;
    for x in b {
        crc ^= *x as u32;
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 };
        }
    }
    !crc
}

fn md5_hex(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(Value::text(&hex::encode(md5::Md5::digest(raw(bytes(&v), &args[0])))))
}

fn sha1_hex(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(Value::text(&hex::encode(sha1::Sha1::digest(raw(bytes(&v), &args[0])))))
}

fn bind_sha2(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    let (Some(e), Some(bits)) = (it.next(), it.next()) else {
        return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name));
    };
    let len = match super::string::const_count(&bits) {
        Some(0 | 256) => 64,
        Some(224) => 56,
        Some(384) => 96,
        Some(_) | None => 128,
    };
    let args = vec![collation::to_text(cx, e), args::to_int(bits)];
    Build::new(name, sha2_hex, args, attr::text(len, cx.collation_connection)).nullable(true).ok()
}

fn sha2_hex(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let bits = args::int(&arg!(args, 1, row, ctx));
    let b = raw(bytes(&v), &args[0]);
    Ok(Value::text(&match bits {
        0 | 256 => hex::encode(sha2::Sha256::digest(&b)),
        224 => hex::encode(sha2::Sha224::digest(&b)),
        384 => hex::encode(sha2::Sha384::digest(&b)),
        512 => hex::encode(sha2::Sha512::digest(&b)),
        _ => {
            ctx.diag().warn(sql_err!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, call.name));
            return Ok(Value::Null);
        }
    }))
}

fn password(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = args[0].eval(row, ctx)?;
    let b = bytes(&v);
    if b.is_empty() {
        return Ok(Value::bytes(b""));
    }
    let twice = sha1::Sha1::digest(sha1::Sha1::digest(raw(b, &args[0])));
    Ok(Value::text(&format!("*{}", hex::encode_upper(twice))))
}

fn old_password(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    if b.is_empty() {
        return Ok(Value::bytes(b""));
    }
    let (a, b) = old_hash(b);
    Ok(Value::text(&format!("{a:08x}{b:08x}")))
}

/// The scramble of servers before 4.1: two 31-bit sums over the characters that are not blanks.
fn old_hash(b: &[u8]) -> (u64, u64) {
    let (mut nr, mut nr2, mut add): (u64, u64, u64) = (1_345_345_333, 0x1234_5671, 7);
    for c in b.iter().filter(|c| **c != b' ' && **c != b'\t') {
        let c = *c as u64;
        nr ^= ((nr & 63).wrapping_add(add)).wrapping_mul(c).wrapping_add(nr << 8);
        nr2 = nr2.wrapping_add((nr2 << 8) ^ nr);
        add = add.wrapping_add(c);
    }
    let mask = (1u64 << 31) - 1;
    (nr & mask, nr2 & mask)
}

/// The cipher of ENCODE and DECODE: a shuffled alphabet and a running shift, both from RAND's generator seeded by the
/// password. Kept for old data; it protects nothing.
struct Legacy {
    encoded: [u8; 256],
    decoded: [u8; 256],
    generator: super::math::Generator,
    shift: u32,
}

impl Legacy {
    fn new(password: &[u8]) -> Legacy {
        let (a, b) = old_hash(password);
        let mut generator = super::math::Generator::from_seeds(a, b);
        let mut decoded: [u8; 256] = std::array::from_fn(|i| i as u8);
        for i in 0..256 {
            decoded.swap((generator.next() * 255.0) as usize, i);
        }
        let mut encoded = [0; 256];
        for (i, d) in decoded.iter().enumerate() {
            encoded[*d as usize] = i as u8;
        }
        Legacy { encoded, decoded, generator, shift: 0 }
    }

    fn run(mut self, text: &[u8], encode: bool) -> Vec<u8> {
        let step = |c: &u8| {
            self.shift ^= (self.generator.next() * 255.0) as u32;
            if encode {
                let out = self.encoded[*c as usize] as u32 ^ self.shift;
                self.shift ^= *c as u32;
                return out as u8;
            }
            let plain = self.decoded[(*c as u32 ^ self.shift) as u8 as usize];
            self.shift ^= plain as u32;
            plain
        };
        text.iter().map(step).collect()
    }
}

fn legacy_encode(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (v, key) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    Ok(args::owned(Legacy::new(bytes(&key)).run(&raw(bytes(&v), &args[0]), true)))
}

fn legacy_decode(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (v, key) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    Ok(args::owned(Legacy::new(bytes(&key)).run(&raw(bytes(&v), &args[0]), false)))
}

/// Any key becomes 128 bits by adding its blocks.
fn aes_key(key: &[u8]) -> aes::Aes128 {
    let mut folded = [0u8; 16];
    for (i, b) in key.iter().enumerate() {
        folded[i % 16] ^= b;
    }
    aes::Aes128::new(&folded.into())
}

fn aes_encrypt(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let key = arg!(args, 1, row, ctx);
    let cipher = aes_key(&raw(bytes(&key), &args[1]));
    let mut data = raw(bytes(&v), &args[0]).into_owned();
    let pad = 16 - data.len() % 16;
    data.resize(data.len() + pad, pad as u8);
    for chunk in data.chunks_exact_mut(16) {
        let mut block = aes::Block::default();
        block.copy_from_slice(chunk);
        cipher.encrypt_block(&mut block);
        chunk.copy_from_slice(&block);
    }
    Ok(args::owned(data))
}

fn aes_decrypt(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let key = arg!(args, 1, row, ctx);
    let cipher = aes_key(&raw(bytes(&key), &args[1]));
    let mut data = raw(bytes(&v), &args[0]).into_owned();
    if data.is_empty() || !data.len().is_multiple_of(16) {
        return Ok(Value::Null);
    }
    for chunk in data.chunks_exact_mut(16) {
        let mut block = aes::Block::default();
        block.copy_from_slice(chunk);
        cipher.decrypt_block(&mut block);
        chunk.copy_from_slice(&block);
    }
    let pad = data.last().copied().unwrap_or(0) as usize;
    if pad == 0 || pad > 16 || !data[data.len() - pad..].iter().all(|b| *b as usize == pad) {
        return Ok(Value::Null);
    }
    data.truncate(data.len() - pad);
    Ok(args::owned(data))
}

fn compress(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = raw(bytes(&v), &args[0]);
    if b.is_empty() {
        return Ok(Value::bytes(b""));
    }
    let mut z = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    let Ok(packed) = z.write_all(&b).and_then(|()| z.finish()) else { return Ok(Value::Null) };
    let mut out = (b.len() as u32 & 0x3FFF_FFFF).to_le_bytes().to_vec();
    out.extend(packed);
    // A trailing blank would be lost in a CHAR column.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(args::owned(out))
}

fn packed_len(b: &[u8]) -> Option<u32> {
    let head: [u8; 4] = b.get(..4)?.try_into().ok()?;
    (b.len() > 4).then(|| u32::from_le_bytes(head) & 0x3FFF_FFFF)
}

fn uncompress(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    if b.is_empty() {
        return Ok(Value::bytes(b""));
    }
    let Some(len) = packed_len(b) else {
        ctx.diag().warn(sql_err!(ER_ZLIB_Z_DATA_ERROR));
        return Ok(Value::Null);
    };
    let max = ctx.settings().max_allowed_packet;
    if len as usize > max {
        ctx.diag().warn(sql_err!(ER_TOO_BIG_FOR_UNCOMPRESS, max));
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    let read = flate2::read::ZlibDecoder::new(&b[4..]).take(len as u64 + 1).read_to_end(&mut out);
    match read {
        Ok(n) if n <= len as usize => Ok(args::owned(out)),
        Ok(_) => {
            ctx.diag().warn(sql_err!(ER_ZLIB_Z_BUF_ERROR));
            Ok(Value::Null)
        }
        Err(_) => {
            ctx.diag().warn(sql_err!(ER_ZLIB_Z_DATA_ERROR));
            Ok(Value::Null)
        }
    }
}

fn uncompressed_length(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    if b.is_empty() {
        return Ok(Value::Int(0));
    }
    Ok(match packed_len(b) {
        Some(n) => Value::Int(n as i64),
        None => {
            ctx.diag().warn(sql_err!(ER_ZLIB_Z_DATA_ERROR));
            Value::Int(0)
        }
    })
}

fn random_bytes(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let n = args::wide(&arg!(args, 0, row, ctx));
    if !(0..=1024).contains(&n) {
        return Ok(Value::Null);
    }
    Ok(args::owned((0..n).map(|_| rand::random::<u8>()).collect()))
}

/// A version 1 UUID: the time in 100 ns since 1582, a counter, a random node.
fn uuid(call: &Call, _: &[Expr], _: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAST: AtomicU64 = AtomicU64::new(0);
    static NODE: std::sync::OnceLock<(u64, u16)> = std::sync::OnceLock::new();
    const GREGORIAN: u64 = 0x01B2_1DD2_1381_4000;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(ctx.settings().now_utc_micros as u64 * 10, |d| (d.as_nanos() / 100) as u64);
    // Never the same twice.
    let mut last = LAST.load(Ordering::Relaxed);
    let ticks = loop {
        let t = now.max(last + 1);
        match LAST.compare_exchange_weak(last, t, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => break t + GREGORIAN,
            Err(seen) => last = seen,
        }
    };
    let (node, clock) =
        *NODE.get_or_init(|| (rand::random::<u64>() & 0xFFFF_FFFF_FFFF | 1 << 40, rand::random::<u16>()));
    let text = uuid::Builder::from_fields(
        ticks as u32,
        (ticks >> 32) as u16,
        (ticks >> 48) as u16 & 0x0FFF | 0x1000,
        &[
            (clock >> 8) as u8 & 0x3F | 0x80,
            clock as u8,
            (node >> 40) as u8,
            (node >> 32) as u8,
            (node >> 24) as u8,
            (node >> 16) as u8,
            (node >> 8) as u8,
            node as u8,
        ],
    )
    .into_uuid();
    Ok(Value::text(&if call.mode == 1 {
        text.simple().to_string().to_uppercase()
    } else {
        text.hyphenated().to_string()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn castagnoli() {
        assert_eq!(crc32c(0, b"123456789"), 0xE306_9283);
    }
}
