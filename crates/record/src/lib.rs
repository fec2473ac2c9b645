//! What a measurement is: run directory, Parquet schemas, histograms.
