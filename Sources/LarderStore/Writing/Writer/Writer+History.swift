import LarderModel
import LarderQuery
import LarderSQL

extension Writer {
    func lastTransaction(of deletion: HistoryDeletion) -> Result<Int64, LarderError> {
        if let error = writeError() { return .failure(error) }
        guard let statements else { return .failure(.writerClosed) }
        return HistoryDeleter(statements, of: store.storeDescription)
            .lastTransaction(of: deletion)
    }

    func deleteHistory(
        upTo number: Int64, rowsMax: Int
    ) -> Result<HistoryDeletionStep, LarderError> {
        if let error = writeError() { return .failure(error) }
        guard let statements else { return .failure(.writerClosed) }
        do throws(SQLError) {
            try statements.statement(Texts.begin).run()
            let step = try HistoryDeleter(statements, of: store.storeDescription)
                .deleteRows(upTo: number, Int64(rowsMax))
            if step.isEmpty {
                try statements.statement(Texts.rollBack).run()
            } else {
                try commit(statements)
            }
            return .success(step.result)
        } catch {
            rollBack()
            recordFailure(error)
            return .failure(error.larderError)
        }
    }
}
