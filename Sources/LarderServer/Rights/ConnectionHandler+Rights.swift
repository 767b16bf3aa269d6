import LarderModel
import LarderQuery

extension ConnectionHandler {
    /// Why the user may not perform an operation at all; nil if the rules decide, or there are no
    /// limits. The view has the rules for reading, and passes those for changes to the writer.
    func denial(of operation: Operation) -> LarderError? {
        guard let rights = services.view.rights else { return nil }
        switch operation.kind {
        case .backup: return rights.may(.backup) ? nil : rights.denial(of: "copy the store")
        case .migrate: return rights.may(.migrate) ? nil : rights.denial(of: "migrate the store")
        case .deleteHistory:
            return rights.may(.admin) ? nil : rights.denial(of: "delete the history")
        case .check: return rights.may(.admin) ? nil : rights.denial(of: "verify the store")
        case .statistics, .metrics, .queryStatistics:
            return rights.may(.admin) ? nil : rights.denial(of: "read the metrics of the store")
        case .explain, .analyze:
            // Plans and their statistics are those of all objects.
            guard rights.isLimited, !rights.may(.admin) else { return nil }
            return rights.denial(of: "read the plans of queries")
        case .history:
            return rights.historyNames.isEmpty ? rights.denial(of: "read the history") : nil
        case .get, .query, .save, .saveInParts, .insertRows, .openSnapshot, .observe, .schema,
            .activity, .endRequests, .ping:
            return nil
        }
    }
}

extension Rights {
    func denial(of action: String) -> LarderError {
        LarderError(
            .permissionDenied, "the role \(role.name) may not \(action)",
            hint: "the policy of the store decides this")
    }
}
