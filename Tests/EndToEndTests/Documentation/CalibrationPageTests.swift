import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The page of calibrations", .runsPrograms)
struct CalibrationPageTests {
  /// A block of code and the file that the line above it names.
  private struct Block {
    var language: String
    var file: String?
    var text: String
  }

  private static func blocks() throws -> [Block] {
    let page = Fixtures.projectRoot.appending("docs/calibration.md")
    let parts = try page.text().components(separatedBy: "\n```")
    return parts.indices.filter { $0 % 2 == 1 }.map { index in
      let lines = parts[index].split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let above = parts[index - 1].lines.last.map(String.init) ?? ""
      let file = above.wholeMatch(of: /`([a-z]+\.[a-z]+)`:/).map { String($0.output.1) }
      return Block(
        language: String(lines[0]), file: file,
        text: (lines.count > 1 ? String(lines[1]) : "") + "\n")
    }
  }

  /// A folder with `sample-data` and the files of the page in it.
  private static func place() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.path.appending("sample-data").link(
      to: Fixtures.projectRoot.appending("sample-data").string)
    for block in try blocks() {
      guard let file = block.file else { continue }
      try folder.path.appending(file).write(block.text)
    }
    return folder
  }

  private static let scan =
    "sample-data/2026-11-23_09-55-14__A8ECBA23-EFA8-4B99-A459-A1949DC76E26"

  private static func alignment(
    _ file: String, _ capture: String, _ folder: FilePath
  ) throws -> [String: Any] {
    let result = try Program.run(
      "inspect \(capture) --quick --calibration \(file) --json", in: folder)
    #expect(result.status == 0, "\(file): \(result.errors)")
    let used = try result.json().object("calibrationInForce")
    return try used.object("alignment")
  }

  /// Equal objects have equal texts.
  private static func text(_ object: [String: Any]) throws -> String {
    String(
      decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys),
      as: UTF8.self)
  }

  @Test("Every block that is no command is a file that the line above it names")
  func named() throws {
    let blocks = try Self.blocks()
    let files = blocks.filter { $0.language != "sh" }
    #expect(files.map(\.file) == ["lab.json", "shared.json", "lab.txt", "camchain.yaml"])
    #expect(blocks.count { $0.language == "sh" } == 3)
  }

  @Test("The three forms on it are one and the same calibration")
  func same() throws {
    let folder = try Self.place()
    let json = try Self.alignment("lab.json", Self.scan, folder.path)
    #expect(json["registered"] as? Bool == false)
    for file in ["lab.txt", "camchain.yaml"] {
      let other = try Self.alignment(file, Self.scan, folder.path)
      #expect(try Self.text(other) == Self.text(json), "\(file)")
    }
    let color = try #require((json["distortion"] as? [String: Any])?["color"] as? [String: Double])
    #expect(color["k2"] == -0.001 && color["p1"] == 0.0002 && color["k3"] == 0.0005)
  }

  @Test("Its file for one shared camera is one for the sample capture that has one")
  func shared() throws {
    let folder = try Self.place()
    let used = try Self.alignment(
      "shared.json", "sample-data/lab 101 2026-02-09 11-33-00", folder.path)
    #expect(used["registered"] as? Bool == true)
  }

  @Test(
    "Its commands work one after the other, and the last run finds everything as the first left it")
  func commands() throws {
    let folder = try Self.place()
    let script = try Self.blocks().filter { $0.language == "sh" }.map(\.text).joined()
    let file = folder.path.appending("page.sh").string
    try FilePath(file).write(script)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let environment = ProcessInfo.processInfo.environment.merging(
      ["PATH": "\(Program.path.removingLastComponent()):\(path)"]
    ) { $1 }
    let result = try PythonScript.run("/bin/sh", ["-e", file], environment, folder.path).succeeds()
    #expect(result.output.contains("chosen by device A8ECBA23"), "\(result.output)")
    let look = folder.path.appending("look.png").string
    #expect(FileManager.default.fileExists(atPath: look))
  }

  /// Each line of the table of what is refused that shows a message.
  @Test(
    "What it says is refused is refused, with the words that it shows",
    arguments: [
      (
        "\"colorFromDepth\"", "\"other\"",
        "lab.json: colorFromDepth: is missing: add the 4×4 matrix"
      ),
      ("0.999973", "0.5", "colorFromDepth = ["),
      (
        "0, 0, 0, 1\n", "0, 0, 1, 1\n",
        "must have the last row 0 0 0 1: write the matrix row by row"
      ),
      ("\"fx\": 571.6", "\"fx\": 0", "depthIntrinsics.fx = 0.0: must be above 0 and finite"),
      ("\"width\": 640", "\"width\": 16385", "must be 1 to 16384 pixels"),
      ("\"k1\"", "\"k7\"", "distortion.color.k7: is not a lens coefficient"),
      (
        "\"fx\": 571.6", "\"k1\": 0, \"fx\": 571.6",
        "write lens coefficients below distortion.depth"
      ),
      (
        "\"schema\"", "\"depthDistortion\": {}, \"schema\"",
        "depthDistortion: is not a key of a calibration"
      ),
    ])
  func refused(part: String, replacement: String, message: String) throws {
    let folder = try Self.place()
    let text = try #require(try Self.blocks().first { $0.file == "lab.json" }).text
    try #require(text.contains(part))
    let changed = text.replacing(part, with: replacement, maxReplacements: 1)
    try folder.path.appending("lab.json").write(changed)
    let words = ["run", Self.scan, "-o", "out", "--set", "aligned.calibration=lab.json", "-n"]
    let result = try Program.run(words, in: folder.path)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("error: aligned.calibration: lab.json: "), "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }
}
