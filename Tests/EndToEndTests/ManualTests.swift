import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Manual pages", .runsPrograms)
struct ManualTests {
  /// Made by the program; the verbs that people call, in the order of the help.
  private static let pages: (folder: TemporaryFolder, verbs: [String], help: [String: String])? = {
    do {
      let folder = try TemporaryFolder()
      let environment = ProcessInfo.processInfo.environment.merging(
        ["SOURCE_DATE_EPOCH": "1795000000"]
      ) { $1 }
      let made = try Program.run("generate-manual \(folder.path)", environment: environment)
      guard made.status == 0 else { return nil }
      let dump = try Program.run(["--experimental-dump-help"]).json()
      let root = dump["command"] as? [String: Any]
      let verbs = (root?["subcommands"] as? [[String: Any]] ?? [])
        .filter { $0["shouldDisplay"] as? Bool != false }
        .compactMap { $0["commandName"] as? String }
      let shown = verbs.filter { $0 != "help" }
      let help = try shown.map { ($0, try Program.run("\($0) --help").output) }
      return (folder, shown, Dictionary(uniqueKeysWithValues: help))
    } catch { return nil }
  }()

  private static func text(_ page: String) throws -> String {
    let pages = try #require(pages)
    return try pages.folder.path.appending(page).text()
  }

  /// The commands of EXAMPLES.
  private static func examples(_ page: String) throws -> [String] {
    try text(page).lines.filter { $0.hasPrefix(".Dl $ ") }
      .map { String($0).dropFirst(".Dl $ ".count).replacing("\\-", with: "-") }
      .map { String($0) }
  }

  @Test("Every verb has a page, hidden ones have none, and the program's page names them all")
  func onePageEach() throws {
    let pages = try #require(Self.pages)
    #expect(pages.verbs.count >= 14)
    #expect(
      Set(try FileSystem.names(in: pages.folder.path))
        == Set(pages.verbs.map { "scanmill-\($0).1" } + ["scanmill.1"]))
    for verb in pages.verbs {
      #expect(try Self.text("scanmill.1").contains(".It Xr scanmill-\(verb) 1\n"), "\(verb)")
    }
  }

  @Test("A page tells every option of its verb, every exit code, and the date of the sources")
  func whole() throws {
    let pages = try #require(Self.pages)
    for verb in pages.verbs {
      let page = try Self.text("scanmill-\(verb).1")
      let help = try #require(pages.help[verb])
      // A page has those that `--help-hidden` shows.
      for option in help.matches(of: /--[a-z][a-z-]+/)
      where !["--version", "--help-hidden"].contains(option.output) {
        let name = option.output.dropFirst(2).replacing("-", with: "\\-")
        #expect(page.contains(name), "\(verb) \(option.output)")
      }
      for code in [0, 1, 64, 65, 70, 73, 75, 78, 130, 143] {
        #expect(page.contains("\n.It \(code)\n"), "\(verb) \(code)")
      }
      #expect(page.contains("\n.Dd November 18, 2026\n"))
    }
  }

  @Test(
    "No help of a verb is longer than 60 lines or wider than 80 columns, and it has all options")
  func help() throws {
    let pages = try #require(Self.pages)
    for verb in pages.verbs {
      let help = try #require(pages.help[verb])
      let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(!help.contains(" --output ") || help.contains("-o, --output"), "\(verb)")
      #expect(lines.count <= 60, "\(verb): \(lines.count) lines")
      #expect(lines.allSatisfy { $0.count <= 80 }, "\(verb)")
      let whole = try Program.run("\(verb) --help-hidden").output
      let options = lines.filter { $0.hasPrefix("  -") }
      for line in options { #expect(whole.contains(line), "\(verb): \(line)") }
      #expect(Set(options).count == options.count, "\(verb)")
    }
    let run = try #require(pages.help["run"])
    for title in ["WHAT TO MAKE:", "WHICH CAPTURES:", "HOW:", "CLUSTER:", "OUTPUT:"] {
      #expect(run.contains("\n\(title)\n"))
    }
    #expect(try Program.run("run --help-hidden").output.contains("--stall"))
  }

  @Test("Each page has an example that works, one after the other")
  func everyExample() throws {
    let pages = try #require(Self.pages)
    let folder = try TemporaryFolder()
    try Program.synthesizeSamples(in: folder.path)
    for verb in pages.verbs {
      let examples = try Self.examples("scanmill-\(verb).1")
      #expect(
        examples.count == 1,
        "\(verb): add an example to Sources/scanmill/Manual/ManualPage.swift")
      for example in examples {
        #expect(example.hasPrefix("scanmill \(verb)"), "\(verb)")
        if verb == "receive" {
          // It ends when it is told to.
          let words = example.split(separator: " ").dropFirst().map(String.init)
          let receiver = try Program.start(words, in: folder.path)
          try Waiting.until("an address") { try receiver.outputSoFar().contains("listening on") }
          receiver.process.interrupt()
          let result = try receiver.finish()
          #expect(result.status == 130, "\(example): \(result.errors)")
          continue
        }
        if verb == "send" {
          try send(example, in: folder)
          continue
        }
        let result = try Program.run(line: example, in: folder.path)
        #expect(result.status == 0, "\(example): \(result.errors)")
      }
    }
    #expect(try Self.examples("scanmill.1").count == 2)
  }

  /// To a receiver of its own, whose port is not that of the example.
  private func send(_ example: String, in folder: TemporaryFolder) throws {
    let receiver = try Program.start(
      "receive received --listen 127.0.0.1:0 --reserve 0", in: folder.path)
    try Waiting.until("an address") { try receiver.outputSoFar().contains("listening on") }
    let address = try #require(
      try receiver.outputSoFar().split(whereSeparator: \.isWhitespace).last)
    #expect(example.contains("http://127.0.0.1:8000"))
    let line = example.replacing("http://127.0.0.1:8000", with: address)
    let result = try Program.run(line: line, in: folder.path)
    #expect(result.status == 0, "\(example): \(result.errors)")
    receiver.process.interrupt()
    #expect(try receiver.finish().status == 130)
  }

  private static let hasMandoc = has("mandoc")
  private static let hasMan = has("man")

  private static func has(_ program: String) -> Bool {
    ForeignPrograms.has(program, else: "manual pages are not looked at by it")
  }

  @Test("mandoc has nothing to say against them", .enabled(if: hasMandoc))
  func mandoc() throws {
    let pages = try #require(Self.pages)
    let files = try FileSystem.names(in: pages.folder.path)
    let result = try Running(
      "/usr/bin/env", ["mandoc", "-T", "lint"] + files, in: pages.folder.path
    ).finish()
    // It looks for the other pages where manuals are installed.
    let said = (result.output + result.errors).lines.filter { line in
      !files.contains { file in
        line.hasSuffix("referenced manual not found: Xr \(file.dropLast(2)) 1")
      }
    }
    #expect(said.isEmpty, "\(said.joined(separator: "\n"))")
  }

  @Test("man shows them without a warning", .enabled(if: hasMan))
  func man() throws {
    let pages = try #require(Self.pages)
    for file in try FileSystem.names(in: pages.folder.path) {
      let result = try Running(
        "/usr/bin/env",
        ["MANWIDTH=80", "LC_ALL=C.UTF-8", "man", "--warnings", "-l", file], in: pages.folder.path
      ).finish()
      #expect(result.status == 0 && result.errors.isEmpty, "\(file): \(result.errors)")
      #expect(result.output.contains("EXIT STATUS"), "\(file)")
    }
  }
}
