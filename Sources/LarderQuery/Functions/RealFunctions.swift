import Glibc
import LarderModel

/// The C library's real functions, under names that do not collide with `ScalarFunction`'s.
enum RealFunctions {
    static func exponential(_ number: Double) -> Double { Glibc.exp(number) }
    static func naturalLogarithm(_ number: Double) -> Double { Glibc.log(number) }
    static func decimalLogarithm(_ number: Double) -> Double { Glibc.log10(number) }
    static func power(_ base: Double, _ exponent: Double) -> Double { Glibc.pow(base, exponent) }
}
