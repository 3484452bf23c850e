@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The plan of a capture")
struct PlanTests {
  @Test("It names where the capture lies and its family, also of one that cannot be opened")
  func whose() throws {
    let workshop = try Workshop()
    try workshop.add("broken", id: "unopenable")
    try workshop.add("other", id: "lab 101")
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let plans = batch.plan(batch.targets(workshop.findings(nil)))
    #expect(plans.map(\.id) == ["unopenable", "lab-101", "scan"])
    #expect(
      plans.map(\.path) == ["broken", "other", "scan"].map { workshop.capture($0).string })
    #expect(plans.map(\.family) == Array(repeating: "scannet", count: 3))
    #expect(plans.map { $0.error != nil } == [true, false, false])
  }
}
