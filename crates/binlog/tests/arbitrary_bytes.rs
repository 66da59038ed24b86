//! Whatever stands in a file or comes from a peer: errors, never panics.

use bytes::Bytes;
use proptest::prelude::*;
use selkie_binlog::event::{ChecksumAlg, EventHeader, EventType, FormatDescription, set_position};
use selkie_binlog::row::{RowReader, table_map_columns};
use selkie_binlog::{Event, EventBody, fuzz_read};

fn fixture() -> Vec<u8> {
    std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/rows.binlog"
    ))
    .unwrap()
}

/// Decodes every event of a file's bytes with checksums made right, and the rows in it.
fn decode_all(mut bytes: Vec<u8>) {
    let mut format = FormatDescription::new("", 0, ChecksumAlg::Crc32);
    let mut columns = Vec::new();
    let mut at = 4;
    while let Ok(header) = EventHeader::decode(bytes.get(at..).unwrap_or_default()) {
        let end = at + header.event_length as usize;
        let Some(raw) = bytes.get_mut(at..end) else {
            return;
        };
        if raw.len() < 23 {
            return;
        }
        if header.event_type != EventType::FORMAT_DESCRIPTION {
            set_position(raw, end as u32, ChecksumAlg::Crc32);
        }
        if let Ok(event) = Event::decode(&Bytes::copy_from_slice(raw), &format) {
            let mut out = Vec::new();
            event.encode(format.checksum, &mut out);
            match &event.body {
                EventBody::FormatDescription(f) => format = f.clone(),
                EventBody::TableMap(map) => columns = table_map_columns(map).unwrap_or_default(),
                EventBody::Rows(rows) => {
                    if let Ok(reader) = RowReader::new(rows, &columns) {
                        let _ = reader.count();
                    }
                }
                _ => {}
            }
        }
        at = end;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzz_read(&data);
    }

    #[test]
    fn any_body(event_type in 0u8..=175, flags in any::<u16>(), body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut header = EventHeader::new(EventType(event_type), 0, 1, flags);
        header.event_length = (19 + body.len()) as u32;
        let mut raw = header.encode().to_vec();
        raw.extend(&body);
        if let Ok(event) = Event::decode(&raw.into(), &FormatDescription::new("", 0, ChecksumAlg::Off)) {
            let mut out = Vec::new();
            event.encode(ChecksumAlg::Off, &mut out);
        }
    }

    #[test]
    fn damaged_files(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..60)) {
        let mut bytes = fixture();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            // Damage to lengths would only end the walk early.
            bytes[at] = value;
        }
        fuzz_read(&bytes);
        decode_all(bytes);
    }

    #[test]
    fn damaged_bodies(seed in any::<u64>()) {
        // Only bytes behind the headers are changed, so that every event is reached.
        let mut bytes = fixture();
        let mut at = 4;
        let mut state = seed | 1;
        while let Ok(header) = EventHeader::decode(bytes.get(at..).unwrap_or_default()) {
            let end = at + header.event_length as usize;
            if header.event_type != EventType::FORMAT_DESCRIPTION {
                for _ in 0..2 {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let body = end - at - 23;
                    if body > 0 {
                        bytes[at + 19 + (state >> 33) as usize % body] = (state >> 20) as u8;
                    }
                }
            }
            at = end;
        }
        decode_all(bytes);
    }
}
