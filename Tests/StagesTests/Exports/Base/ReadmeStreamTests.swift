@testable import Captures
@testable import Core
@testable import Engine
import TestSupport
import Testing

@testable import Stages

@Suite("What READMEs of exports speak of")
struct ReadmeStreamTests {
  /// A stream that is taken away, and the words that speak of it.
  struct Absence: Sendable, CustomTestStringConvertible {
    let stream: String
    /// Lower case.
    let words: [String]
    let take: @Sendable (inout EveryFormat) -> Void

    var testDescription: String { stream }
  }

  static let absences = [
    Absence(
      stream: "color", words: ["color", "picture", "image"],
      take: {
        $0.capture.color = .absent("no color")
        $0.hasColor = false
      }),
    Absence(
      stream: "depth", words: ["depth"],
      take: {
        $0.capture.depth = .absent("no depth")
        $0.capture.alignment?.depthIntrinsics = nil
        $0.hasDepth = false
      }),
    Absence(
      stream: "poses", words: ["pose", "trajectory", "ground truth", "groundtruth"],
      take: { $0.capture.poses = .absent("no poses") }),
    Absence(
      stream: "IMU", words: ["imu", "gyroscope", "acceler", "inertial", "specific force"],
      take: { $0.capture.imu = .absent("no IMU") }),
    Absence(
      stream: "intrinsics", words: ["intrinsic", "distortion", "lens"],
      take: {
        $0.capture.intrinsics = .absent("no intrinsics")
        $0.capture.alignment = nil
      }),
    Absence(
      stream: "position", words: ["position of", "latitude", "altitude", "gps", "/fix"],
      take: { $0.capture.geo = .absent("no position") }),
    Absence(
      stream: "times", words: ["times are", "timestamp"],
      take: { format in
        for frame in format.capture.frames.indices { format.capture.frames[frame] = CaptureFrame() }
      }),
  ]

  /// What says that something is not there, or how to make it, speaks of no stream.
  private static let denials = [
    "no ", "not ", "without", "lacks", "neither", "identity", "color only", "color grid",
  ]

  @Test(
    "No format speaks of a stream that the capture lacks, except to say so", arguments: absences)
  func absent(_ absence: Absence) throws {
    var capture = EveryFormat()
    absence.take(&capture)
    for kind in EveryFormat.kinds {
      guard let export = try capture.export(kind) else { continue }
      let sentences = export.readme.lines.flatMap {
        String($0).lowercased().split(separator: ". ").map(String.init)
      }
      for sentence in sentences where !Self.denials.contains(where: sentence.contains) {
        // Names of files and commands are those of the formats, whatever is in them.
        let words = sentence.split(separator: " ").filter { !Self.isName($0) }
          .joined(separator: " ")
        let spoken = absence.words.first { words.contains($0) }
        #expect(spoken == nil, "\(kind.name) without \(absence.stream): \(sentence)")
      }
    }
  }

  private static func isName(_ word: Substring) -> Bool {
    word.contains("/") || word.contains("_") || word.contains("(") || word.contains("--")
      || word.dropLast().contains(".")
  }
}
