import Glibc

/// The C library's functions of real numbers, under names that do not meet `ScalarFunction`'s.
enum RealFunctions {
    static func exponential(_ number: Double) -> Double { Glibc.exp(number) }
    static func naturalLogarithm(_ number: Double) -> Double { Glibc.log(number) }
    static func decimalLogarithm(_ number: Double) -> Double { Glibc.log10(number) }
    static func power(_ base: Double, _ exponent: Double) -> Double { Glibc.pow(base, exponent) }
}
