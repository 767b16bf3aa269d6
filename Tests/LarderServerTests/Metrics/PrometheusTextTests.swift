import TestSupport
import Testing

@testable import LarderServer

@Suite("Prometheus' text format")
struct PrometheusTextTests {
    @Test("a family is its help, its type, and one line per sample")
    func families() {
        let families = [
            MetricFamily(
                "larder_requests_total", .counter, help: "Requests.",
                [.init(value: 7), .init(labels: [.init("kind", "get")], value: 0.5)]),
            MetricFamily("larder_nothing", .gauge, help: "Without samples.", []),
        ]
        #expect(
            PrometheusText.text(of: families) == """
                # HELP larder_requests_total Requests.
                # TYPE larder_requests_total counter
                larder_requests_total 7
                larder_requests_total{kind="get"} 0.5

                """)
    }

    @Test("the characters of a label's value that end it, and line ends, are escaped")
    func escapes() throws {
        let value = "a\"b\\c\nd é"
        let families = [
            MetricFamily(
                "larder_info", .gauge, help: "A \\ and\na line.",
                [.init(labels: [.init("text", value)], value: 1)])
        ]
        let text = PrometheusText.text(of: families)
        #expect(text.contains(#"larder_info{text="a\"b\\c\nd é"} 1"#))
        let parsed = try PrometheusMetrics(parsing: text)
        #expect(parsed.value("larder_info", ["text": value]) == 1)
        #expect(parsed.families["larder_info"]?.help == "A \\ and\na line.")
    }

    @Test("numbers are written as Prometheus reads them")
    func numbers() {
        let texts = [0, 1, -1, 1e15, 0.1, 1e-7, .infinity, -.infinity, .nan]
            .map(PrometheusText.number)
        #expect(
            texts == ["0", "1", "-1", "1000000000000000", "0.1", "1e-07", "+Inf", "-Inf", "NaN"])
    }

    @Test("a histogram has cumulative buckets, a sum and a count")
    func histograms() throws {
        var histogram = Histogram(bounds: [10, 20])
        for value: Int64 in [5, 10, 11, 21, 400] { histogram.record(value) }
        #expect(histogram.counts == [2, 1, 2])
        let samples = MetricFamily.Sample.samples(
            of: histogram, unit: 10, labels: [.init("kind", "get")])
        #expect(
            PrometheusText.text(of: [MetricFamily("larder_t", .histogram, help: "T.", samples)])
                == """
                # HELP larder_t T.
                # TYPE larder_t histogram
                larder_t_bucket{kind="get",le="1"} 2
                larder_t_bucket{kind="get",le="2"} 3
                larder_t_bucket{kind="get",le="+Inf"} 5
                larder_t_sum{kind="get"} 44.7
                larder_t_count{kind="get"} 5

                """)
        var other = Histogram(bounds: [10, 20])
        other.record(.max)
        other.add(histogram)
        #expect(other.counts == [2, 1, 3])
        #expect(other.sum == .max)
    }

    @Test("the name of a metric is that of the statistic, in words")
    func names() throws {
        let families = StatisticMetrics.families(
            of: [
                .init("planCacheHits", .int(3)), .init("isReadOnly", .bool(true)),
                .init("archiveFailedSince", .null), .init("memoryBytesOfUser7", .int(70)),
                .init("memoryBytesOfUser1000", .int(5)), .init("sqliteVersion", .string("3.40.1")),
                .init("somethingNew", .int(1)),
            ], server: "larderd \"1\"")
        let metrics = try PrometheusMetrics(parsing: PrometheusText.text(of: families))
        #expect(metrics["larder_plan_cache_hits_total"] == 3)
        #expect(metrics["larder_is_read_only"] == 1)
        #expect(metrics["larder_archive_failed_since"] == 0)
        #expect(metrics.value("larder_user_memory_bytes", ["uid": "7"]) == 70)
        #expect(metrics.value("larder_user_memory_bytes", ["uid": "1000"]) == 5)
        #expect(
            metrics.value(
                "larder_info", ["server": "larderd \"1\"", "sqlite_version": "3.40.1"]) == 1)
        #expect(metrics.families.count == 5)
    }

    @Test("the parser of the tests rejects texts that break a rule")
    func strictness() {
        let head = "# HELP larder_a A.\n# TYPE larder_a gauge\n"
        for text in [
            "", "larder_a 1\n", "\(head)larder_a 1", "\(head)larder_b 1\n",
            "\(head)larder_a 1\n\(head)larder_a 1\n", "\(head)larder_a 1\nlarder_a 2\n", head,
            "\(head)larder_a one\n", "\(head)larder_a{b=1} 1\n", "\(head)larder_a{b=\"1\",} 1\n",
            "\(head)larder_a  1\n", "\(head)larder_a 1 \n", "\(head)\nlarder_a 1\n",
            "# HELP larder_a A.\n# TYPE larder_a counter\nlarder_a 1\n",
            "# HELP larder_a A.\n# TYPE larder_a histogram\nlarder_a_bucket{le=\"+Inf\"} 1\n",
            "# HELP larder_a_ms A.\n# TYPE larder_a_ms gauge\nlarder_a_ms 1\n",
        ] {
            #expect(throws: PrometheusMetrics.Problem.self, "\(text)") {
                try PrometheusMetrics(parsing: text)
            }
        }
    }
}
