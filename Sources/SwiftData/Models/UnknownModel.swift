internal import LarderObjects

/// The model of an identifier whose entity the container does not have.
@Model final class UnknownModel {
    init() {}
}
