@testable import Engine
import Testing

@Suite("When an intermediate is no longer needed")
struct IntermediateRemovalTests {
  /// `frames` is read by `depth` and `aligned`.
  @Test(
    "It goes when all that read it are done, and stays for those that will read it yet",
    arguments: [
      (Scheduler.State.ended(.made), Scheduler.State.ended(.made), false, false, true),
      (.ended(.upToDate), .ended(.notPossible), false, false, true),
      (.ended(.made), .running, false, false, false),
      (.ended(.made), .waiting, false, false, false),
      (.ended(.made), .ended(.failed), false, true, false),
      (.ended(.made), .ended(.interrupted), false, true, false),
      // A dormant reader may still be demanded until the end.
      (.ended(.made), .dormant, false, false, false), (.ended(.made), .dormant, false, true, true),
      // A reader that is no part of the run.
      (.ended(.made), nil, false, true, false), (.ended(.made), nil, true, true, true),
    ] as [(Scheduler.State, Scheduler.State?, Bool, Bool, Bool)])
  func readers(
    depth: Scheduler.State, aligned: Scheduler.State?, wasRemoved: Bool, isLast: Bool, goes: Bool
  ) throws {
    let removal = IntermediateRemoval(
      pipeline: try PipelineReader.read(Workshop.usual, file: "toy.yaml", registry: .toys),
      removedBefore: wasRemoved ? ["frames"] : [])
    var states: [String: Scheduler.State] = ["frames": .ended(.made), "depth": depth]
    states["aligned"] = aligned
    #expect(removal.removable(states, isLast: isLast) == (goes ? ["frames"] : []))
    states["frames"] = .running
    #expect(removal.removable(states, isLast: isLast) == [])
  }

  @Test("What nothing reads is kept")
  func unread() throws {
    let removal = IntermediateRemoval(
      pipeline: try PipelineReader.read(
        "schema: 1\nstages:\n  frames: {uses: toy-frames, keep: false}\n", file: "toy.yaml",
        registry: .toys), removedBefore: [])
    #expect(removal.removable(["frames": .ended(.made)], isLast: true) == [])
  }
}
