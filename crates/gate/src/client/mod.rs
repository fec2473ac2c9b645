//! What clients send is looked at before HTTP is read.

pub(crate) mod strict;

#[cfg(any(test, feature = "fuzz"))]
pub(crate) use strict::trial::try_on as try_requests;
