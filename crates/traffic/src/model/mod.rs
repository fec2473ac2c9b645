//! Workloads of the literature: which files a server holds, and who asks for which of them when.
//!
//! | file | idea |
//! | --- | --- |
//! | `name` | what they are called |
//! | `named` | the model of a name |
//! | `object`, `visit` | a file, and what is asked for in one go |
//! | `surge` | SURGE: heavy-tailed files, popularity, locality, users who pause |
//! | `webstone`, `specweb96` | fixed lists of files with shares of the requests |
//! | `list` | a request drawn from such a list |
//! | `law` | the distributions that the models share |
//! | [`content`] | the files themselves, for the server to serve |
//!
//! ```
//! use traffic::model::{Model, Visit};
//! let mut model = Model::named("webstone".parse()?, 1);
//! assert_eq!((model.objects().len(), model.total_bytes()), (77, 13_361 * 1024));
//! let mut visit = Visit::default();
//! model.visit(&mut visit);
//! assert!(model.objects()[visit.page as usize].url.starts_with("/webstone/"));
//! # Ok::<(), traffic::model::UnknownModel>(())
//! ```

pub mod content;
mod law;
mod list;
mod name;
mod named;
mod object;
mod specweb96;
mod surge;
mod visit;
mod webstone;

pub use name::{ModelName, UnknownModel};
pub use named::Model;
pub use object::Object;
pub use visit::{Embedded, Visit};
