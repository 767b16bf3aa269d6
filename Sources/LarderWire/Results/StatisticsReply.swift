internal import LarderModel

// The messages `StatisticsReply` and `Statistic`, coded by hand because `Value` is.

extension Statistic {
    static func list(decoding bytes: RawSpan) throws(LarderError) -> [Statistic] {
        var fields = FieldScanner(bytes)
        var statistics: [Statistic] = []
        statistics.reserveCapacity(try fields.count(of: 1, "statistics", maximum: countMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): statistics.append(try Statistic(decoding: bytes))
            case (1, _): throw .unreadable
            default: break
            }
        }
        return statistics
    }

    private init(decoding bytes: RawSpan) throws(LarderError) {
        var name = bytes.extracting(first: 0)
        var value: Value?
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): name = bytes
            case (2, .bytes(let bytes)):
                if value != nil { throw .repeated("the value of a statistic") }
                value = try Value(decoding: bytes)
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        guard let value else { throw .malformed("the statistic has no value") }
        self.init(try name.text("the name of a statistic"), value)
    }

    private static let countMax = 65_536
}

extension MessageBuffer {
    func statistics(_ statistics: [Statistic]) throws(LarderError) {
        for statistic in statistics {
            try message(1) { () throws(LarderError) in
                text(1, statistic.name)
                try value(2, statistic.value)
            }
        }
    }
}
