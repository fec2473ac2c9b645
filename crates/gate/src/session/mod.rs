//! Sessions: the token that proves one (`token`), the cookie that carries it (`cookies`), classes
//! that an operator has set (`overrides`), a request's session (`current`), and the token of a place in the waiting room
//! (`place`).

pub(crate) mod cookies;
pub(crate) mod current;
pub(crate) mod overrides;
pub(crate) mod place;
pub(crate) mod token;
