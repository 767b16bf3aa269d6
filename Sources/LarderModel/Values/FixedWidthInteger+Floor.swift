extension FixedWidthInteger {
    /// The quotient rounded down and the remainder, which has the sign of a positive divisor.
    @inlinable
    package func quotientAndRemainder(
        flooringBy divisor: Self
    ) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Int128 {
    /// A form without a division of 128 bits for usual numbers, such as the seconds of a date.
    @inlinable
    @inline(__always)
    package func quotientAndRemainder(
        flooringBy divisor: Int128
    ) -> (quotient: Int128, remainder: Int128) {
        guard let small = Int64(exactly: self), let smallDivisor = Int64(exactly: divisor) else {
            let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
            return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
        }
        let (quotient, remainder) = small.quotientAndRemainder(flooringBy: smallDivisor)
        return (Int128(quotient), Int128(remainder))
    }
}
