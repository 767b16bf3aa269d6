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

    private static let countMax = 65_536

    init(decoding bytes: RawSpan) throws(LarderError) {
        let (name, value) = try bytes.named(
            "the name of a statistic", "the value of a statistic"
        ) { bytes throws(LarderError) in try Value(decoding: bytes) }
        self.init(name, value)
    }
}

extension MessageBuffer {
    func statistics(_ statistics: [Statistic]) throws(LarderError) {
        for statistic in statistics {
            try message(1) { () throws(LarderError) in try self.statistic(statistic) }
        }
    }

    func statistic(_ statistic: Statistic) throws(LarderError) {
        text(1, statistic.name)
        try value(2, statistic.value)
    }
}
