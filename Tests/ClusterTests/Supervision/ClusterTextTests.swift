import Testing

@testable import Cluster
import Engine

@Suite("How a run on a cluster stands, in words")
struct ClusterTextTests {
  @Test("Only what is told of")
  func line() {
    var text = ClusterText()
    text.elements = 12
    text.captures = 40
    #expect(text.line == "0/12 elements · 0/40 captures done, 0 failed")
    text.ended = 3
    text.running = 4
    text.waiting = 5
    text.reason = WaitingReason.words("Priority")
    text.done = 9
    text.failed = 1
    text.held = 2
    text.secondsLeft = 3900
    #expect(
      text.line
        == "3/12 elements, 4 running, 5 waiting (Priority: others come first)"
        + " · 9/40 captures done, 1 failed, 2 held by another run · 1 h 5 min left")
  }

  @Test("A run in progress, with and without elements that wait, and one that nobody concluded")
  func active() {
    var run = ActiveRun(run: "20261122T013000-1-00000000-000000")
    run.elements = 3
    run.ended = 1
    run.running = 2
    #expect(
      run.line == "run \(run.run) on the cluster: 1/3 elements ended, 2 running")
    run.waiting = 1
    run.longestWaitSeconds = 61
    run.reason = "Resources: nodes are busy"
    #expect(
      run.line.hasSuffix(", 1 waiting (for up to 1 min; Resources: nodes are busy)"))
    run.isAbandoned = true
    #expect(run.line.contains("was not concluded"))
  }
}
