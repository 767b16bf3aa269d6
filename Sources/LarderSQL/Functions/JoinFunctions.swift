/// `larder_join(text, separator)`: the texts of the rows of a group with a separator between them,
/// in their own order, and `larder_join(text, separator, position, key)` in that of the positions.
/// Texts that are nil are left out; nil if there are no others, and if the separator is nil.
package enum JoinFunctions {
    package static let join = "larder_join"
}
