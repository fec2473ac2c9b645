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

mod file;
mod script;
mod think;

pub use self::script::{Class, Page, Workload};
pub use self::think::{Think, ThinkError, Thinking};
