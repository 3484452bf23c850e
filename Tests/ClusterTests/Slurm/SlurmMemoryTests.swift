import Testing

@testable import Cluster

@Suite("What Slurm's earlier answers have told")
struct SlurmMemoryTests {
  /// At which of the times, each a question after an answer of the records that names `listed`, the queue is
  /// asked in their place.
  private func queueTimes(_ listed: Set<String>, _ times: [Double]) -> [Double] {
    let memory = SlurmMemory(slowSeconds: 5)
    return times.filter { time in
      if memory.isQueueDue(at: time) { return true }
      memory.noteRecords(of: ["7", "8"], listing: listed, at: time)
      return false
    }
  }

  @Test("Records that name all jobs are believed; the queue is asked every five minutes")
  func complete() {
    #expect(queueTimes(["7", "8"], [0, 100, 299, 300, 400, 599, 600, 700]) == [300, 600])
  }

  @Test("A job that records have not named for two minutes: the queue is asked every other time")
  func missing() {
    #expect(
      queueTimes(["7"], [0, 15, 60, 119, 120, 135, 150, 165, 180]) == [120, 150, 180])
    #expect(queueTimes([], [0, 60, 121, 122, 123]) == [121, 123])
  }
}
