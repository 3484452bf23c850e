import Testing

@testable import Engine
@testable import Watch

/// What is told of files that cannot be written: at once, again and again, not at every look.
struct WriteFailuresTests {
  @Test func `a failure is told at once and then with pauses that double up to an hour`() {
    var troubles = WriteFailures()
    var told: [Double] = []
    // A look a second for six hours.
    for second in 0..<21_600
    where troubles.failed(.metrics, "--metrics", "no folder", nowSeconds: Double(second)) != nil {
      told.append(Double(second))
    }
    #expect(Array(told.prefix(5)) == [0, 10, 30, 70, 150])
    let pauses = zip(told, told.dropFirst()).map { $1 - $0 }
    #expect(pauses.max() == 3600)
    #expect(told.count > 10 && told.count < 20)
    #expect(troubles.count(.metrics) == 21_600)
    #expect(troubles.areFailing)
  }

  @Test func `what is told says how often`() {
    var troubles = WriteFailures()
    #expect(
      troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 0) == "watch.json: disk full")
    #expect(troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 1) == nil)
    #expect(
      troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 11)
        == "watch.json: disk full (3 times in a row)")
    // Another reason is news.
    #expect(troubles.failed(.notes, "watch.json", "read-only", nowSeconds: 12) != nil)
    #expect(
      troubles.succeeded(.notes, "watch.json")
        == "watch.json: can be written again, after 4 failures")
    #expect(!troubles.areFailing)
    #expect(troubles.succeeded(.notes, "watch.json") == nil)
    #expect(troubles.count(.notes) == 4)
    #expect(troubles.count(.metrics) == 0)
    #expect(troubles.failed(.notes, "watch.json", "disk full", nowSeconds: 13) != nil)
  }

  @Test func `each file has a count of its own`() {
    var troubles = WriteFailures()
    _ = troubles.failed(.notes, "watch.json", "x", nowSeconds: 0)
    #expect(troubles.failed(.notes, "looks.json", "x", nowSeconds: 0) != nil)
    _ = troubles.succeeded(.notes, "looks.json")
    #expect(troubles.areFailing)
    #expect(troubles.count(.notes) == 2)
  }
}
