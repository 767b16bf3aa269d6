/// Errors of writes, which are checked by all rules of the current schema, for clients that do not
/// know all of its names.
extension KnownNames {
    /// The error of a write, without names that its client does not know. The violation of a rule
    /// about other names says so instead.
    package func known(_ error: LarderError) -> LarderError {
        guard !error.details.allSatisfy(isKnown) else { return error }
        var known = error
        known.details = error.details.map { isKnown($0) ? $0 : hidden($0) }
        known.problems = error.problems.enumerated().map { index, problem in
            guard error.details.indices.contains(index) else { return problem }
            return problem.replacing(
                error.details[index].message, with: known.details[index].message)
        }
        // The message is that of the first violation.
        if let first = error.details.first, !isKnown(first) {
            let others = error.details.count - 1
            known.message = known.details[0].message
            if others > 0 {
                known.message += ", and there \(others == 1 ? "is" : "are") \(others) other "
                known.message += others == 1 ? "error" : "errors"
            }
            known.hint =
                reason == .former ? "make this change with a client of the current schema" : nil
            known.uri = known.details[0].uri
        }
        return known
    }

    private func isKnown(_ violation: ChangeViolation) -> Bool {
        guard let entityName = violation.entityName else { return true }
        return violation.propertyNames.allSatisfy { contains($0, of: entityName) }
            && contains(entityName) && (violation.uri.map(isKnown(uri:)) ?? true)
    }

    private func isKnown(uri: String) -> Bool {
        guard let identifier = try? PersistentIdentifier(uriRepresentation: uri) else {
            return true
        }
        return contains(identifier.entityName)
    }

    private func hidden(_ violation: ChangeViolation) -> ChangeViolation {
        let entityName = violation.entityName.flatMap { contains($0) ? $0 : nil }
        let subject = entityName.map { " of \($0)" } ?? ""
        return ChangeViolation(
            violation.code,
            reason == .former
                ? "the change breaks a rule\(subject) that the schema got after version "
                    + "\(version), for which this client was built"
                : "the change breaks a rule\(subject) about what this user may not see",
            change: violation.change, entityName: entityName,
            uri: violation.uri.flatMap { isKnown(uri: $0) ? $0 : nil }, rule: violation.rule,
            condition: violation.condition)
    }
}
