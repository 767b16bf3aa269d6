import LarderModel
import LarderSQL

extension StringCollations {
    static func register(on connection: Connection) throws(SQLError) {
        for order in StringOrder.allCases {
            guard let name = name(of: order) else { continue }
            let limit = connection.limit
            let interruption = limit.interruption
            try connection.registerCollation(name: name) { left, right in
                // A sort compares many times before SQLite checks whether it has to stop. After a
                // stop the result is discarded, so any order is right.
                guard limit.allowsMore() else { return 0 }
                return order.compare(
                    String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self),
                    interruption)
            }
        }
    }
}
