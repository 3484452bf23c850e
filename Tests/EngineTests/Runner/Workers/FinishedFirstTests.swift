@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

@Suite("The order in which captures are taken up")
struct FinishedFirstTests {
  @Test("Those that earlier runs brought furthest come first, equals in the order given")
  func order() throws {
    let workshop = try Workshop()
    for name in ["a", "b", "c", "d"] { try workshop.add(name) }
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let targets = batch.targets(workshop.findings(["a", "b", "c", "d"]))
    // Nothing done: as given.
    let fresh = Supervisor.finishedFirst(targets, workshop.pipeline)
    #expect(fresh.indices == [0, 1, 2, 3] && fresh.isWorkLikely)
    #expect(workshop.run(captures: ["d"]).exit == 0)
    #expect(workshop.run(.only("color"), captures: ["c"]).exit == 0)
    let later = Supervisor.finishedFirst(targets, workshop.pipeline)
    #expect(later.indices == [3, 2, 0, 1] && later.isWorkLikely)
    #expect(workshop.run(.only("color"), captures: ["a", "b"]).exit == 0)
    #expect(!Supervisor.finishedFirst(targets, workshop.pipeline).isWorkLikely)
  }
}
