@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Cluster
import Glibc

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
