import LarderModel

/// One aggregate of one group, from which single values can be removed again.
///
/// Sums are exact, so that a result does not depend on the values that were added and removed
/// before. Nil is ignored, as in a query.
struct GroupTotal: Sendable {
    /// The values, or the sums of them, that are stored.
    enum Form: Hashable, Sendable {
        case count
        case distinctValues
        case integers, decimals, reals
        case smallest, largest
    }

    private let function: AggregateFunction
    private let form: Form
    private var count: Int64 = 0
    private var integers = IntegerSum()
    private var decimals: DecimalSum?
    private var reals: RealSum?
    private var values: ValueCounts?

    init(_ function: AggregateFunction, _ form: Form) {
        self.function = function
        self.form = form
        switch form {
        case .count, .integers: break
        case .decimals: decimals = DecimalSum()
        case .reals: reals = RealSum()
        case .smallest: values = ValueCounts(first: .smallest)
        case .largest, .distinctValues: values = ValueCounts(first: .largest)
        }
    }

    mutating func add(_ value: Value) {
        if value.isNull { return }
        count += 1
        switch value {
        case .int(let integer) where form == .integers: integers.add(integer)
        case .decimal(let decimal): decimals?.add(decimal)
        case .double(let double): reals?.add(double)
        case .float(let float): reals?.add(Double(float))
        default: break
        }
        values?.add(value)
    }

    /// Removes a value that was added.
    mutating func remove(_ value: Value) {
        if value.isNull { return }
        count -= 1
        switch value {
        case .int(let integer) where form == .integers: integers.remove(integer)
        case .decimal(let decimal): decimals?.remove(decimal)
        case .double(let double): reals?.remove(double)
        case .float(let float): reals?.remove(Double(float))
        default: break
        }
        values?.remove(value)
    }

    /// The result; nil for a sum that exceeds its type.
    var result: Value? {
        switch form {
        case .count: return .int(count)
        case .distinctValues: return .int(Int64(values?.count ?? 0))
        case .smallest, .largest: return values?.first ?? .null
        case .integers, .decimals, .reals: break
        }
        let isSum = function == .sum
        if count == 0, !isSum { return .null }
        switch form {
        case .integers:
            return isSum ? integers.value.map { .int($0) } : integers.average.map { .double($0) }
        case .decimals:
            if count == 0 { return .decimal(0) }
            return (isSum ? decimals?.value : decimals?.average).map { .decimal($0) }
        default:
            // Nil if both infinities occur.
            return (isSum ? reals?.value : reals?.average).map { .double($0) } ?? .null
        }
    }

    /// The approximate memory of an aggregate without values.
    static func byteCount(_ form: Form) -> Int {
        switch form {
        case .decimals: 640
        case .reals: 896
        default: 256
        }
    }
}

/// How often each value occurs, and the smallest or the largest of them.
///
/// The heap has each value at most once. A value that does not occur any more remains in it until
/// it is the first, or until most of the heap are such values.
struct ValueCounts: Sendable {
    enum End: Sendable { case smallest, largest }

    private let end: End
    private var counts: [StoredValue: Int] = [:]
    private var heap: [Value] = []
    /// The values that occur.
    private(set) var count = 0

    init(first end: End) { self.end = end }

    /// The smallest or the largest value; nil if there is none.
    var first: Value? { heap.first }

    mutating func add(_ value: Value) {
        let key = StoredValue(value)
        let known = counts[key]
        counts[key] = (known ?? 0) + 1
        if (known ?? 0) == 0 { count += 1 }
        if known == nil { push(value) }
    }

    /// Removes a value that was added.
    mutating func remove(_ value: Value) {
        let key = StoredValue(value)
        guard let known = counts[key], known > 0 else { return }
        counts[key] = known - 1
        guard known == 1 else { return }
        count -= 1
        while let first = heap.first, counts[StoredValue(first)] == 0 {
            counts[StoredValue(first)] = nil
            pop()
        }
        if heap.count > count * 2 + Self.unusedMax { rebuild() }
    }

    private static let unusedMax = 64

    private mutating func rebuild() {
        counts = counts.filter { $0.value > 0 }
        heap = counts.keys.map(\.value).sorted(by: precedes)
    }

    // MARK: - Heap

    private func precedes(_ left: Value, _ right: Value) -> Bool {
        let order = left.order(to: right)
        return end == .smallest ? order < 0 : order > 0
    }

    private mutating func push(_ value: Value) {
        heap.append(value)
        var index = heap.count - 1
        while index > 0, precedes(heap[index], heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes the first value.
    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            var next = index
            for child in [index * 2 + 1, index * 2 + 2]
            where child < heap.count && precedes(heap[child], heap[next]) {
                next = child
            }
            if next == index { return }
            heap.swapAt(index, next)
            index = next
        }
    }
}

/// A value that equals another one if the store has the same bytes for both: strings are not
/// compared by characters.
struct StoredValue: Hashable, Sendable {
    let value: Value

    init(_ value: Value) {
        // Both zeros are equal, and a group has the positive one.
        switch value {
        case .double(let double): self.value = .double(double + 0)
        case .float(let float): self.value = .float(float + 0)
        default: self.value = value
        }
    }

    static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left.value, right.value) {
        case (.string(let left), .string(let right)), (.json(let left), .json(let right)):
            left.utf8.elementsEqual(right.utf8)
        default: left.value == right.value
        }
    }

    func hash(into hasher: inout Hasher) {
        switch value {
        case .string(let text), .json(let text):
            for byte in text.utf8 { hasher.combine(byte) }
        default: hasher.combine(value)
        }
    }
}
