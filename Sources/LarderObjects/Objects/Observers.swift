public import Observation

/// The observers of the properties of an object's instance.
///
/// It is an object because the size of a registrar is not known at compile time, which would slow
/// down every access to the structure that has it.
public final class Observers: Sendable {
    public let registrar = ObservationRegistrar()
}
