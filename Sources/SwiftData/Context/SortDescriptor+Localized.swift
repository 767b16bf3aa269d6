public import Foundation
internal import LarderModel

// `SortDescriptor(\Item.title, comparator: .localizedStandard)`. The comparator of Foundation on
// Linux has the lexical order only, so this one is in the key path, as a step from the string to
// its place in the order. It is found there by a fetch, and sorts arrays as well.

/// An order of strings for people: first without case and diacritics, with digits as numbers.
///
/// Foundation elsewhere has these orders as values of `String.StandardComparator`. Both are
/// Larder's `localizedStandard`, which is the same in every locale.
public enum LocalizedStringComparator: Hashable, Sendable {
    case localizedStandard
    case localized
}

extension SortDescriptor {
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable,
        comparator: LocalizedStringComparator, order: SortOrder = .forward
    ) {
        typealias Path = any KeyPath<Compared, LocalizedPlace> & Sendable
        if let path = cast(keyPath.appending(path: \.localizedPlace), to: Path.self) {
            self.init(path, order: order)
        } else {
            self.init(keyPath, order: order)
        }
    }

    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable,
        comparator: LocalizedStringComparator, order: SortOrder = .forward
    ) {
        typealias Path = any KeyPath<Compared, LocalizedPlace?> & Sendable
        if let path = cast(keyPath.appending(path: \.localizedPlace), to: Path.self) {
            self.init(path, order: order)
        } else {
            self.init(keyPath, order: order)
        }
    }
}

/// The place of a string in the order.
struct LocalizedPlace: Comparable {
    let string: String

    static func < (left: LocalizedPlace, right: LocalizedPlace) -> Bool {
        StringOrder.localizedStandard.compare(left.string, right.string) < 0
    }
}

extension String {
    fileprivate var localizedPlace: LocalizedPlace { LocalizedPlace(string: self) }
}

extension String? {
    fileprivate var localizedPlace: LocalizedPlace? { map { LocalizedPlace(string: $0) } }
}

extension AnyKeyPath {
    /// The description of the key path without the step to the place in the order; nil if it has no
    /// such step.
    var componentsBeforeLocalizedPlace: Substring? {
        let step: AnyKeyPath
        switch type(of: self).valueType {
        case is LocalizedPlace.Type: step = \String.localizedPlace
        case is LocalizedPlace?.Type: step = \String?.localizedPlace
        default: return nil
        }
        guard let last = KeyPathText.components(of: step),
            let components = KeyPathText.components(of: self), components.hasSuffix(last)
        else { return nil }
        let rest = components.dropLast(last.count)
        return rest.last == "." ? rest.dropLast() : rest
    }
}
