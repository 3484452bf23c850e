@testable import Engine
import Testing

@Suite("When an intermediate is no longer needed")
struct IntermediateRemovalTests {
  /// `frames` is read by `depth` and `aligned`.
  @Test(
    "It goes when all in the run that read it are done, at the end of the run at the latest",
    arguments: [
      (Scheduler.State.ended(.made), Scheduler.State.ended(.made), false, true),
      (.ended(.upToDate), .ended(.notPossible), false, true),
      (.ended(.made), .running, false, false), (.ended(.made), .waiting, false, false),
      // A failed reader may be tried again until the end.
      (.ended(.made), .ended(.failed), false, false), (.ended(.made), .ended(.failed), true, true),
      (.ended(.made), .ended(.interrupted), true, true),
      // A dormant reader may still be demanded until the end.
      (.ended(.made), .dormant, false, false), (.ended(.made), .dormant, true, true),
      // A reader that is no part of the run.
      (.ended(.made), nil, false, true),
    ] as [(Scheduler.State, Scheduler.State?, Bool, Bool)])
  func readers(
    depth: Scheduler.State, aligned: Scheduler.State?, isLast: Bool, goes: Bool
  ) throws {
    let pipeline = try PipelineReader.read(Workshop.usual, file: "toy.yaml", registry: .toys)
    var states: [String: Scheduler.State] = ["frames": .ended(.made), "depth": depth]
    states["aligned"] = aligned
    #expect(pipeline.removableIntermediates(states, isLast: isLast) == (goes ? ["frames"] : []))
    states["frames"] = .running
    #expect(pipeline.removableIntermediates(states, isLast: isLast) == [])
  }

  @Test("What nothing reads goes at the end of the run")
  func unread() throws {
    let pipeline = try PipelineReader.read(
      "schema: 1\nstages:\n  frames: {uses: toy-frames, keep: false}\n", file: "toy.yaml",
      registry: .toys)
    #expect(pipeline.removableIntermediates(["frames": .ended(.made)], isLast: false) == [])
    #expect(pipeline.removableIntermediates(["frames": .ended(.made)], isLast: true) == ["frames"])
  }
}
