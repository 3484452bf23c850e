@testable import Engine
import Testing

@Suite("When an intermediate is no longer needed")
struct IntermediateRemovalTests {
  /// `frames` is read by `depth` and `aligned`.
  @Test(
    "It goes when all that read it are done, and stays for those that will read it yet",
    arguments: [
      (Scheduler.State.ended(.ran), Scheduler.State.ended(.ran), false, false, true),
      (.ended(.upToDate), .ended(.notApplicable), false, false, true),
      (.ended(.ran), .running, false, false, false), (.ended(.ran), .waiting, false, false, false),
      (.ended(.ran), .ended(.failed), false, true, false),
      (.ended(.ran), .ended(.cancelled), false, true, false),
      // A dormant reader may still be demanded until the end.
      (.ended(.ran), .dormant, false, false, false), (.ended(.ran), .dormant, false, true, true),
      // A reader that is no part of the run.
      (.ended(.ran), nil, false, true, false), (.ended(.ran), nil, true, true, true),
    ] as [(Scheduler.State, Scheduler.State?, Bool, Bool, Bool)])
  func readers(
    depth: Scheduler.State, aligned: Scheduler.State?, wasRemoved: Bool, isLast: Bool, goes: Bool
  ) throws {
    let removal = IntermediateRemoval(
      pipeline: try PipelineReader.read(Workshop.usual, file: "toy.yaml", registry: .toys),
      removedBefore: wasRemoved ? ["frames"] : [])
    var states: [String: Scheduler.State] = ["frames": .ended(.ran), "depth": depth]
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
    #expect(removal.removable(["frames": .ended(.ran)], isLast: true) == [])
  }
}
