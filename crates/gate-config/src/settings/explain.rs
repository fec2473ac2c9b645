//! `explain`: to whom the gate says in headers what it decided.

use std::fmt;
use std::net::IpAddr;

use config::{Error, Source, Spanned};
use ipnet::IpNet;

use crate::settings::text::Texts;
use crate::settings::words;

/// To whom decisions are explained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Explain {
    /// To no client: what a client knows of the rules, it can play with.
    #[default]
    Off,
    /// To every client.
    On,
    /// Clients from these networks.
    To(Vec<IpNet>),
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::On => f.write_str("on"),
            Self::To(nets) => {
                let nets: Vec<String> = nets.iter().map(ToString::to_string).collect();
                f.write_str(&nets.join(", "))
            }
        }
    }
}

impl Explain {
    /// Whether it includes the client of that address.
    pub fn includes(&self, address: IpAddr) -> bool {
        match self {
            Self::Off => false,
            Self::On => true,
            Self::To(nets) => {
                let address = address.to_canonical();
                nets.iter().any(|net| net.contains(&address))
            }
        }
    }
}

/// `"off"`, `"on"`, or networks.
pub(super) fn resolve(source: &Source, texts: &Texts) -> Result<Explain, Error> {
    let words: Vec<&str> = texts.0.iter().map(|text| text.get_ref().as_str()).collect();
    match words[..] {
        [] | ["off"] => Ok(Explain::Off),
        ["on"] => Ok(Explain::On),
        [word] if !word.contains(['.', ':']) => {
            let place = texts.0.first().map_or(texts.1.clone(), Spanned::span);
            let what = format!("explain is \"{word}\"");
            Err(source.error(place, what).mend("give \"off\", \"on\" or a list of networks"))
        }
        _ => {
            texts.0.iter().map(|text| words::network(source, text)).collect::<Result<_, _>>().map(Explain::To)
        }
    }
}
