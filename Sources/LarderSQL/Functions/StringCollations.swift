import LarderModel

/// The orders of strings that SQLite does not have.
package enum StringCollations {
    /// nil for the plain order, which is SQLite's own.
    package static func name(of order: StringOrder) -> String? {
        switch order {
        case .plain: nil
        case .caseInsensitive: "larder_case_insensitive"
        case .localizedStandard: "larder_localized_standard"
        }
    }
}
