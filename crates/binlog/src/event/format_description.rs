//! Format_description: the first event of every file; tells the format of those behind it.

use bytes::Bytes;

use super::{CHECKSUM_LEN, ChecksumAlg, EventType, HEADER_LEN};
use crate::DecodeError;
use crate::wire::{WirePut, WireReader, utf8};

const VERSION_LEN: usize = 50;

/// Lengths of the fixed parts of the events 1 to 171, as MariaDB 10.11 lists them.
pub const POST_HEADER_LENGTHS: [u8; EventType::LAST.0 as usize] = post_header_lengths();

const fn post_header_lengths() -> [u8; EventType::LAST.0 as usize] {
    const LENGTHS: [(u8, u8); 31] = [
        (1, 56),
        (2, 13),
        (4, 8),
        (6, 18),
        (8, 4),
        (9, 4),
        (10, 4),
        (11, 4),
        (12, 18),
        (15, (57 + EventType::LAST.0 as usize) as u8),
        (17, 4),
        (18, 26),
        (19, 8),
        (23, 8),
        (24, 8),
        (25, 8),
        (26, 2),
        (30, 10),
        (31, 10),
        (32, 10),
        (39, 10),
        (40, 10),
        (41, 10),
        (161, 4),
        (162, 19),
        (163, 4),
        (165, 13),
        (166, 8),
        (167, 8),
        (168, 8),
        (169, 10),
    ];
    let mut out = [0; EventType::LAST.0 as usize];
    let mut i = 0;
    while i < LENGTHS.len() {
        out[LENGTHS[i].0 as usize - 1] = LENGTHS[i].1;
        i += 1;
    }
    out[169] = 10;
    out[170] = 10;
    out
}

/// Format_description event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatDescription {
    /// 4.
    pub binlog_version: u16,
    /// `@@version` of the server that wrote the file; at most 50 bytes.
    pub server_version: String,
    /// When the server started, if this is the first file since; otherwise 0.
    pub created: u32,
    /// Lengths of the fixed parts of events, the first one that of type 1.
    pub post_header_lengths: Bytes,
    /// Checksums of the events that follow.
    pub checksum: ChecksumAlg,
}

impl FormatDescription {
    /// What Selkie writes.
    pub fn new(server_version: &str, created: u32, checksum: ChecksumAlg) -> FormatDescription {
        let mut end = server_version.len().min(VERSION_LEN - 1);
        while !server_version.is_char_boundary(end) {
            end -= 1;
        }
        FormatDescription {
            binlog_version: 4,
            server_version: server_version[..end].to_owned(),
            created,
            post_header_lengths: Bytes::from_static(&POST_HEADER_LENGTHS),
            checksum,
        }
    }

    /// The checksum algorithm that a whole Format_description event names (the byte before its checksum).
    /// A description has a checksum whatever it says of the events behind it; only where those have one is it verified.
    pub(super) fn checksum_of(event: &[u8]) -> Result<ChecksumAlg, DecodeError> {
        let at = event
            .len()
            .checked_sub(CHECKSUM_LEN + 1)
            .filter(|at| *at >= HEADER_LEN);
        match at.and_then(|at| event.get(at)) {
            Some(0) => Ok(ChecksumAlg::Off),
            Some(1) => Ok(ChecksumAlg::Crc32),
            _ => Err(DecodeError::Unsupported("this binlog checksum algorithm")),
        }
    }

    pub(super) fn decode(
        body: &Bytes,
        checksum: ChecksumAlg,
    ) -> Result<FormatDescription, DecodeError> {
        // Without checksums the four unused bytes were not cut off by the caller.
        let body = body.slice(..body.len().saturating_sub(CHECKSUM_LEN - checksum.len()));
        let mut r = WireReader::new(&body);
        let binlog_version = r.u16("binlog version")?;
        if binlog_version != 4 {
            return Err(DecodeError::Unsupported("a binlog version other than 4"));
        }
        let version = r.take(VERSION_LEN, "server version")?;
        let version = version.split(|b| *b == 0).next().unwrap_or_default();
        let server_version = utf8(version, "server version")?;
        let created = r.u32("creation time")?;
        if usize::from(r.u8("header length")?) != HEADER_LEN {
            return Err(DecodeError::Unsupported(
                "an event header length other than 19",
            ));
        }
        let rest = r.take_rest();
        let Some((_algorithm, lengths)) = rest.split_last() else {
            return Err(DecodeError::Truncated {
                what: "post-header lengths",
                need: 1,
                have: 0,
            });
        };
        let post_header_lengths = crate::wire::share(&body, lengths);
        Ok(FormatDescription {
            binlog_version,
            server_version,
            created,
            post_header_lengths,
            checksum,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16(self.binlog_version);
        let mut version = [0u8; VERSION_LEN];
        let n = self.server_version.len().min(VERSION_LEN);
        version[..n].copy_from_slice(&self.server_version.as_bytes()[..n]);
        out.put_slice(&version);
        out.put_u32(self.created);
        out.put_u8(HEADER_LEN as u8);
        out.put_slice(&self.post_header_lengths);
        out.put_u8(match self.checksum {
            ChecksumAlg::Off => 0,
            ChecksumAlg::Crc32 => 1,
        });
    }
}
