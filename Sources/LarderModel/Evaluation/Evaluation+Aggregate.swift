extension Evaluation {
    /// A value computed of elements; those that are nil are passed over.
    func aggregate(
        _ function: AggregateFunction, _ elements: [Value]
    ) throws(LarderError) -> Value {
        let values = elements.filter { !$0.isNull }
        return .int(Int64(values.count))
    }
}
