import Foundation
import SystemPackage
import Testing

/// Scripts of the project's own, by the system's Python and its standard library only.
public enum PythonScript {
  public struct Result: Sendable {
    public var status: Int32
    public var outputBytes: [UInt8]
    public var errors: String

    public var output: String { String(decoding: outputBytes, as: UTF8.self) }
  }

  /// Runs to the end. Files, not pipes: what the script leaves running does not keep us waiting.
  public static func run(
    _ words: [String], environment: [String: String]? = nil, in folder: FilePath? = nil
  ) throws -> Result {
    try run("/usr/bin/env", ["PYTHONDONTWRITEBYTECODE=1", "python3"] + words, environment, folder)
  }

  /// Runs any program to the end.
  public static func run(
    _ program: String, _ words: [String], _ environment: [String: String]?, _ folder: FilePath?
  ) throws -> Result {
    let place = try TemporaryFolder()
    let names = ["output", "errors"].map { place.path.appending($0).string }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = words
    if let environment { process.environment = environment }
    if let folder { process.currentDirectoryURL = URL(filePath: folder.string) }
    let files = try names.map { name in
      _ = FileManager.default.createFile(atPath: name, contents: nil)
      return try FileHandle(forWritingTo: URL(filePath: name))
    }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = files[0]
    process.standardError = files[1]
    try process.run()
    for file in files { try file.close() }
    process.waitForEnd()
    let status = process.terminationStatus
    return Result(
      status: process.terminationReason == .exit ? status : -status,
      outputBytes: Array(try Data(contentsOf: URL(filePath: names[0]))),
      errors: try String(contentsOfFile: names[1], encoding: .utf8))
  }

  /// Why there is none; empty: there is one. Printed once.
  public static let absence: String = {
    if (try? run(["--version"]))?.status == 0 { return "" }
    let text = "there is no python3 in PATH: what needs the fake or the real Slurm is not run"
    print("skipped: \(text)")
    return text
  }()

  public static var isPresent: Bool { absence.isEmpty }
}
