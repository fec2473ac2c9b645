//! [`Connector`]: how servers are reached.

use std::io;
use std::net::SocketAddr;
#[cfg(feature = "simulate")]
use std::sync::Arc;

use tokio::net::TcpStream;

#[cfg(feature = "simulate")]
use crate::runtime::simulated::Network;
use crate::runtime::stream::Stream;

/// Opens connections to servers.
#[derive(Debug, Clone, Default)]
pub(crate) enum Connector {
    /// Through the kernel.
    #[default]
    Kernel,
    #[cfg(feature = "simulate")]
    Simulated(Arc<Network>),
}

impl Connector {
    /// Whether there is no kernel behind it.
    pub(crate) fn is_simulated(&self) -> bool {
        !matches!(self, Self::Kernel)
    }

    /// Connects to a server.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<Stream> {
        match self {
            Self::Kernel => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            #[cfg(feature = "simulate")]
            Self::Simulated(network) => {
                let stream = network.connect(Network::GATE, address).await?;
                Ok(Stream::Simulated(Box::new(stream)))
            }
        }
    }
}
