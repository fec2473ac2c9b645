//! [`Setup`]: what is found out once, before the threads of a run begin.

use std::sync::Arc;

use crate::client::address::{self, Address, Choice};
use crate::client::plan::Plan;
use crate::client::tls::Tls;
use crate::error::Error;
use crate::settings::options::Options;

/// The way to the server and what it will be asked for.
pub(crate) struct Setup {
    pub(crate) options: Options,
    pub(crate) choice: Choice,
    pub(crate) tls: Option<Tls>,
    pub(crate) plan: Arc<Plan>,
}

impl Setup {
    /// Looks up the target, makes the requests, and reads certificates.
    ///
    /// # Errors
    /// When the target has no address, or cannot be reached as the workload and the options say.
    pub(crate) fn prepare(options: &Options) -> Result<Self, Error> {
        let plan = Arc::new(Plan::new(options));
        let mut all = address::all_of(&options.target)?;
        // Where classes have addresses of their own, only those of the same family can be reached from there.
        if let Some(source) = plan.classes.iter().find_map(|class| class.source) {
            let is_alike =
                |address: &Address| matches!(address, Address::Inet(a) if a.is_ipv4() == source.is_ipv4());
            if all.iter().any(is_alike) {
                all.retain(is_alike);
            }
        }
        let choice = Choice::of(all).ok_or_else(|| Error::no_address(options.target.server_name()))?;
        if let Address::Inet(address) = &choice.taken {
            plan.check_sources(*address)?;
        }
        let tls = if options.target.is_tls() { Some(Tls::new(options)?) } else { None };
        Ok(Self { options: options.clone(), choice, tls, plan })
    }
}
