import Testing

@testable import Cluster

@Suite("States of Slurm")
struct StateTextTests {
  @Test(
    "Every state has its meaning",
    arguments: [
      ("PENDING", TaskView.State.pending), ("RUNNING", .running), ("COMPLETED", .completed),
      ("FAILED", .failed), ("OUT_OF_MEMORY", .outOfMemory), ("TIMEOUT", .timeout),
      ("CANCELLED", .cancelled), ("DEADLINE", .deadline),
      ("COMPLETING", .running), ("CONFIGURING", .running), ("SUSPENDED", .running),
      ("STOPPED", .running), ("RESIZING", .running), ("SIGNALING", .running),
      ("STAGE_OUT", .running),
      ("NODE_FAIL", .lost("NODE_FAIL")), ("BOOT_FAIL", .lost("BOOT_FAIL")),
      ("PREEMPTED", .lost("PREEMPTED")), ("REQUEUED", .lost("REQUEUED")),
      ("REQUEUE_HOLD", .lost("REQUEUE_HOLD")), ("SPECIAL_EXIT", .lost("SPECIAL_EXIT")),
      ("LAUNCH_FAILED", .lost("LAUNCH_FAILED")),
      ("REVOKED", .unknown("REVOKED")), ("SOMETHING_NEW", .unknown("SOMETHING_NEW")),
    ])
  func states(text: String, state: TaskView.State) throws {
    let found = try #require(TaskText.state(text))
    #expect(found.state == state)
    #expect(found.cancelledBy == nil)
  }

  @Test("Who cancelled it is kept")
  func cancelled() throws {
    let found = try #require(TaskText.state("CANCELLED by 1000"))
    #expect(found.state == .cancelled && found.cancelledBy == "1000")
    #expect(TaskText.state("CANCELLED+")?.state == .cancelled)
    #expect(TaskText.state("FAILED by 3")?.cancelledBy == nil)
  }

  @Test(
    "What is no word of Slurm is no state", arguments: ["", " ", "running", "R2", "?", "+", "Ü"])
  func garbage(text: String) { #expect(TaskText.state(text) == nil) }
}
