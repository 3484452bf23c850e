import Foundation
import SystemPackage
import Testing

/// Loaders of other people, in a Python environment of the project's own, by `Tests/Readers/check.py`.
public enum Readers {
  private static let folder = Fixtures.projectRoot.appending("Tests/Readers")
  /// Made by `make setup-test`.
  private static let python = Fixtures.projectRoot.appending(".build/readers/bin/python").string

  /// What is missing; empty: nothing. Printed once.
  public static let absence: String = {
    guard FileManager.default.isExecutableFile(atPath: python),
      (try? run([python, "-c", "import numpy, cv2"]))?.status == 0
    else {
      let text =
        ".build/readers is absent: exports are not opened by foreign loaders (make setup-test makes it; "
        + "it needs the network)"
      print("note: \(text)")
      return text
    }
    return ""
  }()

  public static var arePresent: Bool { absence.isEmpty }

  /// Formats that have a reader, by the names of the scripts.
  public static let formats: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
    return names.filter { $0.hasPrefix("read_") && $0.hasSuffix(".py") }
      .map { String($0.dropFirst(5).dropLast(3)) }.sorted()
  }()

  /// Opens an export and makes every deliberate mistake in copies of it. Status 0: all is well.
  public static func check(
    _ format: String, _ export: FilePath, capture: FilePath, truth: FilePath?
  ) throws -> (status: Int32, output: String) {
    var words = [python, folder.appending("check.py").string, format, export.string]
    words += ["--capture", capture.string]
    if let truth { words += ["--truth", truth.string] }
    return try run(words)
  }

  private static func run(_ words: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: words[0])
    process.arguments = Array(words.dropFirst())
    var environment = ProcessInfo.processInfo.environment
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    process.environment = environment
    let place = try TemporaryFolder()
    let file = place.path.appending("output").string
    _ = FileManager.default.createFile(atPath: file, contents: nil)
    let handle = try FileHandle(forWritingTo: URL(filePath: file))
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    try handle.close()
    process.waitForEnd()
    return (process.terminationStatus, try String(contentsOfFile: file, encoding: .utf8))
  }
}
