import LarderModel
import QueryScripts

typealias League = QueryScripts.League

extension Library {
    /// Inserts a team with players, and returns both.
    func team(
        _ values: [String: Value] = [:], playerCount: Int = 0
    ) throws -> (team: PersistentIdentifier, players: [PersistentIdentifier]) {
        let names = (0..<playerCount).map { PersistentIdentifier.new("p\($0)", "Player") }
        var values = values
        if playerCount > 0 { values["players"] = .objects(names) }
        let changes =
            [Change.insert(.new("t", "Team"), values: values)]
            + names.map { .insert($0, values: [:]) }
        let result = try writer.save([ChangeSet(changes)])[0].get()
        return (result.inserted[0], Array(result.inserted.dropFirst()))
    }

    /// The error of a set that must fail without changing anything.
    func refusal(of set: ChangeSet) throws -> LarderError? {
        let before = try contents()
        let outcome = writer.save([set])[0]
        guard case .failure(let error) = outcome, try contents() == before else { return nil }
        return error
    }
}
