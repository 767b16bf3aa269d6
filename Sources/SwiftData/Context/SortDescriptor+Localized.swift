public import Foundation
internal import LarderModel

// `SortDescriptor(\Item.title, comparator: .localizedStandard)`. The comparator of Foundation on
// Linux has the lexical order only, so this one is in the key path, as a step from the string to
// its position in the order. It is found there by a fetch, and sorts arrays as well.

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
        typealias Path = any KeyPath<Compared, LocalizedPosition> & Sendable
        if let path = cast(keyPath.appending(path: \.localizedPosition), to: Path.self) {
            self.init(path, order: order)
        } else {
            self.init(keyPath, order: order)
        }
    }

    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable,
        comparator: LocalizedStringComparator, order: SortOrder = .forward
    ) {
        typealias Path = any KeyPath<Compared, LocalizedPosition?> & Sendable
        if let path = cast(keyPath.appending(path: \.localizedPosition), to: Path.self) {
            self.init(path, order: order)
        } else {
            self.init(keyPath, order: order)
        }
    }
}

/// The position of a string in the order.
struct LocalizedPosition: Comparable {
    let string: String

    static func < (left: LocalizedPosition, right: LocalizedPosition) -> Bool {
        StringOrder.localizedStandard.compare(left.string, right.string) < 0
    }
}

extension String {
    fileprivate var localizedPosition: LocalizedPosition { LocalizedPosition(string: self) }
}

extension String? {
    fileprivate var localizedPosition: LocalizedPosition? { map { LocalizedPosition(string: $0) } }
}

extension AnyKeyPath {
    /// The description of the key path without the step to the position in the order; nil if it has
    /// no such step.
    var componentsBeforeLocalizedPosition: Substring? {
        let step: AnyKeyPath
        switch type(of: self).valueType {
        case is LocalizedPosition.Type: step = \String.localizedPosition
        case is LocalizedPosition?.Type: step = \String?.localizedPosition
        default: return nil
        }
        guard let last = KeyPathText.components(of: step),
            let components = KeyPathText.components(of: self), components.hasSuffix(last)
        else { return nil }
        let rest = components.dropLast(last.count)
        return rest.last == "." ? rest.dropLast() : rest
    }
}
