import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Names that are not UTF-8, through the built binary.
@Suite(.runsPrograms) struct OddNameTests {
  private let folder: TemporaryFolder
  private var input: FilePath { folder.path.appending("in") }

  init() throws { folder = try TemporaryFolder() }

  /// A small capture of `family` whose folder, and stem where it has one, hold byte 0xFF; its new place
  /// and the name of its results.
  private func makeOdd(_ family: String) throws -> (FilePath, name: String) {
    try Program.synthesize("\(family) --frames 4 --width 160 --height 120 --id plain", to: input)
    let plain = input.appending("plain")
    let odd = input.appending(name: PathText.text(of: Array("x".utf8) + [0xFF, 0x79]))
    let isStem = try FileSystem.names(in: plain).contains { $0.hasPrefix("plain.") }
    for name in try FileSystem.names(in: plain) where isStem && name.hasPrefix("plain") {
      let other = PathText.text(of: Array("s".utf8) + [0xFF] + Array(name.dropFirst(5).utf8))
      try FileSystem.rename(plain.appending(name), to: plain.appending(name: other))
    }
    try FileSystem.rename(plain, to: odd)
    return (odd, isStem ? "s%FF" : "x%FFy")
  }

  @Test(arguments: ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"])
  func `a capture with odd bytes in its names is processed like any other`(family: String) throws {
    let (_, name) = try makeOdd(family)
    let output = folder.path.appending("out")
    let arguments = ["run", input.string, "--output", output.string]
    let run = try Program.run(arguments).succeeds()
    #expect(run.output.hasPrefix("\(name) made "), "\(run.output)")
    let document = try #require(
      output.appending(name).appending("capture.json").contents)
    let object = try document.json()
    #expect(object["id"] as? String == name)
    #expect((object["path"] as? String)?.hasSuffix("/x%FFy") == true)
    // Nothing is done twice, whoever asks.
    let again = try Program.run("\(arguments) --json")
    let captures = try again.json().objects("captures")
    let stages = captures.flatMap { $0["stages"] as? [[String: Any]] ?? [] }
    #expect(!stages.isEmpty)
    #expect(stages.allSatisfy { $0["outcome"] as? String != "made" })
    let status = try Program.run("status \(output)")
    #expect(status.status == 0 && !status.output.contains("gone"), "\(status.output)")
    let inspected = try Program.run("inspect \(input) --json").succeeds()
    #expect(try inspected.json()["id"] as? String == name)
  }

  @Test func `odd bytes in the paths of the command line arrive`() throws {
    let (_, name) = try makeOdd("strabo")
    let script = """
      exec "$0" run "$(printf '%s/x\\377y' "$1")" --output "$(printf '%s/out\\376' "$2")"
      """
    try Running(
      "/bin/sh", ["-c", script, Program.path.string, input.string, folder.path.string], in: nil
    ).finish().succeeds()
    let output = folder.path.appending(name: PathText.text(of: Array("out".utf8) + [0xFE]))
    #expect(FileSystem.exists(output.appending(name).appending("capture.json")))
  }

  @Test func `a line of text stays one line, whatever control characters names and notes have`()
    throws
  {
    try Program.synthesize("strabo --frames 2 --width 160 --height 120 --id plain", to: input)
    try FileSystem.rename(input.appending("plain"), to: input.appending("two\nlines"))
    let output = folder.path.appending("out").string
    _ = try Program.run(["run", input.string, "--output", output, "--only", "imu"])
    let picture = folder.path.appending("x.png").string
    let view = try Program.run(["view", output, "--output", picture])
    #expect(
      view.errors.contains("note: two\\u{A}lines: nothing that can be shown"), "\(view.errors)")
    let words = ["mark", "ignore", "two", "--output", output, "--note", "a\nb"]
    let mark = try Program.run(words).succeeds()
    #expect(mark.output.hasSuffix(": a\\u{A}b\n"), "\(mark.output)")
  }
}
