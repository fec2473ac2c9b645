//! [`Wire`]: a connection.

use tokio::io::{AsyncRead, AsyncWrite};

/// A connection, whatever it is made of.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}
