//! A certificate for servers on 127.0.0.1 that speak TLS.

use std::path::Path;

/// Writes `certificate.pem` and `key.pem`, self-signed, into a directory.
pub(crate) fn certificate(directory: &Path) -> anyhow::Result<()> {
    let at = |name: &str| directory.join(name).display().to_string();
    let (key, certificate) = (at("key.pem"), at("certificate.pem"));
    let curve = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let name = ["-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    let files = ["-keyout", &key, "-out", &certificate];
    testbed::succeeds("openssl", &[&curve[..], &name, &files].concat())?;
    Ok(())
}
