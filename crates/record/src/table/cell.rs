//! [`Cell`]: what may stand in a column.

use std::sync::Arc;

use parquet::basic::LogicalType;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use units::{Span, Time};

/// A value of a column: which physical type it has in the file, and the way there and back.
pub(crate) trait Cell: Sized {
    type Physical: DataType;

    /// Whether the column may hold nulls.
    const NULLABLE: bool = false;

    /// How the physical value is to be understood, where it says more than its type.
    fn logical() -> Option<LogicalType> {
        None
    }

    /// `None` is a null.
    fn to_physical(&self) -> Option<<Self::Physical as DataType>::T>;

    /// `None` when the file holds something that this type cannot be.
    fn from_physical(value: Option<<Self::Physical as DataType>::T>) -> Option<Self>;
}

impl<C: Cell> Cell for Option<C> {
    type Physical = C::Physical;
    const NULLABLE: bool = true;

    fn logical() -> Option<LogicalType> {
        C::logical()
    }

    fn to_physical(&self) -> Option<<C::Physical as DataType>::T> {
        self.as_ref().and_then(C::to_physical)
    }

    fn from_physical(value: Option<<C::Physical as DataType>::T>) -> Option<Self> {
        match value {
            None => Some(None),
            value => C::from_physical(value).map(Some),
        }
    }
}

/// Numbers that are another number in the file. Points and lengths of time are signed there,
/// because queries of the file subtract them.
macro_rules! number_cell {
    ($($number:ty => $physical:ty, $logical:expr, $to:expr, $from:expr;)*) => {$(
        impl Cell for $number {
            type Physical = $physical;

            fn logical() -> Option<LogicalType> {
                $logical
            }

            fn to_physical(&self) -> Option<<$physical as DataType>::T> {
                let to: fn(Self) -> _ = $to;
                Some(to(*self))
            }

            fn from_physical(value: Option<<$physical as DataType>::T>) -> Option<Self> {
                let from: fn(<$physical as DataType>::T) -> Option<Self> = $from;
                from(value?)
            }
        }
    )*};
}

const fn unsigned(bit_width: i8) -> Option<LogicalType> {
    Some(LogicalType::Integer { bit_width, is_signed: false })
}

fn nanoseconds(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

number_cell! {
    bool => BoolType, None, |value| value, Some;
    f64 => DoubleType, None, |value| value, Some;
    u16 => Int32Type, unsigned(16), i32::from, |value| value.try_into().ok();
    u32 => Int32Type, unsigned(32), u32::cast_signed, |value| Some(value.cast_unsigned());
    u64 => Int64Type, unsigned(64), u64::cast_signed, |value| Some(value.cast_unsigned());
    Time => Int64Type, None, |time| nanoseconds(time.as_nanos()), |value| value.try_into().ok().map(Time::from_nanos);
    Span => Int64Type, None, |span| nanoseconds(span.as_nanos()), |value| value.try_into().ok().map(Span::from_nanos);
}

impl Cell for Arc<str> {
    type Physical = ByteArrayType;

    fn logical() -> Option<LogicalType> {
        Some(LogicalType::String)
    }

    fn to_physical(&self) -> Option<ByteArray> {
        Some(ByteArray::from(self.as_bytes().to_vec()))
    }

    fn from_physical(value: Option<ByteArray>) -> Option<Self> {
        value?.as_utf8().ok().map(Arc::from)
    }
}

/// A string column of a fixed set of words: an enum with `ALL` and `name()`.
macro_rules! named_cell {
    ($name:ty) => {
        impl $crate::table::Cell for $name {
            type Physical = parquet::data_type::ByteArrayType;

            fn logical() -> Option<parquet::basic::LogicalType> {
                Some(parquet::basic::LogicalType::String)
            }

            fn to_physical(&self) -> Option<parquet::data_type::ByteArray> {
                Some(parquet::data_type::ByteArray::from(self.name()))
            }

            fn from_physical(value: Option<parquet::data_type::ByteArray>) -> Option<Self> {
                let value = value?;
                Self::ALL.into_iter().find(|one| one.name().as_bytes() == value.data())
            }
        }
    };
}

pub(crate) use named_cell;
