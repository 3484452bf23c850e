import Foundation
import SystemPackage
import Testing

/// Slurm's commands as one small program that really runs elements (`Tests/Slurm/fake`), in a folder of its
/// own. Everything that it started ends with this value, or with the process of the tests.
public final class FakeSlurm: Sendable {
  /// The commands; first in `PATH` of `environment`.
  public let commands: FilePath
  /// Behavior, calls, scripts.
  public let state: FilePath
  /// Environment of a program that is to find these commands, and no other Slurm.
  public let environment: [String: String]
  private let folder: TemporaryFolder

  /// How it behaves at first, as `behavior.py` says.
  public init(_ behavior: String = "{}") throws {
    folder = try TemporaryFolder()
    commands = folder.path.appending("bin")
    state = folder.path.appending("state")
    let files = FileManager.default
    for place in [commands, state] {
      try files.createDirectory(atPath: place.string, withIntermediateDirectories: false)
    }
    let program = Fixtures.projectRoot.appending("Tests/Slurm/fake/slurm.py").string
    for name in ["sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo"] {
      try files.createSymbolicLink(
        atPath: commands.appending(name).string, withDestinationPath: program)
    }
    environment = Self.cleanEnvironment.merging([
      "FAKE_SLURM": state.string,
      "FAKE_SLURM_OWNER": "\(ProcessInfo.processInfo.processIdentifier)",
      "PATH": commands.string + ":" + (Self.cleanEnvironment["PATH"] ?? "/usr/bin:/bin"),
    ]) { $1 }
    try behave(behavior)
  }

  /// The environment of the tests without what a Slurm around them says.
  public static let cleanEnvironment = ProcessInfo.processInfo.environment.filter { name, _ in
    !["SLURM", "SBATCH", "SQUEUE", "SACCT", "SCANCEL", "SINFO"].contains { name.hasPrefix($0) }
  }

  /// From the next call on; JSON, as `behavior.py` says.
  public func behave(_ behavior: String) throws {
    _ = try JSONSerialization.jsonObject(with: Data(behavior.utf8))
    try Data(behavior.utf8).write(
      to: URL(filePath: state.appending("behavior.json").string), options: .atomic)
  }

  /// One call of a command, as it was noted.
  public struct Call: Sendable, Decodable {
    public var time: Double
    public var command: String
    public var arguments: [String]
    public var code: Int
    public var output: String
  }

  /// All calls so far, or those of one command.
  public func calls(_ command: String? = nil) throws -> [Call] {
    let file = state.appending("calls.jsonl").string
    guard let data = FileManager.default.contents(atPath: file) else { return [] }
    return try data.split(separator: UInt8(ascii: "\n"))
      .map { try JSONDecoder().decode(Call.self, from: $0) }
      .filter { command == nil || $0.command == command }
  }

  /// Calls a command to its end.
  @discardableResult
  public func call(_ command: String, _ words: String...) throws -> PythonScript.Result {
    try PythonScript.run(commands.appending(command).string, words, environment, nil)
  }

  /// What waits or runs, a line per element: `1_2|RUNNING|None`.
  public func queue() throws -> [String] {
    try call("squeue", "-h", "-r", "-o", "%i|%T|%r").output.split(separator: "\n").map(String.init)
  }

  deinit {
    let number = state.appending("server.pid").string
    guard let text = try? String(contentsOfFile: number, encoding: .utf8),
      let server = Int32(text.split(separator: "\n").first ?? "")
    else { return }
    // It takes its elements along, whatever session they are in.
    kill(server, SIGTERM)
    Waiting.until("the end of a fake Slurm") { !Self.isAlive(server) }
  }

  private static func isAlive(_ process: Int32) -> Bool {
    guard let data = FileManager.default.contents(atPath: "/proc/\(process)/stat") else {
      return false
    }
    let fields = String(decoding: data, as: UTF8.self).split(separator: ")").last
    return fields?.split(separator: " ").first != "Z"
  }
}

/// A real Slurm of two nodes on this machine (`Tests/Slurm/real`). Its daemons and jobs end with this value,
/// or with the process of the tests.
public final class RealSlurm: Sendable {
  /// Environment of a program that is to find it.
  public let environment: [String: String]
  /// Configuration, logs, process ids.
  public let root: FilePath
  private let folder: TemporaryFolder
  private static let script = Fixtures.projectRoot.appending("Tests/Slurm/real/cluster.py").string

  /// What is missing for the small one; empty: nothing. Printed once.
  public static let absence = missing([])
  /// What is missing for the one with accounting; empty: nothing. Printed once.
  public static let fullAbsence = missing(["--full"])

  public static var isPossible: Bool { absence.isEmpty }
  public static var isFullPossible: Bool { fullAbsence.isEmpty }

  private static func missing(_ more: [String]) -> String {
    let answer: String
    if PythonScript.isPresent {
      let result = try? PythonScript.run([script, "check"] + more)
      answer = result?.output.trimmingCharacters(in: .whitespacesAndNewlines) ?? "python3 fails"
    } else {
      answer = PythonScript.absence
    }
    if !answer.isEmpty {
      print("skipped: no \(more.isEmpty ? "small" : "full") Slurm is started: \(answer)")
    }
    return answer
  }

  /// Comes back when both nodes are idle. Throws what the daemons said when they do not start.
  public init(full: Bool = false) throws {
    folder = try TemporaryFolder()
    root = folder.path.appending("slurm")
    let owner = "\(ProcessInfo.processInfo.processIdentifier)"
    let result = try PythonScript.run(
      [Self.script, "start", root.string, "--while", owner] + (full ? ["--full"] : []),
      environment: FakeSlurm.cleanEnvironment)
    guard result.status == 0 else { throw Failure(text: result.errors) }
    var environment = FakeSlurm.cleanEnvironment
    environment["SLURM_CONF"] = root.appending("etc/slurm.conf").string
    environment["PATH"] = (environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    self.environment = environment
  }

  public struct Failure: Error, CustomStringConvertible {
    var text: String
    public var description: String { "Slurm does not start: \(text)" }
  }

  /// Calls one of Slurm's commands to its end.
  @discardableResult
  public func call(_ command: String, _ words: String...) throws -> PythonScript.Result {
    try PythonScript.run("/usr/bin/env", [command] + words, environment, nil)
  }

  /// The process id of one of its daemons: `slurmctld`, `slurmd.node1`, `slurmd.node2`.
  public func process(_ daemon: String) -> Int32? {
    let file = root.appending("run").appending("\(daemon).pid").string
    return (try? String(contentsOfFile: file, encoding: .utf8))
      .flatMap { Int32($0.split(separator: "\n").first ?? "") }
  }

  deinit {
    _ = try? PythonScript.run([Self.script, "stop", root.string])
  }
}
