import FoundationEssentials
import LarderModel

extension Evaluation {
    /// Computes an aggregate over the elements that are not nil.
    func aggregate(
        _ function: AggregateFunction, _ elements: [Value], _ type: AttributeType?
    ) throws(LarderError) -> Value {
        let values = elements.filter { !$0.isNull }
        switch function {
        case .count: return .int(Int64(values.count))
        case .countDistinct: return .int(Int64(Self.runs(of: values).count))
        case .minimum: return values.min { $0.order(to: $1) < 0 } ?? .null
        case .maximum: return values.max { $0.order(to: $1) < 0 } ?? .null
        case .mode:
            // Groups are in ascending order, so the first of the largest has the smallest value.
            let runs = Self.runs(of: values)
            let longest = runs.map(\.count).max()
            return runs.first { $0.count == longest }?.first ?? .null
        case .sum, .average, .median, .stddev: break
        }
        if type == .decimal { return try decimal(function, values) }
        if function == .sum || function == .average, type?.isInteger ?? false {
            return try integer(function, values)
        }
        if function == .stddev { return deviation(values) }
        return double(function, values.compactMap(\.nearestDouble))
    }

    /// Groups of equal values, in ascending order.
    private static func runs(of values: [Value]) -> [[Value]] {
        var runs: [[Value]] = []
        for value in values.sorted(by: { $0.order(to: $1) < 0 }) {
            if let known = runs.last?.first, known.order(to: value) == 0 {
                runs[runs.count - 1].append(value)
            } else {
                runs.append([value])
            }
        }
        return runs
    }

    private func integer(
        _ function: AggregateFunction, _ values: [Value]
    ) throws(LarderError) -> Value {
        var sum = IntegerSum()
        for case .int(let integer) in values { sum.add(integer) }
        if function == .average { return sum.average.map { .double($0) } ?? .null }
        guard let value = sum.value else {
            throw LarderError(.arithmeticOverflow, "a sum exceeds the range of 64-bit integers")
        }
        return .int(value)
    }

    private func decimal(
        _ function: AggregateFunction, _ values: [Value]
    ) throws(LarderError) -> Value {
        let decimals = values.compactMap { value -> Decimal? in
            if case .decimal(let decimal) = value { decimal } else { nil }
        }
        switch function {
        case .median: return Statistics.median(decimals).map { .decimal($0) } ?? .null
        case .stddev:
            var deviation = DecimalDeviation()
            for decimal in decimals { deviation.add(decimal) }
            return deviation.value.map { .double($0) } ?? .null
        default: break
        }
        if decimals.isEmpty { return function == .sum ? .decimal(0) : .null }
        var sum = DecimalSum()
        for decimal in decimals { sum.add(decimal) }
        guard let value = function == .sum ? sum.value : sum.average else {
            throw LarderError(
                .arithmeticOverflow, "a sum has more digits than a decimal can hold")
        }
        return .decimal(value)
    }

    private func deviation(_ values: [Value]) -> Value {
        var deviation = Deviation()
        for value in values {
            if case .int(let integer) = value {
                deviation.add(integer)
            } else if let double = value.nearestDouble {
                deviation.add(double)
            }
        }
        return deviation.value.map { .double($0) } ?? .null
    }

    private func double(_ function: AggregateFunction, _ values: [Double]) -> Value {
        if function == .median { return Statistics.median(values).map { .double($0) } ?? .null }
        var sum = RealSum()
        for value in values { sum.add(value) }
        return (function == .sum ? sum.value : sum.average).map { .double($0) } ?? .null
    }
}
