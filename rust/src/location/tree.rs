//! Which of its file's points a frame belongs to: a tree of questions about where it was seen.

use super::Vantage;
use crate::file::Frame;
use crate::wire::Packet;
use std::collections::HashMap;

/// What a file may be divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// See [`Vantage::interface`].
    Interface,
    /// See [`Vantage::port`].
    Port,
    /// See [`Vantage::depth`].
    Depth,
    /// See [`Vantage::tunnel`].
    Tunnel,
    /// See [`Vantage::vlans`].
    Vlans,
    /// Either address of [`Vantage::outer_macs`].
    OuterMacs,
    /// Either address of [`Vantage::inner_macs`].
    InnerMacs,
    /// See [`Vantage::ttl`].
    Ttl,
    /// See [`Vantage::outer_ttl`].
    OuterTtl,
    /// See [`Vantage::direction`].
    Direction,
}

/// A value of a dimension; where it tells a place only together with the sender, the sender is the
/// second number, else 0.
pub type Value = (i64, i64);

impl Dimension {
    /// The dimension that Python calls so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "interface" => Self::Interface,
            "port" => Self::Port,
            "depth" => Self::Depth,
            "tunnel" => Self::Tunnel,
            "vlans" => Self::Vlans,
            "outer_macs" => Self::OuterMacs,
            "inner_macs" => Self::InnerMacs,
            "ttl" => Self::Ttl,
            "outer_ttl" => Self::OuterTtl,
            "direction" => Self::Direction,
            _ => return None,
        })
    }

    /// What a frame may be looked up by, first choice first.
    fn values(self, at: &Vantage) -> [Value; 3] {
        let [one, other] = match self {
            Self::OuterMacs => at.outer_macs,
            Self::InnerMacs => at.inner_macs,
            Self::Interface => [at.interface.into(); 2],
            Self::Port => [at.port; 2],
            Self::Depth => [at.depth.into(); 2],
            Self::Tunnel => [at.tunnel; 2],
            Self::Vlans => [at.vlans; 2],
            Self::Ttl => [at.ttl.into(); 2],
            Self::OuterTtl => [at.outer_ttl.into(); 2],
            Self::Direction => [at.direction.into(); 2],
        };
        [(one, 0), (other, 0), (one, at.source)]
    }
}

/// Where a value leads: a further question, or one of the file's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Index into [`Division::questions`].
    Ask(usize),
    /// A point of the file.
    At(u32),
}

/// One question about a frame.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Question {
    /// What is asked.
    pub dimension: Dimension,
    /// Where each answer that the survey saw leads.
    pub steps: HashMap<Value, Step>,
    /// Where any other answer leads.
    pub otherwise: u32,
}

/// The points of one file: questions, the first one first.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Division {
    /// Every answer leads to a later question or to a point.
    pub questions: Vec<Question>,
}

impl Division {
    /// The point of the file that saw a frame.
    #[must_use]
    pub fn part(&self, at: &Vantage) -> u32 {
        let mut next = 0;
        for (index, question) in self.questions.iter().enumerate() {
            if index != next {
                continue;
            }
            let values = question.dimension.values(at);
            let step = values.iter().find_map(|value| question.steps.get(value));
            match step {
                Some(Step::Ask(later)) => next = *later,
                Some(Step::At(part)) => return *part,
                None => return question.otherwise,
            }
        }
        0
    }
}

/// The part of its file that saw a frame: its interface, unless the file is divided.
#[must_use]
#[inline]
pub fn part_of(division: Option<&Division>, frame: &Frame<'_>, packet: &Packet) -> u32 {
    division.map_or(frame.interface, |division| {
        division.part(&Vantage::of(frame, packet))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(dimension: Dimension, steps: &[(Value, Step)]) -> Question {
        Question {
            dimension,
            steps: steps.iter().copied().collect(),
            otherwise: 9,
        }
    }

    #[test]
    fn questions_are_asked_until_one_tells() {
        let division = Division {
            questions: vec![
                question(
                    Dimension::Depth,
                    &[((0, 0), Step::At(1)), ((1, 0), Step::Ask(2))],
                ),
                question(Dimension::Vlans, &[((7, 0), Step::At(5))]),
                question(
                    Dimension::Ttl,
                    &[((64, 3), Step::At(2)), ((63, 3), Step::At(3))],
                ),
            ],
        };
        let part = |depth, ttl, source| {
            division.part(&Vantage {
                depth,
                ttl,
                source,
                vlans: 7,
                ..Vantage::default()
            })
        };
        assert_eq!([part(0, 64, 3), part(1, 64, 3), part(1, 63, 3)], [1, 2, 3]);
        assert_eq!([part(2, 64, 3), part(1, 64, 4), part(1, 65, 3)], [9, 9, 9]);
    }

    #[test]
    fn either_address_tells() {
        let division = Division {
            questions: vec![question(
                Dimension::OuterMacs,
                &[((17, 0), Step::At(0)), ((18, 0), Step::At(1))],
            )],
        };
        let part = |outer_macs| {
            division.part(&Vantage {
                outer_macs,
                ..Vantage::default()
            })
        };
        assert_eq!([part([17, 99]), part([99, 18]), part([99, 98])], [0, 1, 9]);
    }

    #[test]
    fn a_question_never_leads_back() {
        let round = Division {
            questions: vec![question(Dimension::Port, &[((0, 0), Step::Ask(0))])],
        };
        assert_eq!(round.part(&Vantage::default()), 0);
    }
}
