//! [`Setup`]: what is found out once, before the threads of a run begin.

use std::sync::Arc;

use crate::client::address::Address;
use crate::client::plan::Plan;
use crate::client::tls::Tls;
use crate::error::Error;
use crate::settings::options::Options;

/// The way to the server and what it will be asked for.
pub(crate) struct Setup {
    pub(crate) options: Options,
    pub(crate) address: Address,
    pub(crate) tls: Option<Tls>,
    pub(crate) plan: Arc<Plan>,
}

impl Setup {
    /// Looks up the target, makes the requests, and reads certificates.
    ///
    /// # Errors
    /// When the target has no address, or cannot be reached as the workload and the options say.
    pub(crate) fn prepare(options: &Options) -> Result<Self, Error> {
        let address = Address::of(&options.target)?;
        let plan = Arc::new(Plan::new(options));
        if let Address::Inet(address) = &address {
            plan.check_sources(*address)?;
        }
        let tls = if options.target.is_tls() { Some(Tls::new(options)?) } else { None };
        Ok(Self { options: options.clone(), address, tls, plan })
    }
}
