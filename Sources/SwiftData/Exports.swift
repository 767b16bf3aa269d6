@_exported public import Observation

// What programs name that import SwiftData alone: `Observable` models, and the identifier that
// all of Larder has.
@_exported public import struct LarderModel.PersistentIdentifier
