// Observation is part of SwiftData's interface: models are `Observable`.
@_exported public import Observation
