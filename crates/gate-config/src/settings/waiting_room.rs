//! `[waiting-room]`: visitors that are refused keep their place.

use std::path::Path;

use config::{Error, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::page::{Piece, Template};
use crate::settings::reject;

/// The page of the house for the waiting room. It loads nothing and runs nothing.
pub const PAGE: &str = include_str!("waiting_room.html");

/// What can be filled in.
pub const PLACEHOLDERS: [&str; 6] = ["minutes", "place", "refresh", "seconds", "time", "waiting"];

/// The table as people write it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WaitingRoomFile {
    /// Whether visitors that are refused are given a place, which holds as long as they come back.
    #[serde(default)]
    enabled: bool,
    /// `built-in`, or a file with `{{place}}`, `{{time}}`, `{{minutes}}`, `{{waiting}}`, `{{seconds}}` and
    /// `{{refresh}}` to fill in.
    page: Option<Spanned<String>>,
}

/// What a visitor is shown who has to wait.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingRoom {
    /// For browsers.
    pub page: Template,
}

pub(super) fn resolve(
    source: &Source,
    directory: &Path,
    file: &WaitingRoomFile,
) -> Result<Option<WaitingRoom>, Error> {
    let page = match &file.page {
        Some(page) => reject::page(source, directory, page, (PAGE, &PLACEHOLDERS))?,
        None => Template::new(PAGE, &PLACEHOLDERS)
            .map_err(|why| source.missing(format!("the page of the house: {why}")))?,
    };
    if let Some(written) = &file.page
        && !page.pieces.iter().any(|piece| matches!(piece, Piece::Place))
    {
        return Err(source
            .error(written.span(), format!("{} does not say the place", written.get_ref()))
            .mend("put {{place}} where the visitor's number in the line belongs"));
    }
    Ok(file.enabled.then_some(WaitingRoom { page }))
}

/// One line; `hides` says that there is another page for who is refused.
pub(super) fn describe(room: Option<&WaitingRoom>, hides: bool) -> (&'static str, String) {
    let text = match (room.is_some(), hides) {
        (true, false) => "on",
        (true, true) => {
            "on (note: visitors see its page, and not the one that [pages] has for who is refused)"
        }
        (false, _) => "off: who is refused has no place",
    };
    ("waiting room", text.to_owned())
}
