import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore

/// One query: the objects of an entity that match a predicate, in an order.
struct QueryCase {
    var entityName: String
    var predicate: QueryExpression
    var sort: [SortKey] = []
    var arguments: [QueryArgument]
    /// Whether the arguments are passed as a shell passes them.
    var argumentsAreText = false
    var includesSubentities = true
    /// The part of the objects in order that is selected.
    var limit: Int64?
    var offset: Int64?

    var fetch: Fetch {
        Fetch(
            entityName, where: .tree(predicate), sort: sort, selection: .identifiers,
            includesSubentities: includesSubentities)
    }

    var parameters: QueryParameters {
        QueryParameters(
            arguments: argumentsAreText ? arguments.map(\.asText) : arguments,
            argumentsAreText: argumentsAreText, limit: limit, offset: offset)
    }
}

extension QueryArgument {
    /// The argument as a text for a shell. JSON is its own text, and a string that looks like JSON
    /// is one, too.
    fileprivate var asText: QueryArgument {
        switch self {
        case .value(.null): self
        case .value(.objects(let objects)):
            QueryArgument.list(objects.map { .object($0) }).asText
        case .value(let value): .value(.string(value.text))
        case .list(let values): .value(.string(JSONValue.array(values.map(\.jsonValue)).text))
        }
    }
}

/// The outcome of a query.
enum QueryOutcome: Hashable, CustomStringConvertible {
    /// The keys of the objects, in order.
    case keys([Int64])
    case refused(ErrorCode)

    var description: String {
        switch self {
        case .keys(let keys): "objects \(keys.map(String.init).joined(separator: " "))"
        case .refused(let code): "error \(code.name)"
        }
    }

    var isRefused: Bool { if case .refused = self { true } else { false } }

    /// Whether the error depends on the rows and conditions that were evaluated. The other side may
    /// not reach the sum that overflows or the match that takes too long.
    var dependsOnOrder: Bool {
        self == .refused(.arithmeticOverflow) || self == .refused(.resourceExhausted)
    }
}

extension FuzzedStore {
    /// The SQL statement of the query; empty if there is none.
    func sql(of query: QueryCase) -> String {
        guard let plan = try? store.plan(.fetch(query.fetch), query.parameters) else { return "" }
        return (try? reader.explain(plan, query.parameters, budget: ReadBudget()).sql) ?? ""
    }

    /// The outcome in SQL.
    ///
    /// - Parameter isParallel: Whether several connections read the objects, if they can.
    func selected(_ query: QueryCase, isParallel: Bool = false) -> QueryOutcome {
        selected(query.fetch, query.parameters, isParallel: isParallel)
    }

    func selected(
        _ fetch: Fetch, _ parameters: QueryParameters, isParallel: Bool = false
    ) -> QueryOutcome {
        do {
            let plan = try store.plan(.fetch(fetch), parameters)
            let cursor = try reader.open(
                plan, parameters, budget: ReadBudget(), workers: isParallel ? workers : nil)
            defer { cursor.close() }
            var keys: [Int64] = []
            while true {
                let (batch, isLast) = try cursor.next(bytesMax: 1 << 20, budget: ReadBudget())
                keys += batch.identity?.keys ?? []
                if isLast { return .keys(keys) }
            }
        } catch let error as LarderError {
            return .refused(error.code)
        } catch ReadFailure.failed(let error) {
            return .refused(error.code)
        } catch {
            return .refused(.storageFailed)
        }
    }

    /// The outcome in the evaluator.
    func evaluated(_ query: QueryCase, _ bug: InjectedBug? = nil) -> QueryOutcome {
        evaluated(query, query.parameters, bug)
    }

    func evaluated(
        _ query: QueryCase, _ parameters: QueryParameters, _ bug: InjectedBug? = nil
    ) -> QueryOutcome {
        do throws(LarderError) {
            let evaluator = try Evaluator(
                schema: schema, entityName: query.entityName, parameters: parameters,
                store: storeIdentifier, now: Date(timeIntervalSinceReferenceDate: 0),
                matcher: matcher)
            let predicate = try evaluator.predicate(
                bug.map { $0.changed(query.predicate) } ?? query.predicate)
            let order = try evaluator.order(query.sort)
            var kept: [PersistentIdentifier] = []
            let asked = objects(of: query.entityName).filter {
                query.includesSubentities || $0.entityName == query.entityName
            }
            for object in asked where try predicate.holds(for: object, reading: read) {
                kept.append(object)
            }
            let sorted = try order.sorted(kept, reading: read)
            let page = sorted.dropFirst(Int(parameters.offset ?? 0))
                .prefix(parameters.limit.map(Int.init) ?? .max)
            return .keys(page.compactMap(\.permanentKey))
        } catch {
            return .refused(error.code)
        }
    }
}
