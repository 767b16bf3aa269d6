package import LarderModel

// Reads that have failed. A getter throws no error, so it shows a default value: the next fetch and
// the next save throw the error, and a change of the property is refused, because it may be
// computed from the default value. Nothing that was not read is saved as a change.

extension ObjectContext {
    /// The first errors of reads that callers have not got yet. A save throws one that a fetch has
    /// thrown, too, because the changes may depend on it.
    struct FailedReads {
        /// The error that the next fetch throws.
        var forFetch: LarderError?
        /// The error that the next save throws.
        var forSave: LarderError?
    }

    /// Records that something could not be read, where no error can be thrown.
    ///
    /// - Parameters:
    ///   - object: The object whose property could not be read.
    ///   - slot: The property, which is shown with a default value.
    /// - Returns: the reason in a sentence for an error.
    @discardableResult
    package func readFailed(
        _ error: LarderError, of object: StoredObject? = nil, _ slot: Int? = nil
    ) -> String {
        locked {
            var named = error
            let reason = "the stored value could not be read: \(error.message)"
            if let object, let slot, let entity = object.entity {
                named.message = "\(entity.name).\(entity.properties[slot].name): \(reason)"
                named.uri = error.uri ?? object.identifier.uriRepresentation
                object.refusals[slot, default: Refusal()].read = reason
            }
            if failedReads.forFetch == nil, failedReads.forSave == nil {
                log(named.description)
            }
            failedReads.forFetch = failedReads.forFetch ?? named
            failedReads.forSave = failedReads.forSave ?? named
            return reason
        }
    }

    /// Runs a fetch.
    ///
    /// - Throws: the error of the fetch, or that of a read that has failed in it or before.
    func fetching<Result>(
        _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        try locked { () throws(LarderError) in
            applyCommitsOfOthers()
            defer { failedReads.forFetch = nil }
            let result = try body()
            if let error = failedReads.forFetch { throw error }
            return result
        }
    }

    /// - Throws: the error of a read that has failed since the last save.
    func checkReads() throws(LarderError) {
        guard let error = failedReads.forSave else { return }
        failedReads = FailedReads()
        throw error
    }

    // MARK: - Changes of what was not read

    /// Whether a caller may change a property. It may not if a default value was shown in place of
    /// the stored one, or if the stored value cannot be read now; then the next save is an error
    /// until the property is set again, or the changes are rolled back.
    func mayChange(_ object: StoredObject, _ slot: Int) -> Bool {
        guard object.status == .saved else { return true }
        guard let reason = object.refusals[slot]?.read else { return canRead(object, slot) }
        object.refusals[slot]?.read = nil
        refuse(reason, of: object, slot)
        return false
    }

    /// Whether the value of a property is known, or can be read. If it cannot, the next save is an
    /// error.
    func canRead(_ object: StoredObject, _ slot: Int) -> Bool {
        guard object.status == .saved, object[slot] == nil, let reason = load(object, slot) else {
            return true
        }
        object.refusals[slot]?.read = nil
        refuse(reason, of: object, slot)
        return false
    }

    /// Records that a stored value is not one of its property's type, which shows another value. A
    /// change of it is refused once, as it may be computed from that value.
    package func isUnreadable(_ object: StoredObject, _ slot: Int, _ reason: String) {
        locked {
            guard let entity = object.entity, object.status == .saved,
                object.refusals[slot]?.isReported != true
            else { return }
            object.refusals[slot, default: Refusal()].read = reason
            let name = "\(entity.name).\(entity.properties[slot].name)"
            if unreadableNames.insert(name).inserted { log("\(name): \(reason)") }
        }
    }
}
