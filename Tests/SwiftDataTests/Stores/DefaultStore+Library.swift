import SwiftData

/// An empty store in memory for the library.
func makeDefaultStore(_ schema: Schema = librarySchema) throws -> DefaultStore {
    try DefaultStore(ModelConfiguration("notes", schema: schema, isStoredInMemoryOnly: true))
}

extension DefaultSnapshot {
    init<Model: PersistentModel>(of model: Model) {
        var related: [PersistentIdentifier: any BackingData] = [:]
        self.init(from: model.persistentBackingData, relatedBackingDatas: &related)
    }
}
