// Inlinable, because the functions take a hundred times longer if the type is not known when they
// are compiled.

extension FixedWidthInteger {
    /// The sum, or the nearest number of the type.
    @inlinable package func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// A number without its fraction, or the nearest number of the type; 0 for NaN.
    @inlinable package init(clamped number: Double) {
        let whole = number.rounded(.towardZero)
        self = Self(exactly: whole) ?? (whole.isNaN ? 0 : whole < 0 ? .min : .max)
    }
}
