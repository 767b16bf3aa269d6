public import Foundation

/// Positions of objects in sections, which Foundation on Linux does not have.
extension IndexPath {
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The index of the section; `NSNotFound` if the path is empty.
    public var section: Int {
        get { isEmpty ? NSNotFound : self[0] }
        set { self = IndexPath(row: count > 1 ? self[1] : 0, section: newValue) }
    }

    /// The index of the object in its section; `NSNotFound` if the path does not have two indexes.
    public var row: Int {
        get { count > 1 ? self[1] : NSNotFound }
        set { self = IndexPath(row: newValue, section: isEmpty ? 0 : self[0]) }
    }

    /// The index of the object in its section; `NSNotFound` if the path does not have two indexes.
    public var item: Int {
        get { row }
        set { row = newValue }
    }
}
