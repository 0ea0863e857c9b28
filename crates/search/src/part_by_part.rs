//! Smaller containers: one part after the other is made smaller.

use shrink::{Holds, Shrinker};
use sources::{Kind, Layout};

pub struct PartByPart<S> {
    pub layout: Layout,
    pub shrinker: S,
}

impl<S: Shrinker> Shrinker for PartByPart<S> {
    fn shrink(&mut self, input: &[u8], holds: &mut Holds<'_>) -> Vec<u8> {
        let Ok(mut parts) = self.layout.split(input) else { return input.to_vec() };
        for (number, part) in self.layout.parts().iter().enumerate() {
            let old = parts[number].clone();
            let mut part_holds = |smaller: &[u8]| {
                parts[number] = smaller.to_vec();
                holds(&self.layout.join(&parts))
            };
            let smallest = match part.kind {
                Kind::Choices => usual(old, &mut part_holds),
                Kind::Data | Kind::Text => self.shrinker.shrink(&old, &mut part_holds),
            };
            parts[number] = smallest;
        }
        self.layout.join(&parts)
    }
}

/// Each choice has its place: those that do not matter become the usual ones.
fn usual(mut choices: Vec<u8>, holds: &mut Holds<'_>) -> Vec<u8> {
    for at in 0..choices.len() {
        let old = std::mem::take(&mut choices[at]);
        if old != 0 && holds(&choices) != Some(true) {
            choices[at] = old;
        }
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use shrink::Bytes;
    use sources::Part;

    #[test]
    fn parts_keep_their_slots_and_choices_their_places() {
        let parts =
            vec![Part::data("stdin", 8), Part::text("word1", 8), Part::choices("faults", 4)];
        let layout = Layout::new(parts).expect("a layout");
        let input = layout.join(&[b"aaxaa".to_vec(), b"bby".to_vec(), vec![1, 0, 2, 3]]);
        let split = |text: &[u8]| layout.split(text).expect("a container");
        let matters = |text: &[u8]| {
            let parts = split(text);
            parts[0].contains(&b'x') && parts[1].contains(&b'y') && parts[2].get(2) == Some(&2)
        };
        let mut shrinker = PartByPart { layout: layout.clone(), shrinker: Bytes };
        let small = split(&shrinker.shrink(&input, &mut |text| Some(matters(text))));
        assert_eq!(small[..2], [b"x".to_vec(), b"y".to_vec()]);
        assert_eq!(small[2], [0, 0, 2, 0]);
    }
}
