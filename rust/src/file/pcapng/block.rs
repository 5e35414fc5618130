//! Blocks: where they end, in which byte order they are, and the options they carry.

use super::super::Findings;
use super::super::input::Input;
use super::super::order::Order;

/// The same in either byte order.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
pub(super) const INTERFACE_DESCRIPTION: u32 = 1;
pub(super) const PACKET: u32 = 2;
pub(super) const SIMPLE_PACKET: u32 = 3;
pub(super) const NAME_RESOLUTION: u32 = 4;
pub(super) const INTERFACE_STATISTICS: u32 = 5;
pub(super) const ENHANCED_PACKET: u32 = 6;
pub(super) const JOURNAL: u32 = 9;
pub(super) const CUSTOM: u32 = 0x0bad;
pub(super) const CUSTOM_NO_COPY: u32 = 0x4000_0bad;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const SECTION_HEADER_BYTES: usize = 28;
/// Type and both lengths.
const MIN_BYTES: usize = 12;
/// The length at the end.
pub(super) const TRAILER_BYTES: usize = 4;
/// Blocks that follow damage are looked for in steps of so many bytes and more.
const LOOK_AHEAD_BYTES: usize = 1 << 20;
/// Interfaces, packets, names, statistics, journals, secrets.
const MAX_COMMON_KIND: u32 = 10;
const MAX_PASSED_BYTES: u64 = 256 << 20;
/// A longer block is no packet, and is passed over.
const MAX_BYTES: u64 = 16 << 20;

/// A whole block in the window, from its type to its second length.
pub(super) struct Block {
    pub(super) kind: u32,
    pub(super) at_byte: u64,
    pub(super) n_bytes: usize,
}

/// The byte order of the section whose header starts the window.
pub(super) fn section_order(input: &mut Input) -> Result<Order, String> {
    if !input.fill(SECTION_HEADER_BYTES) {
        let had = input.window().len();
        return Err(format!(
            "cut in a section header: {SECTION_HEADER_BYTES} bytes needed, {had} there"
        ));
    }
    let head = input.window();
    let order = order_by_magic(head);
    let order = order.ok_or("a section header without its byte-order magic 1a2b3c4d")?;
    let n_bytes = order.u32_at(head, 4).unwrap_or_default();
    if n_bytes < 28 {
        return Err(format!(
            "a section header of {n_bytes} bytes; 28 is the least"
        ));
    }
    match order.u16_at(head, 12).unwrap_or_default() {
        1 => Ok(order),
        major => Err(format!("pcapng major version {major}; only 1 is known")),
    }
}

fn order_by_magic(head: &[u8]) -> Option<Order> {
    let mut orders = [Order::Little, Order::Big].into_iter();
    orders.find(|order| order.u32_at(head, 8) == Some(BYTE_ORDER_MAGIC))
}

fn disagree(claimed: u32, again: u32) -> String {
    format!("a block's length is {claimed} at its start and {again} at its end (12 is the least)")
}

/// Does a section header start at `window`, in either byte order?
fn is_section(window: &[u8]) -> bool {
    window.starts_with(&SECTION_HEADER.to_be_bytes()) && order_by_magic(window).is_some()
}

/// Walks from block to block, through sections of either byte order.
pub(super) struct Sections {
    pub(super) order: Order,
}

impl Sections {
    /// The next block of a size that can be held; `None` where there is none, or no way on.
    #[inline]
    pub(super) fn next_block(
        &mut self,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<Block> {
        loop {
            if !input.fill(MIN_BYTES) {
                findings.ended(input, MIN_BYTES, "a block header");
                return None;
            }
            if self.order.u32_at(input.window(), 0)? == SECTION_HEADER {
                self.begin(input, findings)?;
            }
            let kind = self.order.u32_at(input.window(), 0)?;
            let claimed = self.order.u32_at(input.window(), 4)?;
            let n_bytes = u64::from(claimed).next_multiple_of(4);
            if n_bytes > MAX_BYTES {
                self.pass_giant(input, findings, claimed)?;
                continue;
            }
            let n_bytes = usize::try_from(n_bytes).ok()?.max(MIN_BYTES);
            if !input.fill(n_bytes) {
                self.pass_lie(n_bytes, input, findings)?;
                continue;
            }
            let again = self.order.u32_at(input.window(), n_bytes - TRAILER_BYTES)?;
            if claimed < 12 || again != claimed {
                self.pass_damage(input, findings, &disagree(claimed, again))?;
                continue;
            }
            let at_byte = input.at_byte();
            return Some(Block {
                kind,
                at_byte,
                n_bytes,
            });
        }
    }

    fn begin(&mut self, input: &mut Input, findings: &mut Findings) -> Option<()> {
        match section_order(input) {
            Ok(order) => self.order = order,
            Err(text) => {
                findings.is_truncated = true;
                findings.damaged(input.at_byte(), format!("{text}; what came before is used"));
                return None;
            }
        }
        Some(())
    }

    /// Moves from a block that is none to where blocks go on.
    #[cold]
    fn pass_damage(&self, input: &mut Input, findings: &mut Findings, what: &str) -> Option<()> {
        let at_byte = input.at_byte();
        let goes_on = input.seek(4, LOOK_AHEAD_BYTES, |window| self.goes_on(window));
        findings.lost(at_byte, what, input, goes_on);
        goes_on.then_some(())
    }

    /// Moves to the next place at which blocks seem to follow each other; false if there is none.
    #[cold]
    pub(super) fn seek(&self, input: &mut Input) -> bool {
        input.seek(4, LOOK_AHEAD_BYTES, |window| self.goes_on(window))
    }

    /// A block that is longer than the file is the last, unless others follow within its bytes.
    #[cold]
    fn pass_lie(&self, n_bytes: usize, input: &mut Input, findings: &mut Findings) -> Option<()> {
        let at_byte = input.at_byte();
        let goes_on = input.seek_here(4, |window| self.goes_on(window));
        if goes_on {
            let what = format!("a block claims {n_bytes} bytes, but others follow earlier");
            findings.lost(at_byte, &what, input, true);
        } else {
            findings.ended(input, n_bytes, "a block");
        }
        goes_on.then_some(())
    }

    /// A block too large to hold may be there; one of hundreds of megabytes is a broken length.
    #[cold]
    fn pass_giant(&self, input: &mut Input, findings: &mut Findings, claimed: u32) -> Option<()> {
        if u64::from(claimed) > MAX_PASSED_BYTES {
            return self.pass_damage(input, findings, &format!("a block claims {claimed} bytes"));
        }
        self.pass_over(input, findings, claimed)
    }

    /// Does a block start at `window`, and another after it, or the file end there?
    fn goes_on(&self, window: &[u8]) -> bool {
        is_section(window)
            || self.after_block(window).is_some_and(|rest| {
                rest.is_empty() || is_section(rest) || self.after_block(rest).is_some()
            })
    }

    /// What follows the block of a common kind at the start of `window`.
    fn after_block<'a>(&self, window: &'a [u8]) -> Option<&'a [u8]> {
        let kind = self.order.u32_at(window, 0)?;
        let is_common = (INTERFACE_DESCRIPTION..=MAX_COMMON_KIND).contains(&kind);
        let claimed = self.order.u32_at(window, 4)?;
        let n_bytes = usize::try_from(claimed).ok().filter(|n| *n >= MIN_BYTES)?;
        let again = self.order.u32_at(window, n_bytes - TRAILER_BYTES)?;
        (is_common && claimed.is_multiple_of(4) && again == claimed)
            .then(|| window.get(n_bytes..))
            .flatten()
    }

    #[cold]
    fn pass_over(&self, input: &mut Input, findings: &mut Findings, claimed: u32) -> Option<()> {
        let at_byte = input.at_byte();
        let kind = self.order.u32_at(input.window(), 0)?;
        let body_bytes = u64::from(claimed).next_multiple_of(4) - TRAILER_BYTES as u64;
        if !input.skip(body_bytes) || !input.fill(TRAILER_BYTES) {
            findings.is_truncated = true;
            findings.damaged(
                at_byte,
                format!("the file is cut in a block of {claimed} bytes; what came before is used"),
            );
            return None;
        }
        let again = self.order.u32_at(input.take(TRAILER_BYTES), 0)?;
        if again != claimed {
            return self.pass_damage(input, findings, &disagree(claimed, again));
        }
        if matches!(kind, PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
            findings.damaged(
                at_byte,
                format!("passed over a packet block of {claimed} bytes"),
            );
        }
        Some(())
    }
}

/// The options in `rest`, up to their end mark or the end of the block, whichever comes first.
/// A length that exceeds the block is taken as what is left of it.
pub(super) fn options(order: Order, mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let code = order.u16_at(rest, 0).filter(|code| *code != 0)?;
        let n_bytes = usize::from(order.u16_at(rest, 2)?);
        let value = rest.get(4..)?;
        let (value, _) = value.split_at_checked(n_bytes).unwrap_or((value, &[]));
        rest = rest
            .get(4 + n_bytes.next_multiple_of(4)..)
            .unwrap_or_default();
        Some((code, value))
    })
}

/// What lies between `at` and the trailer of a block.
pub(super) fn body_from(bytes: &[u8], at: usize) -> &[u8] {
    bytes
        .get(at..bytes.len().saturating_sub(TRAILER_BYTES))
        .unwrap_or_default()
}
