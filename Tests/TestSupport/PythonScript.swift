import Foundation
import SystemPackage
import Testing

/// Scripts of the project's own, by the system's Python and its standard library only.
public enum PythonScript {
  public typealias Result = Running.Result

  /// Runs to the end.
  public static func run(
    _ words: [String], environment: [String: String]? = nil, in folder: FilePath? = nil
  ) throws -> Result {
    try run("/usr/bin/env", ["python3"] + words, environment, folder)
  }

  /// Runs any program to the end.
  public static func run(
    _ program: String, _ words: [String], _ environment: [String: String]?, _ folder: FilePath?
  ) throws -> Result {
    try Running(FilePath(program), words, in: folder, environment: environment).finish()
  }

  /// Why there is none; empty: there is one. Printed once.
  public static let absence: String = {
    if ForeignPrograms.areLeftOut { return ForeignPrograms.absence }
    if (try? run(["--version"]))?.status == 0 { return "" }
    let text = "there is no python3 in PATH: what needs the fake or the real Slurm is not run"
    print("skipped: \(text)")
    return text
  }()

  public static var isPresent: Bool { absence.isEmpty }
}
