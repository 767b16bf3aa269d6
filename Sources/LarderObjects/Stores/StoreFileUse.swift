final class StoreFileUse: Sendable {
    func end() {}
}
