import LarderModel

/// The bound of a resource that all users share.
package struct SharedLimit: Hashable, Sendable {
    /// The amount of the resource, of all users together.
    package var total: Int
    /// The part that one user may take of what the others have left, above 0 and at most 1.
    package var userShare: Double

    package init(_ total: Int, userShare: Double) {
        self.total = total
        self.userShare = userShare
    }
}

/// How much of a shared resource each user has.
///
/// A user may have at most a share of what the others have left. With a share of a half, one user
/// can take a half, a second one a quarter, a third one an eighth: however much one user takes, the
/// next one still gets something, down to the last unit. A user without others loses nothing if the
/// total is chosen so that its share of the total is enough.
///
/// It is a value without a lock; its owner protects it.
struct UserShares {
    let limit: SharedLimit
    /// The amount that all users have.
    private(set) var used = 0
    /// The users who have something. Few are searched faster than hashed, and connections limit
    /// their number.
    private var users: [(identifier: UInt32, amount: Int)] = []

    init(_ limit: SharedLimit) { self.limit = limit }

    /// The amount of each user who has something.
    var amounts: [(user: UInt32, amount: Int)] { users.map { ($0.identifier, $0.amount) } }

    func used(by user: UInt32) -> Int { index(of: user).map { users[$0].amount } ?? 0 }

    private func index(of user: UInt32) -> Int? {
        users.firstIndex { $0.identifier == user }
    }

    /// The amount that a user may have, as long as the others have what they have now.
    ///
    /// - Parameter total: The amount of the resource, if it is less than that of the limit.
    func maximum(for user: UInt32, total: Int = .max) -> Int {
        let left = min(limit.total, total) - (used - used(by: user))
        guard left > 0 else { return 0 }
        // A share such as a third is not exact as a number of the machine.
        return max(1, Int(clamped: (Double(left) * limit.userShare + 1e-6).rounded(.down)))
    }

    func allows(_ amount: Int, for user: UInt32, total: Int = .max) -> Bool {
        used(by: user) + amount <= maximum(for: user, total: total)
    }

    /// Adds an amount to what a user has.
    ///
    /// - Returns: false, with nothing added, if that is more than the user may have.
    mutating func take(_ amount: Int, for user: UInt32, total: Int = .max) -> Bool {
        guard allows(amount, for: user, total: total) else { return false }
        add(amount, to: user)
        return true
    }

    /// Adds an amount to what a user has, or subtracts it if negative, whatever the maximum.
    mutating func add(_ amount: Int, to user: UInt32) {
        used += amount
        guard let index = index(of: user) else {
            if amount != 0 { users.append((user, amount)) }
            return
        }
        users[index].amount += amount
        if users[index].amount == 0 { users.remove(at: index) }
    }
}
