import Captures
import Core
import FoundationEssentials
import SystemPackage

/// The one reader of `artifact.json`, and of the records that are kept of artifacts that were removed.
///
/// The list of outputs is as long as the capture, and a coder of JSON holds ten times what it works on. So the list is read
/// and written in parts.
extension ArtifactRecord {
  private static let outputsPerPart = 1024

  /// Fails if the bytes are no record, or a cut one.
  package init?(reading bytes: [UInt8]) {
    let (list, parts) = Self.outputs(in: bytes)
    do {
      let rest = Data(bytes[..<list.lowerBound] + bytes[list.upperBound...])
      self = try ArtifactRecord(json: rest)
      for part in parts {
        let text = [UInt8(ascii: "[")] + bytes[part] + [UInt8(ascii: "]")]
        outputs += try [OutputEntry](json: text)
      }
    } catch {
      return nil
    }
  }

  /// The bytes of the file: those of `JSONText.pretty`.
  func fileBytes() throws -> [UInt8] {
    var rest = self
    rest.outputs = []
    let text = try JSONText.pretty(rest)
    guard !outputs.isEmpty else { return text }
    let list = Self.outputs(in: text).list
    var bytes = Array(text[..<list.lowerBound])
    for start in stride(from: 0, to: outputs.count, by: Self.outputsPerPart) {
      let part = outputs[start..<min(outputs.count, start + Self.outputsPerPart)]
      if start > 0 { bytes.append(UInt8(ascii: ",")) }
      // Without the lines of the brackets, and one level further in.
      let lines = try JSONText.pretty(Array(part)).split(separator: UInt8(ascii: "\n"))
      for line in lines.dropFirst().dropLast() { bytes += Array("\n  ".utf8) + line }
    }
    bytes += Array("\n  ".utf8) + text[list.upperBound...]
    return bytes
  }

  /// Where the list of outputs lies in the bytes of a record, without its brackets: as a whole, and in parts of some
  /// entries without the commas between them. Without a list: the end, and no parts.
  private static func outputs(in bytes: [UInt8]) -> (list: Range<Int>, parts: [Range<Int>]) {
    var (isText, isEscaped, depth) = (false, false, 0)
    // The text that began last, without its quotes.
    var text = 0..<0
    var (list, part, entries): (Int?, Int, Int) = (nil, 0, 0)
    var parts: [Range<Int>] = []
    for (index, byte) in bytes.enumerated() {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
          text = text.lowerBound..<index
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isText = true
        text = index + 1..<index + 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 2, byte == UInt8(ascii: "["), bytes[text].elementsEqual("outputs".utf8) {
          (list, part) = (index + 1, index + 1)
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        guard let list, depth == 1 else { continue }
        return (list..<index, parts + [part..<index])
      case UInt8(ascii: ",") where list != nil && depth == 2:
        entries += 1
        guard entries % outputsPerPart == 0 else { continue }
        parts.append(part..<index)
        part = index + 1
      default: break
      }
    }
    return (bytes.count..<bytes.count, [])
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
    if let head = try? Head(json: bytes) {
      return head.stage == stage
    }
    // Another file of that name, unless it is no JSON at all: torn by the disk or by hand.
    return (try? JSONValue(json: bytes)) == nil
  }
}

/// Which pictures of a capture were picked, as `capture.json` states it.
struct PickedPictures: Codable, Hashable, Sendable {
  /// `color.pick`: `even`, `sharpest` or `motion`.
  var pick: String
  /// Number of pictures that were picked…
  var picked: Int
  /// … of so many that could have been.
  var of: Int
  /// Words on what groups were told apart by.
  var means: String
}

extension ArtifactRecord {
  /// What was picked; `nil` for a stage that does not decode color, and where every picture was written.
  var pickedPictures: PickedPictures? {
    guard uses == "decode-color", let picked = recorded["picked"],
      let frames = picked["frames"]?.list, let of = picked["of"]?.whole,
      let means = picked["means"]?.text
    else { return nil }
    // The default is left out of records.
    return PickedPictures(
      pick: parameters["pick"]?.text ?? "even", picked: frames.count, of: of, means: means)
  }
}

extension ArtifactRecord {
  /// Payload kinds that a stage met while decoding, by stream name.
  var streamEncodings: [String: String] {
    recorded["streamEncodings"]?.members?.compactMapValues(\.text) ?? [:]
  }

  /// Frames that a stage could not decode, by stream name; of a stage that lost none nothing is recorded.
  var frameHoles: [String: FrameHoles] {
    let holes = recorded[FrameHoles.recordedName]?.members?.compactMapValues { counts in
      guard let lost = counts["lost"]?.whole, let frames = counts["frames"]?.whole else {
        return nil as FrameHoles?
      }
      return FrameHoles(lost: lost, frames: frames)
    }
    return holes ?? [:]
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
      let reasons = recorded[Key.reasons.rawValue]?.list,
      let judged = recorded[Key.judged.rawValue]?.members
    else { return nil }
    return CaptureQuality(
      verdict: verdict, pictures: Self.pictures(recorded[Key.pictures.rawValue]),
      reasons: reasons.compactMap(\.text),
      judged: judged.compactMapValues { judged in
        guard let level = Self.level(judged[Key.level.rawValue]) else { return nil }
        let value = judged[Key.value.rawValue]?.number
        return value == nil && level != .unjudged
          ? nil : CaptureQuality.Judged(value: value, level: level)
      })
  }

  private static func pictures(_ value: JSONValue?) -> CaptureQuality.Pictures? {
    guard let judged = value?[CaptureQuality.Key.judged.rawValue]?.whole,
      let all = value?[CaptureQuality.Key.of.rawValue]?.whole
    else { return nil }
    return CaptureQuality.Pictures(judged: judged, of: all)
  }

  private static func level(_ value: JSONValue?) -> CaptureQuality.Level? {
    value?.text.flatMap(CaptureQuality.Level.init)
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
