//! [`Workload`]: the script of a session and the classes of users that follow it.
//!
//! ```
//! let source = config::Source::new("bank.toml", r#"
//!     kind = "sessions"
//!     timeout = "20s"
//!     connections = 4
//!
//!     [[class]]
//!     name = "premium"
//!     share = 0.2
//!     cookie = "tier=premium"
//!
//!     [[class]]
//!     name = "basic"
//!     share = 0.8
//!
//!     [[page]]
//!     url = "/burn?cpu=25ms"
//!     think = "200ms"
//!     embedded = ["/bytes/2000", "/bytes/8000"]
//! "#);
//! let workload = traffic::Workload::parse(&source)?;
//! assert_eq!(workload.requests_per_session(), 3);
//! assert_eq!(workload.classes[0].cookie, Some(("tier".into(), "premium".into())));
//! # Ok::<(), config::Error>(())
//! ```

mod data;
mod expect;
mod file;
mod retry;
mod script;
mod take;
mod template;
mod think;
mod values;

pub use self::data::Data;
pub use self::expect::{Expect, StatusError, StatusSet};
pub(crate) use self::file::{is_token, is_value};
pub use self::retry::Retry;
pub use self::script::{Class, Condition, Page, Request, Workload};
pub use self::take::{Place, Take};
pub use self::template::Template;
pub use self::think::{Think, ThinkError, Thinking};
pub use self::values::{Purpose, Unknown, Values};
