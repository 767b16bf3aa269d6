@_exported public import Foundation
@_exported public import Observation

// Symbols for programs that import SwiftData alone: `Date`, `#Predicate` and `SortDescriptor`,
// `Observable` models, and the identifier that all of Larder has.
@_exported public import struct LarderModel.PersistentIdentifier
@_exported public import class LarderObjects.UndoManager
