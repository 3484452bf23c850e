import Testing

@testable import Cluster

@Suite("Answers of squeue and sacct")
struct TableTextTests {
  /// As Slurm 22.05 printed it.
  static let queue = """
    1_[3-20%3]|PENDING|JobArrayTaskLimit|
    1_2|RUNNING|None|n2
    1_1|COMPLETING|None|n1
    7_[1,3,7-9]|PENDING|ReqNodeNotAvail, UnavailableNodes:node[1-2]|
    17|RUNNING|None|n1
    19_0|FAILED|JobLaunchFailure|n1
    23|CANCELLED|JobArrayTaskLimit|
    29_[0,2-3]|PENDING|JobArrayTaskLimit,JobHeldUser|

    """

  @Test("What is queued, folded or not, is found by its element")
  func queue() throws {
    let table = try #require(TaskText.table(Self.queue, isQueue: true))
    #expect(table.isQueue)
    let views: [(String, Int?, TaskView?)] = [
      ("1", 3, TaskView(state: .pending, reason: "JobArrayTaskLimit")),
      ("1", 20, TaskView(state: .pending, reason: "JobArrayTaskLimit")),
      ("1", 21, nil), ("1", 0, nil),
      ("1", 2, TaskView(state: .running, node: "n2")),
      ("1", 1, TaskView(state: .running, node: "n1")),
      ("7", 8, TaskView(state: .pending, reason: "ReqNodeNotAvail, UnavailableNodes:node[1-2]")),
      ("7", 2, nil), ("17", nil, TaskView(state: .running, node: "n1")),
      ("19", 0, TaskView(state: .failed, node: "n1", reason: "JobLaunchFailure")),
      ("23", 4, TaskView(state: .cancelled, reason: "JobArrayTaskLimit")),
      // Slurm does not say which of them is true.
      ("29", 2, TaskView(state: .pending, reason: "JobArrayTaskLimit,JobHeldUser")),
    ]
    for (job, index, view) in views { #expect(table[TaskID(job: job, index: index)] == view) }
    #expect(table.jobs == ["1", "7", "17", "19", "23", "29"])
  }

  @Test("Three columns are enough")
  func short() throws {
    let table = try #require(
      TaskText.table("34_2|RUNNING|None\r\n34_[3-9%2]|PENDING|Priority\r\n", isQueue: true))
    #expect(table[TaskID(job: "34", index: 2)] == TaskView(state: .running))
    #expect(table[TaskID(job: "34", index: 9)] == TaskView(state: .pending, reason: "Priority"))
  }

  @Test(
    "What has ended, with code, signal, node and who cancelled it",
    arguments: [
      (
        "34_1|COMPLETED|0:0|00:00:12|node1", TaskView(state: .completed, exitCode: 0, node: "node1")
      ),
      (
        "34_1|OUT_OF_MEMORY|0:125|00:00:03|node1",
        TaskView(state: .outOfMemory, exitCode: 0, signal: 125, node: "node1")
      ),
      (
        "34_1|FAILED|0:53|00:00:00|node2",
        TaskView(state: .failed, exitCode: 0, signal: 53, node: "node2")
      ),
      ("34_1|FAILED|127:0|00:00:00|node2", TaskView(state: .failed, exitCode: 127, node: "node2")),
      (
        "34_1|FAILED|0:9|00:00:40|node2",
        TaskView(state: .failed, exitCode: 0, signal: 9, node: "node2")
      ),
      (
        "34_1|CANCELLED by 0|0:0|00:00:40|node2",
        TaskView(state: .cancelled, exitCode: 0, node: "node2", cancelledBy: "0")
      ),
      ("34_1|TIMEOUT|0:0|00:01:01|node2", TaskView(state: .timeout, exitCode: 0, node: "node2")),
      (
        "34_1|NODE_FAIL|1:0|00:01:01|node1",
        TaskView(state: .lost("NODE_FAIL"), exitCode: 1, node: "node1")
      ),
      ("34_[0-9%2]|PENDING|0:0|00:00:00|None assigned", TaskView(state: .pending)),
      ("34_1|RUNNING|0:0|00:00:00|node1", TaskView(state: .running, node: "node1")),
      (
        "34|CANCELLED by 1000|0:0|00:00:00|None assigned",
        TaskView(state: .cancelled, exitCode: 0, cancelledBy: "1000")
      ),
    ])
  func records(line: String, view: TaskView) throws {
    let table = try #require(TaskText.table(line + "\n", isQueue: false))
    #expect(!table.isQueue)
    #expect(table[TaskID(job: "34", index: 1)] == view)
  }

  @Test("Lines that cannot be read are passed over; only such lines are no answer")
  func garbage() throws {
    for (text, isAnswer) in [
      ("", true), ("\n\n", true), ("hello\n34_1|RUNNING|None|n1\n\u{FFFD}|\n", true),
      ("hello\n", false), ("slurm_load_jobs error: Zero Bytes\n", false), ("|||\n", false),
      ("34_1|\n", false), ("34_1.batch|RUNNING|0:0\n", false),
    ] {
      let tables = [TaskText.table(text, isQueue: true), TaskText.table(text, isQueue: false)]
      #expect(tables.map { $0 != nil } == [isAnswer, isAnswer], "\(text)")
      if text.contains("34_1|R") {
        #expect(tables.map { $0?.tasks.count } == [1, 1])
      }
    }
    // The end of a record that makes no sense is left out, the state counts.
    let odd = try #require(TaskText.table("34_1|FAILED|x:y|?|\n", isQueue: false))
    #expect(odd[TaskID(job: "34", index: 1)] == TaskView(state: .failed))
  }

  @Test("An answer cut at any byte is read as far as it goes")
  func cut() {
    let bytes = Array(Self.queue.utf8)
    var most = 0
    for count in 0...bytes.count {
      let table = TaskText.table(
        String(decoding: bytes[..<count], as: UTF8.self), isQueue: true)
      most = max(most, table?.jobs.count ?? 0)
    }
    #expect(most == 6)
  }
}
