import Captures
import Core
import Engine

/// The segments of a capture: its frames, cut where the poses do not continue. An export can take one of them.
struct PoseSegments {
  static let parameter = Parameter<Choice?>(
    "segment", .spelled,
    "Frames are cut where the poses jump (pose-jump) and where tracking begins. longest, or a number from 1: only the "
      + "frames of this segment. all: every frame, and export.json lists the segments."
  ).added()

  enum Choice: SpelledValue, Equatable {
    case all, longest
    case number(Int)

    static let domain = "all, longest or a number from 1"

    init?(_ text: String) {
      switch text {
      case "all": self = .all
      case "longest": self = .longest
      default:
        guard let number = Int(text), number > 0 else { return nil }
        self = .number(number)
      }
    }

    var text: String {
      switch self {
      case .all: "all"
      case .longest: "longest"
      case .number(let number): "\(number)"
      }
    }
  }

  private struct Segment {
    /// Canonical frames.
    var first: Int
    var last: Int
    /// Frames with a pose.
    var poses = 0
    /// Why it does not continue the one before.
    var cause: PoseBreak.Cause?
  }

  private let segments: [Segment]
  /// The index of the segment to export; `nil` for all.
  private let chosen: Int?

  /// Whether an export takes one of the segments.
  static func isChosen(_ parameters: ParameterValues) -> Bool {
    parameters[parameter].map { $0 != .all } ?? false
  }

  /// `nil` if nothing is asked of segments.
  ///
  /// - Throws: `StageDoesNotApply` if there is no segment of the number.
  init?(_ context: StageContext) throws {
    guard let choice = context.parameters[Self.parameter] else { return nil }
    let capture = context.capture
    var found = [Segment(first: 0, last: capture.frames.count - 1)]
    var breaks = PoseBreak.all(capture)[...]
    for frame in (capture.poses.value?.rows ?? []).map(\.frame).sorted() {
      if let next = breaks.first, next.frame == frame {
        breaks.removeFirst()
        found[found.count - 1].last = frame - 1
        found.append(Segment(first: frame, last: capture.frames.count - 1, cause: next.cause))
      }
      found[found.count - 1].poses += 1
    }
    segments = found
    switch choice {
    case .all: chosen = nil
    case .longest:
      // The first of equal ones.
      let most = found.map(\.poses).max()
      chosen = found.firstIndex { $0.poses == most }
    case .number(let number):
      guard found.indices.contains(number - 1) else {
        throw StageDoesNotApply(
          "no segment \(number): the poses have \(Plural.text(found.count, "segment"))")
      }
      chosen = number - 1
    }
  }

  func contains(_ frame: Int) -> Bool {
    chosen.map { segments[$0].first <= frame && frame <= segments[$0].last } ?? true
  }

  /// Adds the segments to `export.json` and `README.txt`.
  func describe(_ content: inout ExportContent, _ readme: inout ExportReadme) {
    content.more["segment"] = chosen.map { .integer(Int64($0 + 1)) } ?? .null
    content.more["segments"] = .array(
      segments.map { segment in
        .object([
          "first": .integer(Int64(segment.first)),
          "last": .integer(Int64(segment.last)),
          "poses": .integer(Int64(segment.poses)),
          "cause": segment.cause.map { .string($0.words) } ?? .null,
        ])
      })
    readme.remarks.append(sentence)
  }

  private var sentence: String {
    guard let chosen else {
      return
        "The poses have \(Plural.text(segments.count, "segment")), which export.json lists; all are here."
    }
    let cuts = [chosen, chosen + 1].compactMap { index -> String? in
      guard segments.indices.contains(index), let cause = segments[index].cause else { return nil }
      return "at frame \(segments[index].first) \(cause.words)"
    }
    return
      "Only segment \(chosen + 1) of \(segments.count) is here, the frames from \(segments[chosen].first) to "
      + "\(segments[chosen].last)" + (cuts.isEmpty ? "." : ": \(cuts.joined(separator: ", and ")).")
  }
}

extension PoseBreak.Cause {
  /// A text for people: `the camera moves 1.84 m within 17 ms`.
  fileprivate var words: String {
    switch self {
    case .trackingBegins: "tracking begins"
    case .jump(let meters, let seconds):
      "the camera moves \(ExportReadme.rounded(meters)) m within \(ExportReadme.rounded(seconds * 1000)) ms"
    }
  }
}
