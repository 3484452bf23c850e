import Foundation
import SystemPackage

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
