//! MariaDB's compression of query texts and row images (`log_bin_compress`): one byte
//! `0x80 | algorithm << 4 | n`, the uncompressed length in `n` bytes (most significant first), then a zlib stream.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::DecodeError;
use crate::wire::WireReader;

const MARK: u8 = 0x80;
const ALGORITHM_MASK: u8 = 0x70;
const LENGTH_MASK: u8 = 0x07;
/// As far as an event can reach (`max_allowed_packet`'s limit).
const UNCOMPRESSED_LEN_MAX: u64 = 1 << 30;

/// The uncompressed bytes.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    const WHAT: &str = "compressed data";
    let mut r = WireReader::new(bytes);
    let head = r.u8(WHAT)?;
    if head & MARK == 0 || head & ALGORITHM_MASK != 0 {
        return Err(DecodeError::Malformed { what: WHAT });
    }
    let length = r.uint_be(usize::from(head & LENGTH_MASK), WHAT)?;
    if length > UNCOMPRESSED_LEN_MAX {
        return Err(DecodeError::Malformed { what: WHAT });
    }
    let rest = r.take_rest();
    // The stated length is not trusted with memory before the stream has proved it.
    let mut out = Vec::with_capacity((length as usize).min(rest.len().saturating_mul(8)));
    ZlibDecoder::new(rest)
        .take(length + 1)
        .read_to_end(&mut out)
        .map_err(|_| DecodeError::Malformed { what: WHAT })?;
    if out.len() as u64 != length {
        Err(DecodeError::Malformed { what: WHAT })
    } else {
        Ok(out)
    }
}

/// Appends the compressed form.
pub fn compress(bytes: &[u8], out: &mut Vec<u8>) {
    let length = (bytes.len() as u64).to_be_bytes();
    let skip = length.iter().take_while(|b| **b == 0).count().min(7);
    out.push(MARK | (8 - skip) as u8);
    out.extend_from_slice(&length[skip..]);
    let mut encoder = ZlibEncoder::new(out, Compression::default());
    // Writing into a vector cannot fail.
    let _ = encoder.write_all(bytes).and_then(|()| encoder.try_finish());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        for n in [0, 1, 255, 256, 70_000] {
            let data: Vec<u8> = (0..n).map(|i| (i % 7) as u8).collect();
            let mut out = Vec::new();
            compress(&data, &mut out);
            assert_eq!(decompress(&out), Ok(data));
        }
        assert!(decompress(&[]).is_err());
        assert!(decompress(&[0x81, 200, 1, 2]).is_err());
        assert!(decompress(&[0x84, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
    }
}
