import ArgumentParser
import Benchmarking
import Captures
import Engine
import Core
import SystemPackage

/// Measures one part of the floor in a separate process, so that the kernel's resource usage is for
/// that part alone. Called by `bench --floor`, and useful only to similar scripts.
struct FloorCommand: ParsableCommand {
  static let name = "floor"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Measure one part of the least that can be done.",
    discussion: """
      decode CAPTURE, convert CAPTURE, depth CAPTURE, confidence CAPTURE, copy FOLDER NEW-FOLDER: prints \
      what it took as a JSON object. touch BYTES: uses that much memory once.
      """,
    shouldDisplay: false)

  @Argument var part: String
  @Argument var subjects: [String]

  func validate() throws {
    guard subjects.count == (part == FloorPart.copy.rawValue ? 2 : 1) else {
      throw ValidationError("floor \(part) takes another number of words")
    }
    guard part == Self.touch ? Int64(subjects[0]) != nil : FloorPart(rawValue: part) != nil else {
      throw ValidationError("floor measures no '\(part) \(subjects[0])'")
    }
  }

  private static let touch = "touch"

  func run() throws {
    do {
      switch FloorPart(rawValue: part) {
      case nil: _ = HostMemory.touch(upTo: Int64(subjects[0]) ?? 0)
      case .copy:
        try tell(FloorCopy.measure(FilePath(text: subjects[0]), to: FilePath(text: subjects[1])))
      case let part?: try tell(FloorWork.measure(part, of: try capture(subjects[0])))
      }
    } catch let error as BenchmarkError {
      throw CommandFailure(code: ExitStatus.jobFailed, text: error.description)
    }
  }

  private func tell(_ sample: FloorSample) throws {
    Console.print(json: try JSONText.pretty(sample))
  }

  private func capture(_ path: String) throws -> Capture {
    let finding = CaptureFinder(Toolbox.captures).find(FilePath(text: path))
    guard let recognition = finding.captures.first else {
      throw CommandFailure(code: ExitStatus.noCapture, text: finding.declined ?? "no capture")
    }
    return try Toolbox.captures.open(recognition)
  }
}
