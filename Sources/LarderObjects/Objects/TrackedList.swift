internal import LarderModel

/// The aids of a list for editing it in place, besides its identifiers. An object has them
/// until its list is set as a whole.
package final class TrackedList {
    /// The positions of the members; nil until a long list is searched.
    var index: LinkIndex?
    /// The instances of the members, which the owner's instance keeps.
    package weak var instances: (any ListInstances)?
}

/// The instances of a list. Those of members that will be deleted are left out; they are last in
/// the list.
package protocol ListInstances: AnyObject {
    var count: Int { get }
    /// - Returns: false if they cannot be edited, because a caller edits them.
    func append(_ owner: any ObjectOwner) -> Bool
    /// - Returns: false if they cannot be edited, because a caller edits them.
    func remove(at index: Int) -> Bool
    /// Releases the instances.
    func removeAll()
}

/// The lists whose instances are kept by instances of their owners.
///
/// Instances that keep each other would never be released, and neither would their context. So the
/// relationships of these lists lead from entity to entity without a cycle. A list of a
/// relationship that would close one is kept in place of all others if it is the longest. A list
/// that contains its owner is not kept.
package struct KeptLists {
    private struct Reference { weak var list: (any ListInstances)? }

    private static let countMax = 256

    private var lists: [Reference] = []
    /// The entities to which the relationships lead from an entity, by the names of their topmost
    /// ancestors.
    private var destinations: [String: Set<String>] = [:]

    /// The number of lists, with some that nobody has any more.
    package var count: Int { lists.count }

    /// - Returns: false if the list may not be kept, because longer ones are.
    mutating func add(
        _ list: any ListInstances, from owner: String, to member: String
    ) -> Bool {
        if leads(from: member, to: owner) {
            let longest = lists.compactMap { $0.list?.count }.max() ?? 0
            guard list.count > longest else { return false }
            removeAll()
        }
        destinations[owner, default: []].insert(member)
        lists.append(Reference(list: list))
        if lists.count > Self.countMax { lists.removeAll { $0.list == nil } }
        if lists.count > Self.countMax {
            for reference in lists.prefix(Self.countMax / 2) { reference.list?.removeAll() }
            lists.removeFirst(Self.countMax / 2)
        }
        return true
    }

    mutating func removeAll() {
        for reference in lists { reference.list?.removeAll() }
        lists = []
        destinations = [:]
    }

    private func leads(from first: String, to last: String) -> Bool {
        var seen: Set<String> = [first]
        var open = [first]
        while let name = open.popLast() {
            if name == last { return true }
            open += (destinations[name] ?? []).filter { seen.insert($0).inserted }
        }
        return false
    }
}
