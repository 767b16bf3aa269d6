// A program that imports this module uses models as well.
@_exported public import SwiftData
@_exported public import struct LarderClient.TextSearch
