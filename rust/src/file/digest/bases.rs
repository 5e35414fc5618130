//! What a header is compared with: the one before it of its flow, else the one before it of its length.

/// Longer headers are cut: what is behind is content.
pub(super) const MAX_HEADER_BYTES: usize = 512;
/// So many flows are remembered.
pub(super) const N_SLOTS: usize = 1 << 14;

/// The headers that were seen last. Reader and writer keep the same.
#[derive(Default)]
pub(super) struct Bases {
    by_slot: Vec<Vec<u8>>,
    by_length: Vec<Vec<u8>>,
}

impl Bases {
    /// Makes of a header its difference to the one before, and remembers it.
    pub(super) fn subtract(&mut self, slot: usize, header: &[u8], to: &mut Vec<u8>) {
        let base = self.base(slot, header.len());
        let differences = header
            .iter()
            .enumerate()
            .map(|(at, byte)| byte.wrapping_sub(base.get(at).copied().unwrap_or(0)));
        to.extend(differences);
        self.remember(slot, header);
    }

    /// The reverse.
    pub(super) fn add(&mut self, slot: usize, difference: &[u8], to: &mut Vec<u8>) {
        let base = self.base(slot, difference.len());
        let header = difference
            .iter()
            .enumerate()
            .map(|(at, byte)| byte.wrapping_add(base.get(at).copied().unwrap_or(0)));
        to.clear();
        to.extend(header);
        self.remember(slot, to);
    }

    fn base(&self, slot: usize, n_bytes: usize) -> &[u8] {
        let of_flow = self.by_slot.get(slot).filter(|base| base.len() == n_bytes);
        of_flow
            .or_else(|| self.by_length.get(n_bytes))
            .map_or(&[], Vec::as_slice)
    }

    fn remember(&mut self, slot: usize, header: &[u8]) {
        let slots = [
            (&mut self.by_slot, slot),
            (&mut self.by_length, header.len()),
        ];
        for (headers, at) in slots {
            if headers.len() <= at {
                headers.resize_with(at + 1, Vec::new);
            }
            if let Some(last) = headers.get_mut(at) {
                last.clear();
                last.extend(header);
            }
        }
    }
}
