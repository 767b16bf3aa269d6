import Glibc

/// Waits, for minutes at most, until a condition is true.
///
/// - Returns: whether it is true by then.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(300)
    while try !condition() {
        guard ContinuousClock.now < deadline else { return false }
        poll(nil, 0, 10)
    }
    return true
}
