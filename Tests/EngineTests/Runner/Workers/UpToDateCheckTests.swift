@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

@Suite("Which captures need no worker, found out ahead")
struct UpToDateCheckTests {
  @Test("Settled, open and locked captures are told apart, in the order asked for")
  func findings() throws {
    let workshop = try Workshop()
    for number in 0..<40 { try workshop.add("c\(number)") }
    let later = CaptureCacheTests.later
    #expect(workshop.run(clock: later).exit == 0)
    try workshop.write("other", to: "color.bin", of: "c7")
    let batch = workshop.batch(Selection(), { _ in }, clock: later)
    let targets = batch.targets(workshop.findings(nil))
    let lock = try FileLock(at: workshop.layout("c9").lock, holder: "a test") { _ in false }
    defer { withExtendedLifetime(lock) {} }
    let indices = Array(targets.indices.reversed())
    let found = UpToDateCheck(batch, targets).look(at: indices, until: Interruption())
    #expect(found.map(\.index) == indices)
    let open = found.filter { $0.upToDate == nil }
    #expect(Set(open.map { targets[$0.index].layout.name }) == ["c7", "c9"])
    #expect(
      found.filter(\.isLocked).map { targets[$0.index].layout.name } == ["c9"])
    for finding in found {
      guard let report = finding.upToDate else { continue }
      #expect(report == batch.upToDate(targets[finding.index]))
    }
  }

  @Test("An interrupt ends it: what was not looked at is left out")
  func interrupted() throws {
    let workshop = try Workshop()
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let interruption = Interruption()
    interruption.request(graceSeconds: 1, clock: .system)
    let targets = batch.targets(workshop.findings(nil))
    #expect(UpToDateCheck(batch, targets).look(at: [0], until: interruption).isEmpty)
  }
}
