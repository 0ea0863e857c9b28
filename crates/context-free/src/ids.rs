//! Numbers of terminals, nonterminals and productions.

/// Declares a number that is an index into a table.
#[macro_export]
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
        impl $name {
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl From<usize> for $name {
            #[inline]
            fn from(i: usize) -> $name {
                $name(i as u32)
            }
        }
    };
}

index!(
    /// A letter of the alphabet.
    TerminalId
);
index!(
    /// A left-hand side.
    NtId
);
index!(
    /// Productions are numbered by left-hand side.
    ProdId
);

/// A terminal or a nonterminal in one word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sym(u32);

const TERMINAL_BIT: u32 = 1 << 31;

impl Sym {
    #[inline]
    pub fn terminal(id: TerminalId) -> Sym {
        Sym(id.0 | TERMINAL_BIT)
    }

    #[inline]
    pub fn nonterminal(id: NtId) -> Sym {
        Sym(id.0)
    }

    #[inline]
    pub fn as_terminal(self) -> Option<TerminalId> {
        (self.0 & TERMINAL_BIT != 0).then_some(TerminalId(self.0 & !TERMINAL_BIT))
    }

    #[inline]
    pub fn as_nonterminal(self) -> Option<NtId> {
        (self.0 & TERMINAL_BIT == 0).then_some(NtId(self.0))
    }
}
