//! Sessions: the token that proves one (`token`), the cookie that carries it (`cookies`), classes
//! that an operator has set (`overrides`), and a request's session (`current`).

pub(crate) mod cookies;
pub(crate) mod current;
pub(crate) mod overrides;
pub(crate) mod token;
