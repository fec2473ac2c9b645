//! The types of a program in the kernel, generated from its C by the build.

/// The module `program` with the types of a program in the kernel, generated from its C by the build.
macro_rules! program {
    ($name:literal) => {
        #[allow(
            unsafe_code,
            clippy::all,
            clippy::expect_used,
            clippy::unwrap_used,
            missing_docs,
            unreachable_pub,
            unused_qualifications,
            reason = "generated"
        )]
        mod program {
            include!(concat!(env!("OUT_DIR"), "/", $name, ".skel.rs"));
        }
    };
}
