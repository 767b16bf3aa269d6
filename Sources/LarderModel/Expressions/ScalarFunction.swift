/// A function of the values of one object. The raw value is its number in a message.
///
/// A scalar function returns nil if the result is undefined: an operand is nil, a division by zero,
/// a number outside its type. It fails only if its result would be a text of more than
/// ``Limits/functionTextBytesMax`` bytes. `docs/queries.md` defines the types and the meaning of
/// each function, and `ScalarFunction+Definition.swift` has a row for each.
public enum ScalarFunction: UInt32, Hashable, Sendable, CaseIterable {
    // Arithmetic. A format string writes these as operators, `negate` as a prefix.
    case add = 1
    case subtract = 2
    case multiply = 3
    case divide = 4
    case modulus = 5
    case power = 6
    case negate = 7

    case abs = 8
    case floor = 9
    case ceiling = 10
    case round = 11
    case trunc = 12
    case sqrt = 13
    case exp = 14
    /// The natural logarithm.
    case ln = 15
    /// The logarithm to the base 10.
    case log = 16
    /// The smallest of two or more values; nil if any value is nil.
    case minimum = 17
    /// The largest of two or more values; nil if any value is nil.
    case maximum = 18

    case bitwiseAnd = 19
    case bitwiseOr = 20
    case bitwiseXor = 21
    case onesComplement = 22
    case leftShift = 23
    case rightShift = 24

    /// The number of characters in a string.
    case length = 25
    case uppercase = 26
    case lowercase = 27
    /// A string with case and diacritics removed.
    case canonical = 28

    /// The start time of the query, the same for every occurrence in it.
    case now = 29
    // Parts of a date in UTC, or in the time zone of the second operand.
    case year = 30
    case month = 31
    case day = 32
    case hour = 33
    case minute = 34
    case second = 35
    /// The number of seconds from one date to another, or of whole units of a calendar.
    case distance = 36

    /// The first of two or more values that is not nil.
    case coalesce = 37
    /// The second operand if the first, a predicate, is true, otherwise the third.
    case conditional = 38

    /// Strings one after another.
    case concat = 39
    /// The characters of a string from an index, counted from 0, or from the end if it is negative;
    /// at most as many as the third operand says.
    case substring = 40
    /// A string without the white space, or without the given characters, at both ends.
    case trim = 41
    /// A string without them at its start.
    case trimStart = 42
    /// A string without them at its end.
    case trimEnd = 43
    /// A string with each occurrence of the second one replaced by the third.
    case replace = 44
    /// The part of a string between separators at an index, counted from 0, or from the end if it
    /// is negative.
    case split = 45
    /// A string with characters added before it, up to a length in characters.
    case padStart = 46
    /// A string with characters added after it, up to a length in characters.
    case padEnd = 47
    /// A number as text with a fixed number of decimal places.
    case format = 48

    /// The day of the week by ISO 8601: 1 for Monday to 7 for Sunday.
    case weekday = 49
    /// The date at which the unit of a calendar began that a date is in.
    case startOf = 50

    /// Whether the words of a search text, the last operand, are in the other operands.
    case search = 51
    /// How often they are, as a number that is greater for better matches.
    case score = 52
    /// A string with marks around the words of a search text.
    case highlight = 53
    /// The part of a string that has the most words of a search text.
    case snippet = 54

    /// The first character of each word of a string.
    case initials = 55

    /// The strings of a collection, one after another with a separator.
    case join = 56
}
