import ArgumentParser
import Captures
import FoundationEssentials
import Engine
import Core
import SystemPackage

struct InspectCommand: ListingVerb {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract:
      "What is in a capture, checked against the bytes of its files, and what is wrong with it.")

  @Argument(help: "Captures, or folders of captures.", completion: Completion.captures)
  var captures: [String]

  @Flag(help: "Print JSON: one object for one capture, a list under 'captures' for several.")
  var json = false

  @Flag(help: "Do not decode depth and confidence: faster, but misses damage inside records.")
  var quick = false

  @Option(
    help: ArgumentHelp(
      "Say what this calibration file would do in place of the capture's own.", valueName: "file"),
    completion: CompletionKind.file())
  var calibration: String?

  @Option(
    help: ArgumentHelp(
      "Say which calibration a folder of DEVICE-ID files would put in place.", valueName: "dir"),
    completion: Completion.folder)
  var calibrationFolder: String?

  @Flag(
    help:
      "End with 1 when a capture needs you. Videos are not decoded: pictures that are damaged inside of one are told by a run."
  )
  var exitCode = false

  @Flag(help: "End with 1 when a capture has warnings or a stream that cannot be read.")
  var strict = false

  func run() throws {
    try Toolbox.checkLibraries()
    let finder = CaptureFinder(Toolbox.captures)
    let findings = captures.map { finder.find(FilePath(text: $0)) }
    let declined = findings.flatMap(\.failures)
    for finding in declined { Console.error("error: \(finding.declined ?? "no capture")") }
    let recognitions = findings.flatMap(\.captures)
    let looks = try look(at: recognitions)
    for look in looks {
      for problem in look.problems { Console.error("error: \(problem)") }
    }
    let pages = looks.compactMap(\.page)
    if !pages.isEmpty {
      if json {
        let isOne = recognitions.count == 1
        Console.print(json: isOne ? Array(pages[0].document.utf8) : Self.several(pages))
      } else {
        Console.print(pages.map(\.text).joined(separator: "\n"))
      }
    }
    if looks.contains(where: \.isOurMistake) { throw Exit(code: ExitStatus.internalError) }
    if pages.isEmpty {
      let reasons = declined.map { $0.declined ?? "no capture" } + looks.flatMap(\.problems)
      printEmpty(reasons.joined(separator: "; "))
      throw Exit(code: ExitStatus.noCapture)
    }
    if looks.contains(where: { !$0.problems.isEmpty }) || !declined.isEmpty
      || (exitCode && pages.contains { !$0.reasons.isEmpty })
      || (strict && pages.contains { $0.faults > 0 })
    {
      throw Exit(code: ExitStatus.jobFailed)
    }
  }

  func empty(_ reason: String) -> EmptyAnswer? { json ? .list(reason) : nil }

  /// The result of inspecting one capture in another process.
  private struct Look {
    var page: InspectionPage?
    /// Messages, one line each.
    var problems: [String] = []
    var isOurMistake = false
  }

  /// Inspects each capture in a separate process, as many at a time as there are cores.
  private func look(at recognitions: [Recognition]) throws -> [Look] {
    guard !recognitions.isEmpty else { return [] }
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let atOnce = min(cores, recognitions.count)
    let client = try InspectionCommand.client(atOnce: atOnce)
    return try concurrentMap(count: recognitions.count) { index in
      var question = InspectionRequest(
        .inspection(isQuick: quick), of: recognitions[index], calibration: calibration,
        calibrationFolder: calibrationFolder)
      question.cores = max(1, cores / atOnce)
      var look = Look()
      do throws(InspectionFailure) {
        let answer = try client.ask(question)
        look.page = answer.inspection
        look.problems = [answer.error?.description, answer.inspection?.calibrationProblem]
          .compactMap { $0 }
      } catch {
        look.problems = [error.description]
        look.isOurMistake = error.isOurMistake
      }
      return look
    }
  }

  /// `{"schema": 1, "captures": […]}`. JSON strings contain no line ends, so lines can be indented.
  private static func several(_ pages: [InspectionPage]) -> [UInt8] {
    let documents = pages.map { page in
      page.document.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
    }
    return Array(
      ("{\n  \"captures\" : [\n" + documents.joined(separator: ",\n")
        + "\n  ],\n  \"schema\" : 1\n}\n").utf8)
  }
}
