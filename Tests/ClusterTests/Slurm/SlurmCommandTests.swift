import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Cluster
@testable import Core

@Suite("Running programs of Slurm")
struct SlurmCommandTests {
  @Test(
    "Both streams and the way it ended come back",
    arguments: [
      ("echo 34; echo two >&2", SlurmAnswer.End.exited(0), "34\n", "two\n"),
      ("echo bad >&2; exit 255", .exited(255), "", "bad\n"),
      ("kill -KILL $$", .killed(signal: 9), "", ""),
      // Ends a while after its streams have.
      ("exec >&- 2>&-; sleep 0.2; exit 4", .exited(4), "", ""),
    ])
  func ends(script: String, end: SlurmAnswer.End, output: String, errors: String) throws {
    let fakes = try FakeCommands()
    try fakes.set("squeue", script)
    let command = SlurmCommand(environment: fakes.environment())
    let answer = command.run("squeue", ["-h"])
    #expect(answer.end == end && answer.output == output && answer.errors == errors)
    #expect(command.counts == ["squeue": 1])
    #expect(try fakes.calls == ["squeue -h"])
  }

  @Test("A program that is not there is told, not started")
  func absent() throws {
    let fakes = try FakeCommands()
    try FileSystem.makeFolder(fakes.folder.path.appending("sbatch"))
    let command = SlurmCommand(environment: ["PATH": "\(fakes.folder.path)::relative"])
    #expect(command.run("sbatch", []).end == .absent)
    #expect(
      command.run("squeue", []).words
        == "squeue is not in PATH: run this where the commands of Slurm are")
    #expect(command.counts == [:])
  }

  @Test("Output is read while the program runs, however much of both there is")
  func muchOutput() throws {
    let fakes = try FakeCommands()
    try fakes.set(
      "sacct",
      "head -c 3000000 /dev/zero | tr '\\0' x; head -c 300000 /dev/zero >&2; echo; echo end")
    let answer = SlurmCommand(environment: fakes.environment()).run("sacct", [])
    #expect(answer.isSuccess)
    #expect(answer.output.utf8.count == 3_000_005 && answer.output.hasSuffix("x\nend\n"))
    // The beginning of the errors is enough.
    #expect(answer.errors.utf8.count == 64 << 10)
  }

  @Test("A program that never stops talking is ended")
  func tooMuch() throws {
    let fakes = try FakeCommands()
    try fakes.set("squeue", "exec cat /dev/zero")
    let answer = SlurmCommand(environment: fakes.environment())
      .run("squeue", [], timeoutSeconds: 3600)
    #expect(answer.end == .tooMuch)
  }

  @Test("The script comes on standard input, read or not, and nothing is there without one")
  func input() throws {
    let fakes = try FakeCommands()
    try fakes.set("sbatch", "wc -c; od -An -c | head -1")
    try fakes.set("scancel", "exit 3")
    let command = SlurmCommand(environment: fakes.environment())
    let script = [UInt8](repeating: UInt8(ascii: "s"), count: 1_000_000)
    #expect(command.run("sbatch", [], input: script).output.hasPrefix("1000000\n"))
    #expect(command.run("sbatch", []).output.hasPrefix("0\n"))
    #expect(command.run("scancel", [], input: script).end == .exited(3))
  }

  @Test("A program that does not end is killed with all that it has started")
  func timeout() throws {
    let fakes = try FakeCommands()
    try fakes.set(
      "squeue",
      "trap '' TERM\nsleep 1000 &\necho $! > \"$here/new\"\nmv \"$here/new\" \"$here/pid\"\nwait")
    let command = SlurmCommand(environment: fakes.environment())
    // On a busy machine it takes a while until there is something to be killed.
    var seconds = 0.5
    while try fakes.text("pid").isEmpty {
      let answer = command.run("squeue", [], timeoutSeconds: seconds)
      #expect(answer.end == .timedOut(seconds: seconds))
      #expect(answer.seconds >= seconds)
      seconds *= 2
    }
    let inner = try #require(Int32(fakes.text("pid").filter(\.isNumber)))
    Waiting.until("the end of what was started") { !Self.isAlive(inner) }
  }

  @Test("Who holds the pipes after the program's end is not waited for")
  func holder() throws {
    let fakes = try FakeCommands()
    // In a session of its own it escapes from who ends the group.
    try fakes.set("sbatch", "echo 12\nsetsid sleep 1000 & echo $! > \"$here/pid\"\nexit 0")
    let answer = SlurmCommand(environment: fakes.environment()).run(
      "sbatch", [], timeoutSeconds: 900)
    #expect(answer.isSuccess && answer.output == "12\n")
    if let inner = Int32(try fakes.text("pid").filter(\.isNumber)) { kill(inner, SIGKILL) }
  }

  @Test("Variables of other jobs and of other defaults are cleared, where Slurm is stays")
  func environment() throws {
    let given = [
      "SLURM_JOB_ID": "7", "SLURM_CONF": "/etc/s.conf", "SBATCH_TIMELIMIT": "1",
      "SQUEUE_FORMAT": "%j", "SACCT_FORMAT": "User", "SCANCEL_VERBOSE": "1",
      "SLURM_MEM_PER_NODE": "5",
      "SLURMD_NODENAME": "n", "SLURM_CONF_X": "1", "KEPT": "1",
    ]
    let fakes = try FakeCommands()
    for name in ["sbatch", "squeue", "sacct", "scancel", "scontrol"] {
      try fakes.set(name, "env | grep -E '^(S|KEPT)' | sort | tr '\\n' ' '")
      let answer = SlurmCommand(environment: fakes.environment(given)).run(name, [])
      let bits = name == "sbatch" ? "" : "SLURM_BITSTR_LEN=0 "
      #expect(answer.output == "KEPT=1 \(bits)SLURM_CONF=/etc/s.conf ")
    }
  }

  /// Whether a process is there and more than a remainder that nobody has waited for yet.
  static func isAlive(_ id: Int32) -> Bool {
    guard kill(id, 0) == 0 else { return false }
    let file = FilePath("/proc/\(id)/stat")
    guard let descriptor = try? FileDescriptor.open(file, .readOnly) else { return false }
    defer { try? descriptor.close() }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = (try? bytes.withUnsafeMutableBytes { try descriptor.read(into: $0) }) ?? 0
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    return count > 0 && !text.contains(") Z ")
  }
}

/// Programs named like those of Slurm that do what a test says.
final class FakeCommands: Sendable {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Makes `name` a program that notes its words and then does `script`.
  func set(_ name: String, _ script: String) throws {
    let file = folder.path.appending(name)
    let text = """
      #!/bin/sh
      [ "$1" = --probe ] && exit 0
      here='\(folder.path)'
      echo "${0##*/} $*" >> "$here/calls"
      \(script)

      """
    try? FileSystem.remove(file)
    let descriptor = try FileDescriptor.open(
      file, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
      permissions: [.ownerReadWriteExecute])
    try descriptor.writeAll(Array(text.utf8))
    try descriptor.close()
    // A program that another thread starts meanwhile holds the file for a moment: it is busy then.
    Waiting.until("a program that can be started") {
      (try? ChildProcess(ProcessOrder(file.string, ["--probe"])).wait()) != nil
    }
  }

  /// Those that this process was started with, and these programs first.
  func environment(_ more: [String: String] = [:]) -> [String: String] {
    ["PATH": "\(folder.path):/usr/bin:/bin", "HOME": "/"].merging(more) { $1 }
  }

  /// Every call so far: name and words.
  var calls: [String] {
    get throws {
      try text("calls").split(separator: "\n").map(String.init)
    }
  }

  /// What a script has written to the file `name` in `$here`; empty when there is none.
  func text(_ name: String) throws -> String {
    let file = folder.path.appending(name)
    guard FileSystem.exists(file) else { return "" }
    return try MappedFile(file).withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }
}

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
    let found = try #require(TaskView.state(text))
    #expect(found.state == state)
    #expect(found.cancelledBy == nil)
  }

  @Test("Who cancelled it is kept")
  func cancelled() throws {
    let found = try #require(TaskView.state("CANCELLED by 1000"))
    #expect(found.state == .cancelled && found.cancelledBy == "1000")
    #expect(TaskView.state("CANCELLED+")?.state == .cancelled)
    #expect(TaskView.state("FAILED by 3")?.cancelledBy == nil)
  }

  @Test(
    "What is no word of Slurm is no state", arguments: ["", " ", "running", "R2", "?", "+", "Ü"])
  func garbage(text: String) { #expect(TaskView.state(text) == nil) }
}

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
    let table = try #require(TaskTable(Self.queue, isQueue: true))
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
      TaskTable("34_2|RUNNING|None\r\n34_[3-9%2]|PENDING|Priority\r\n", isQueue: true))
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
    let table = try #require(TaskTable(line + "\n", isQueue: false))
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
      let tables = [TaskTable(text, isQueue: true), TaskTable(text, isQueue: false)]
      #expect(tables.map { $0 != nil } == [isAnswer, isAnswer], "\(text)")
      if text.contains("34_1|R") {
        #expect(tables.map { $0?.tasks.count } == [1, 1])
      }
    }
    // The end of a record that makes no sense is left out, the state counts.
    let odd = try #require(TaskTable("34_1|FAILED|x:y|?|\n", isQueue: false))
    #expect(odd[TaskID(job: "34", index: 1)] == TaskView(state: .failed))
  }

  @Test("An answer cut at any byte is read as far as it goes")
  func cut() {
    let bytes = Array(Self.queue.utf8)
    var most = 0
    for count in 0...bytes.count {
      let table = TaskTable(
        String(decoding: bytes[..<count], as: UTF8.self), isQueue: true)
      most = max(most, table?.jobs.count ?? 0)
    }
    #expect(most == 6)
  }
}

@Suite("Names of elements as Slurm writes them")
struct TaskKeyTests {
  @Test(
    "One element, many, or a job without an array",
    arguments: [
      ("12", "12", nil), ("34_5", "34", [5...5]), ("34_[2-9%2]", "34", [2...9]),
      ("1_[0-3]", "1", [0...3]), ("7_[1,3,7-9]", "7", [1...1, 3...3, 7...9]),
      ("9_[4]", "9", [4...4]), ("9_[0-999%64]", "9", [0...999]),
      // Neighbors and repetitions are one range.
      ("8_[3,1-2,2,9]", "8", [1...3, 9...9]), ("5_[0-12:4]", "5", [0...0, 4...4, 8...8, 12...12]),
      ("5_[0-3:1]", "5", [0...3]),
      // Cut off: everything from there on may be meant.
      ("7_[1,3,5-...]", "7", [1...1, 3...3, 5...4_000_001]),
      ("7_[1,3,...]", "7", [1...1, 3...4_000_001]),
    ] as [(String, String, [ClosedRange<Int>]?)])
  func names(text: String, job: String, ranges: [ClosedRange<Int>]?) throws {
    let key = try #require(TaskKey(text))
    #expect(key.job == job)
    #expect(ranges == key.indices?.ranges.map { $0.lowerBound...$0.upperBound - 1 })
  }

  @Test(
    "Steps, parts of composed jobs and garbage are no elements",
    arguments: [
      "", "_", "_5", "a", "12a", "0", "01", "-1", "12_", "12_a", "12_-1", "12_[", "12_[]",
      "12_[1", "12_1]", "12_[a]", "12_[3-1]", "12_[1-]", "12_[1,,2]", "12_[1-9:0]", "12_[%2]",
      "34_5.batch", "12.0", "12+0", "12_4294967294", "99999999999999999999", "12_[0-99999999]",
      "squeue: error", "１２",
    ])
  func garbage(text: String) { #expect(TaskKey(text) == nil) }

  @Test("Of many elements at a time nothing is listed")
  func unlisted() throws {
    let key = try #require(TaskKey("1_[0-3999999%64]"))
    let set = try #require(key.indices)
    #expect(set.ranges.elementsEqual([0..<4_000_000]))
    #expect(set.contains(3_999_999) && !set.contains(4_000_000))
  }
}
