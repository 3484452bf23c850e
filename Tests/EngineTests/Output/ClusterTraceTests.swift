@testable import Engine
import Testing

@Suite("What is told of a capture that a batch system worked on")
struct ClusterTraceTests {
  private static func report(_ asked: AskedFor?, attempts: Int?) -> CaptureReport {
    var report = CaptureReport(id: "a", path: "/in/a", family: "scannet", outcome: .made)
    report.job = "12_3"
    report.node = "node1"
    report.attempts = attempts
    report.asked = asked
    return report
  }

  @Test("Where, at which attempt, and what was asked for against what was used")
  func words() throws {
    var asked = AskedFor(cores: 4, memoryBytes: 4_000_000_000, timeSeconds: 1800)
    asked.waitedSeconds = 11.2
    asked.usedSeconds = 75
    asked.usedMemoryBytes = 1_200_000_000
    let trace = try #require(ClusterTrace(Self.report(asked, attempts: 2)))
    #expect(
      trace.words
        == "job 12_3 on node1, attempt 2, waited 12 s; asked for 4 cores, 4.00 GB, 1800 s; used 75 s, 1.20 GB"
    )
  }

  @Test("Only what is known")
  func little() throws {
    let trace = try #require(ClusterTrace(Self.report(nil, attempts: nil)))
    #expect(trace.words == "job 12_3 on node1")
    #expect(ClusterTrace(CaptureReport(id: "a", path: "", family: nil, outcome: .made)) == nil)
  }
}
