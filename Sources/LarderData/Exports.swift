// A program that imports this module uses models as well.
@_exported public import SwiftData
