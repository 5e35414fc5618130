//! What the two directions of one flow say of each other: answers follow requests, and bytes are
//! acknowledged after they were sent, by any clock and at any point that saw both.

use crate::identity::TCP;
use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// What one flow shows at one interface, in the order of the file; index 1 is toward.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Dialogue {
    /// Changes of direction into each way.
    pub n_direction_changes: [u32; 2],
    /// Those of them whose stamp is before that of the packet they follow.
    pub n_backward: [u32; 2],
    /// The least time over a change into each way.
    pub least_ns: [Option<i64>; 2],
    /// TCP bytes that were acknowledged but not seen until then.
    pub unseen_bytes: u64,
    /// How often.
    pub n_unseen: u32,
    /// Those of them that came after their acknowledgment in the file.
    pub early_bytes: u64,
    /// How many segments are stamped after it too, by the way they go.
    pub n_early: [u32; 2],
    /// By how much at most.
    pub early_ns: i64,
    /// TCP segments with payload, likewise.
    pub n_data: [u32; 2],
    last: Option<(i64, bool)>,
    sides: [DialogueSide; 2],
    /// Those of the first packet; several connections are one flow where a snap length cuts ports.
    ports: Option<[i32; 2]>,
    is_mixed: bool,
}

/// The bytes one end sent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct DialogueSide {
    /// Sequence number behind the last of them; none before any was seen.
    next: Option<u32>,
    /// Bytes that the other end acknowledged before they were seen, and when.
    hole: (u32, u32),
    hole_ns: i64,
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
/// More than any window: what is farther ahead is another connection (RFC 7323 §2.3).
const FARTHEST: u32 = 1 << 30;

/// A TCP header's numbers.
struct Numbers {
    seq: u32,
    ack: u32,
    flags: u8,
    /// Sequence numbers it takes.
    length: u32,
}

fn add(counts: &mut [u32; 2], more: [u32; 2]) {
    for (n, n_more) in counts.iter_mut().zip(more) {
        *n = n.saturating_add(n_more);
    }
}

#[inline]
fn is_ahead(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}

impl Dialogue {
    /// Takes the flow's next packet.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(super) fn note(&mut self, bytes: &[u8], t_ns: i64, packet: &Packet, toward: bool) {
        if let Some((last_ns, was_toward)) = self.last
            && was_toward != toward
        {
            self.note_change(toward, t_ns.saturating_sub(last_ns));
        }
        self.last = Some((t_ns, toward));
        self.note_ports(packet, toward);
        if packet.protocol == TCP
            && packet.fragment == 0
            && !self.is_mixed
            && let Some(numbers) = Numbers::of(packet, bytes)
        {
            self.note_bytes(&numbers, t_ns, toward);
        }
    }

    /// Bytes of several connections say nothing of each other.
    #[inline]
    fn note_ports(&mut self, packet: &Packet, toward: bool) {
        let mut ports = [packet.src_port, packet.dst_port];
        if toward {
            ports.reverse();
        }
        if *self.ports.get_or_insert(ports) != ports && !self.is_mixed {
            self.mix();
        }
    }

    #[cold]
    fn mix(&mut self) {
        *self = Self {
            is_mixed: true,
            unseen_bytes: 0,
            n_unseen: 0,
            early_bytes: 0,
            n_early: [0; 2],
            early_ns: 0,
            n_data: [0; 2],
            ..*self
        };
    }

    /// What comes next follows nothing, and of no bytes it is known whether they were seen.
    pub(super) fn close(&mut self) {
        self.last = None;
        self.sides = Default::default();
    }

    /// Adds that of packets that come later in the file; both are closed.
    pub(super) fn join(&mut self, later: &Self) {
        add(&mut self.n_direction_changes, later.n_direction_changes);
        add(&mut self.n_backward, later.n_backward);
        for (least_ns, other_ns) in self.least_ns.iter_mut().zip(later.least_ns) {
            *least_ns = [*least_ns, other_ns].into_iter().flatten().min();
        }
        let both = self.ports.zip(later.ports);
        self.ports = self.ports.or(later.ports);
        let is_mixed = self.is_mixed || later.is_mixed;
        if is_mixed || both.is_some_and(|(ports, others)| ports != others) {
            return self.mix();
        }
        self.unseen_bytes += later.unseen_bytes;
        self.n_unseen = self.n_unseen.saturating_add(later.n_unseen);
        self.early_bytes += later.early_bytes;
        self.early_ns = self.early_ns.max(later.early_ns);
        add(&mut self.n_early, later.n_early);
        add(&mut self.n_data, later.n_data);
    }

    fn note_change(&mut self, toward: bool, after_ns: i64) {
        let way = usize::from(toward);
        let columns = (
            self.n_direction_changes.get_mut(way),
            self.n_backward.get_mut(way),
            self.least_ns.get_mut(way),
        );
        if let (Some(n), Some(n_backward), Some(least_ns)) = columns {
            *n = n.saturating_add(1);
            *n_backward = n_backward.saturating_add(u32::from(after_ns < 0));
            *least_ns = Some(least_ns.map_or(after_ns, |least| least.min(after_ns)));
        }
    }

    #[inline]
    fn note_bytes(&mut self, numbers: &Numbers, t_ns: i64, toward: bool) {
        if numbers.flags & RST != 0 {
            return;
        }
        let ([first, second], [back, there]) = (&mut self.sides, &mut self.n_early);
        let [data_back, data_there] = &mut self.n_data;
        let (own, other, n_early, n_data) = if toward {
            (second, first, there, data_there)
        } else {
            (first, second, back, data_back)
        };
        let end = numbers.seq.wrapping_add(numbers.length);
        if numbers.flags & SYN != 0 && !own.is_late(numbers.seq, end) {
            *own = DialogueSide::default();
        }
        if numbers.length > 0 {
            *n_data = n_data.saturating_add(1);
            if own.is_late(numbers.seq, end) {
                // frames may be out of order in the file, and their stamps right
                let after_ns = t_ns.saturating_sub(own.hole_ns);
                *n_early = n_early.saturating_add(u32::from(after_ns > 0));
                self.early_bytes += u64::from(numbers.length);
                self.early_ns = self.early_ns.max(after_ns);
            }
        }
        if own.next.is_none_or(|next| is_ahead(end, next)) {
            own.next = Some(end);
        }
        if numbers.flags & ACK != 0
            && let Some(unseen) = other.acknowledge(numbers.ack, t_ns)
        {
            self.unseen_bytes += u64::from(unseen);
            self.n_unseen = self.n_unseen.saturating_add(1);
        }
    }
}

impl DialogueSide {
    /// Whether bytes come after they were acknowledged.
    #[inline]
    fn is_late(&self, start: u32, end: u32) -> bool {
        let (from, to) = self.hole;
        from != to && !is_ahead(from, start) && !is_ahead(end, to)
    }

    /// The other end has all bytes before `ack`; gives how many of them were not seen here.
    #[inline]
    fn acknowledge(&mut self, ack: u32, t_ns: i64) -> Option<u32> {
        let Some(next) = self.next else {
            // of a file that was sorted by two clocks, all acknowledgments may come first
            self.hole = (ack.wrapping_sub(FARTHEST), ack);
            self.hole_ns = t_ns;
            return None;
        };
        if !is_ahead(ack, next) {
            return None;
        }
        let unseen = ack.wrapping_sub(next);
        self.next = Some(ack);
        if unseen > FARTHEST {
            return None;
        }
        let is_longer = self.hole.0 != self.hole.1 && self.hole.1 == next;
        self.hole = (if is_longer { self.hole.0 } else { next }, ack);
        self.hole_ns = t_ns;
        Some(unseen)
    }
}

impl Numbers {
    fn of(packet: &Packet, bytes: &[u8]) -> Option<Self> {
        let header = packet.transport(bytes).first_chunk()?;
        let [_, _, _, _, s0, s1, s2, s3, a0, a1, a2, a3, offset, flags] = *header;
        let header_bytes = u32::from(offset >> 4) * 4;
        let payload = packet.transport_wire_bytes.checked_sub(header_bytes)?;
        let numbered = u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
        Some(Self {
            seq: u32::from_be_bytes([s0, s1, s2, s3]),
            ack: u32::from_be_bytes([a0, a1, a2, a3]),
            flags,
            length: payload.saturating_add(numbered),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ACK, Dialogue, Numbers, SYN};

    fn numbers(seq: u32, ack: u32, length: u32) -> Numbers {
        let flags = ACK;
        Numbers {
            seq,
            ack,
            flags,
            length,
        }
    }

    #[test]
    fn bytes_acknowledged_and_never_seen_are_counted_once_and_over_the_wrap() {
        let mut flow = Dialogue::default();
        flow.note_bytes(&numbers(u32::MAX - 99, 1, 50), 0, true);
        for t_ns in [10, 20] {
            flow.note_bytes(&numbers(1, 400, 0), t_ns, false);
        }
        assert_eq!(
            (flow.unseen_bytes, flow.n_unseen, flow.n_early),
            (450, 1, [0, 0])
        );
    }

    #[test]
    fn bytes_that_come_after_their_acknowledgment_are_early_not_unseen() {
        let mut flow = Dialogue::default();
        flow.note_bytes(&numbers(100, 1, 50), 0, true);
        flow.note_bytes(&numbers(1, 250, 0), 10, false);
        flow.note_bytes(&numbers(150, 1, 60), 7, true);
        flow.note_bytes(&numbers(210, 1, 40), 17, true);
        assert_eq!((flow.unseen_bytes, flow.early_bytes), (100, 100));
        assert_eq!((flow.n_early, flow.early_ns), ([0, 1], 7));
        assert_eq!(flow.n_data, [0, 3]);
    }

    #[test]
    fn acknowledgments_that_all_come_first_are_early() {
        let mut flow = Dialogue::default();
        for ack in [100, 200, 300] {
            flow.note_bytes(&numbers(1, ack, 0), 5, false);
        }
        for seq in [1, 101, 201] {
            flow.note_bytes(&numbers(seq, 1, 99), 37, true);
        }
        assert_eq!(
            (flow.n_early, flow.early_ns, flow.n_unseen),
            ([0, 3], 32, 0)
        );
    }

    #[test]
    fn holes_that_meet_are_one() {
        let mut flow = Dialogue::default();
        flow.note_bytes(&numbers(0, 1, 10), 0, true);
        flow.note_bytes(&numbers(1, 20, 0), 1, false);
        flow.note_bytes(&numbers(1, 30, 0), 2, false);
        for seq in [10, 20] {
            flow.note_bytes(&numbers(seq, 1, 10), 3, true);
        }
        assert_eq!((flow.unseen_bytes, flow.early_bytes), (20, 20));
    }

    #[test]
    fn nothing_is_known_of_a_side_that_was_never_seen_or_began_anew() {
        let mut flow = Dialogue::default();
        flow.note_bytes(&numbers(1, 9_000, 0), 0, false);
        assert_eq!(flow.n_unseen, 0);
        flow.note_bytes(&numbers(9_000, 1, 10), 1, true);
        let again = Numbers {
            flags: SYN,
            ..numbers(77, 0, 1)
        };
        flow.note_bytes(&again, 2, true);
        flow.note_bytes(&numbers(1, 78, 0), 3, false);
        assert_eq!(flow.n_unseen, 0);
    }

    #[test]
    fn a_direction_that_is_stamped_too_early_goes_back_at_every_turn() {
        let mut flow = Dialogue::default();
        for t_ns in [0, 100, 200] {
            flow.note_change(true, 100 - 37_000 + t_ns);
            flow.note_change(false, 100 + 37_000 - t_ns);
        }
        assert_eq!(
            (flow.n_direction_changes, flow.n_backward),
            ([3, 3], [0, 3])
        );
        assert_eq!(flow.least_ns, [Some(36_900), Some(-36_900)]);
    }
}
