import MetricsTestKit
import Testing

@testable import LarderServer

@Suite("Metrics for a backend of swift-metrics")
struct MetricsPublisherTests {
    private func families(_ count: Double, users: [String]) -> [MetricFamily] {
        var histogram = Histogram(bounds: [10])
        for _ in 0..<Int(count) { histogram.record(5) }
        return [
            MetricFamily("larder_saves_total", .counter, help: "Saves.", [.init(value: count)]),
            MetricFamily(
                "larder_user_memory_bytes", .gauge, help: "Memory.",
                users.map { .init(labels: [.init("uid", $0)], value: count + 0.5) }),
            MetricFamily(
                "larder_t_seconds", .histogram, help: "T.",
                MetricFamily.Sample.samples(of: histogram, unit: 2)),
        ]
    }

    @Test("a backend gets the growth of counters, and the values of gauges")
    func publishing() throws {
        let backend = TestMetrics()
        let publisher = MetricsPublisher(factory: backend)
        publisher.publish(families(3, users: ["1", "2"]))
        publisher.publish(families(5, users: ["1", "2"]))
        let saves = try backend.expectCounter("larder_saves_total")
        #expect(saves.values == [3, 2])
        let memory = try backend.expectMeter("larder_user_memory_bytes", [("uid", "2")])
        #expect(memory.values == [3.5, 5.5])
        let bucket = try backend.expectCounter("larder_t_seconds_bucket", [("le", "5")])
        #expect(bucket.totalValue == 5)
        #expect(backend.counterTotal(label: "larder_t_seconds_sum") >= 12)
        #expect(backend.counterTotal(label: "larder_t_seconds_count") == 5)
    }

    @Test("a counter that begins again is not subtracted, and a series that ends is destroyed")
    func restart() throws {
        let backend = TestMetrics()
        let publisher = MetricsPublisher(factory: backend)
        publisher.publish(families(3, users: ["1", "2"]))
        publisher.publish(families(1, users: ["1"]))
        #expect(try backend.expectCounter("larder_saves_total").values == [3, 1])
        #expect(backend.meters(label: "larder_user_memory_bytes").count == 1)
    }
}
