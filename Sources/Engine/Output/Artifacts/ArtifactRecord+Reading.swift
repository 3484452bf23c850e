import Captures
import Core
import FoundationEssentials
import SystemPackage

/// The one reader of `artifact.json`, and of the records that are kept of artifacts that were removed.
extension ArtifactRecord {
  /// Fails if the bytes are no record, or a cut one.
  package init?(reading bytes: [UInt8]) {
    guard let record = try? JSONDecoder().decode(ArtifactRecord.self, from: Data(bytes)) else {
      return nil
    }
    self = record
  }

  /// The record at a path in the output of a capture; no link is followed below `--output`. Whether it is to be
  /// believed is not looked at.
  package init?(at path: FilePath, of layout: OutputLayout) {
    guard let bytes = HeldFolder.contents(of: path, below: layout.root) else { return nil }
    self.init(reading: bytes)
  }

  /// Whether a file of the record's name is that of `stage`, or one of ours that is too damaged to say.
  static func isOurs(_ bytes: [UInt8], of stage: String) -> Bool {
    struct Head: Decodable {
      var stage: String
      var fingerprint: String
    }
    if let head = try? JSONDecoder().decode(Head.self, from: Data(bytes)) {
      return head.stage == stage
    }
    // Another file of that name, unless it is no JSON at all: torn by the disk or by hand.
    return (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))) == nil
  }
}

/// Which pictures of a capture were picked, as `capture.json` states it.
package struct PickedPictures: Codable, Hashable, Sendable {
  /// `color.pick`: `even`, `sharpest` or `motion`.
  var pick: String
  /// Number of pictures that were picked…
  var picked: Int
  /// … of so many that could have been.
  package var of: Int
  /// Words on what groups were told apart by.
  var means: String
}

extension ArtifactRecord {
  /// What was picked; `nil` for a stage that does not decode color, and where every picture was written.
  var pickedPictures: PickedPictures? {
    guard uses == "decode-color", case .object(let picked)? = recorded["picked"],
      case .array(let frames)? = picked["frames"], case .integer(let of)? = picked["of"],
      case .string(let means)? = picked["means"]
    else { return nil }
    // The default is left out of records.
    var pick = "even"
    if case .string(let way)? = parameters["pick"] { pick = way }
    return PickedPictures(
      pick: pick, picked: frames.count, of: Int(clamping: of), means: means)
  }
}

extension ArtifactRecord {
  /// Payload kinds that a stage met while decoding, by stream name.
  var streamEncodings: [String: String] {
    guard case .object(let values)? = recorded["streamEncodings"] else { return [:] }
    return values.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
  }

  /// Frames that a stage could not decode, by stream name; of a stage that lost none nothing is recorded.
  var frameHoles: [String: FrameHoles] {
    guard case .object(let values)? = recorded[FrameHoles.recordedName] else { return [:] }
    return values.compactMapValues { value in
      guard case .object(let counts) = value, case .integer(let lost)? = counts["lost"],
        case .integer(let frames)? = counts["frames"]
      else { return nil }
      return FrameHoles(lost: Int(clamping: lost), frames: Int(clamping: frames))
    }
  }
}

extension [String: FrameHoles] {
  /// Takes the larger loss where two stages have read one stream.
  mutating func take(_ record: ArtifactRecord) {
    merge(record.frameHoles) { $0.lostShare >= $1.lostShare ? $0 : $1 }
  }
}

/// The one reader of verdicts on the quality of captures.
extension ArtifactRecord {
  /// The verdict that the stage recorded; `nil` for a stage of another kind, and where it cannot be understood.
  package var quality: CaptureQuality? {
    typealias Key = CaptureQuality.Key
    guard uses == CaptureQuality.stageKind,
      let verdict = Self.level(recorded[Key.verdict.rawValue]),
      case .array(let reasons)? = recorded[Key.reasons.rawValue],
      case .object(let judged)? = recorded[Key.judged.rawValue]
    else { return nil }
    return CaptureQuality(
      verdict: verdict, pictures: Self.pictures(recorded[Key.pictures.rawValue]),
      reasons: reasons.compactMap { if case .string(let text) = $0 { text } else { nil } },
      judged: judged.compactMapValues { judged in
        guard case .object(let members) = judged,
          let level = Self.level(members[Key.level.rawValue])
        else { return nil }
        // JSON writes 1.0 as 1.
        switch members[Key.value.rawValue] {
        case .number(let value): return CaptureQuality.Judged(value: value, level: level)
        case .integer(let value):
          return CaptureQuality.Judged(value: Double(value), level: level)
        default: return level == .unjudged ? CaptureQuality.Judged(value: nil, level: level) : nil
        }
      })
  }

  private static func pictures(_ value: JSONValue?) -> CaptureQuality.Pictures? {
    guard case .object(let members)? = value,
      case .integer(let judged)? = members[CaptureQuality.Key.judged.rawValue],
      case .integer(let all)? = members[CaptureQuality.Key.of.rawValue]
    else { return nil }
    return CaptureQuality.Pictures(
      judged: Int(clamping: judged), of: Int(clamping: all))
  }

  private static func level(_ value: JSONValue?) -> CaptureQuality.Level? {
    guard case .string(let name)? = value else { return nil }
    return CaptureQuality.Level(rawValue: name)
  }
}

extension [ArtifactRecord] {
  /// The verdict that counts, of records in the order of the pipeline: that of the stage with the usual name, else
  /// the first.
  package var quality: CaptureQuality? {
    first { $0.stage == CaptureQuality.usualStage && $0.quality != nil }?.quality
      ?? lazy.compactMap(\.quality).first
  }
}
