import Captures
import Core
import Engine
import FoundationEssentials
import SystemPackage

extension CapturePieces {
  /// The part that compares counted lengths of streams with the app's declarations.
  func streamsPart() -> Markup? {
    guard let description = material.description else { return nil }
    let streams = description.streams
    guard !streams.isEmpty else { return nil }
    let unreadable = Set(description.errors.map(\.stream))
    return Tag.section(.id("streams")) {
      Tag.h2 { "Counted and declared" }
      Tag.table(.classes("data")) {
        Tag.caption { "What the files hold, and what the app says they hold" }
        Markup.head(Self.columns)
        Tag.tbody {
          for stream in streams { row(stream, isUnreadable: unreadable.contains(stream.name)) }
        }
      }
    }
  }

  private static let columns = [
    "Stream", "Counted", "Declared", "Verdict", "Written", "Size", "Rate", "Gaps", "File",
  ]

  private func row(_ stream: CaptureDescription.Stream, isUnreadable: Bool) -> Markup {
    let samples = stream.samples.values.max()
    let counted = stream.frames ?? samples
    let verdict = Self.verdict(counted, stream.declaredFrames, isUnreadable: isUnreadable)
    let size = stream.width.flatMap { width in stream.height.map { "\(width)×\($0)" } }
    let cells: [String] = [
      counted.map { FigureText.count($0) + (stream.frames == nil ? " samples" : "") } ?? "",
      stream.declaredFrames.map(FigureText.count) ?? "", verdict.words,
      pictures.written[stream.name].map(FigureText.count) ?? "", size ?? "",
      stream.rateHz.map { FigureText.significant($0) + "\u{A0}Hz" } ?? "",
      stream.gaps.map(FigureText.count) ?? "",
      [stream.file, stream.encoding.map { "(\($0))" }].compactMap(\.self).joined(separator: " "),
    ]
    return Tag.tr(Attribute("data-stream", stream.name)) {
      Tag.th(Attribute("scope", "row")) { Self.name(stream.name) }
      for (name, cell) in zip(Self.columns.dropFirst(), cells) {
        if name == "Verdict" {
          Tag.td(
            Attribute("data-label", name), Attribute("data-state", verdict.state)
          ) { Tag.span(.classes("state")) { cell } }
        } else {
          Tag.td(Attribute("data-label", name)) {
            if name == "File", !cell.isEmpty { phrasing.name(cell) }
            // Numbers and units, which are not broken inside.
            if name != "File" { cell }
          }
        }
      }
    }
  }

  private static func verdict(
    _ counted: Int?, _ declared: Int?, isUnreadable: Bool
  ) -> (words: String, state: String) {
    if isUnreadable { return ("cannot be read", "failed") }
    guard let counted, let declared else { return ("nothing declared", "waiting") }
    let (difference, isTooLarge) = counted.subtractingReportingOverflow(declared)
    if isTooLarge { return ("not as declared", "warning") }
    if difference == 0 { return ("as declared", "done") }
    return (
      "\(FigureText.count(Int(clamping: difference.magnitude))) \(difference < 0 ? "fewer" : "more")",
      "warning"
    )
  }

  private static func name(_ stream: String) -> String {
    switch stream {
    case "imu": "motion"
    case "cameraSettings": "camera settings"
    case "geo": "position"
    default: stream
    }
  }
}

/// The readable parts of `capture.json`; a damaged part is left out.
struct CaptureDescription {
  struct Stream {
    var name: String
    var file: String?
    var encoding: String?
    var width: Int?
    var height: Int?
    var frames: Int?
    var declaredFrames: Int?
    var rateHz: Double?
    var gaps: Int?
    var samples: [String: Int] = [:]
  }

  struct Camera {
    var name: String
    var width: Int?
    var height: Int?
    var fx: Double
    var fy: Double
    var cx: Double
    var cy: Double
  }

  static let streamNames = [
    "color", "depth", "confidence", "imu", "poses", "cameraSettings", "geo",
  ]

  private let root: JSONValue

  /// `nil` if there is no such file or it is not JSON.
  init?(_ layout: OutputLayout) {
    guard let members = RecordedDocument.everything(of: layout) else { return nil }
    root = .object(members)
  }

  var id: String? { root["id"]?.text }
  var family: String? { root["family"]?.text }
  var generation: String? { root["generation"]?.text }
  var path: String? { root["path"]?.text }
  /// `nil`: that of the generation.
  var world: PoseWorld? { root["world"]?.text.flatMap(PoseWorld.init) }
  var recordedAt: String? { root["recordedAt"]?.text }
  var frames: Int? { root["frames"]?.whole }
  var clockBase: String? { root["clock"]?["base"]?.text }
  var deviceID: String? { root["device"]?["id"]?.text }
  var deviceName: String? { root["device"]?["name"]?.text }
  var deviceModel: String? { root["device"]?["model"]?.text }
  var sceneLabel: String? { root["scene"]?["label"]?.text }
  var sceneType: String? { root["scene"]?["type"]?.text }
  var sceneText: String? { root["scene"]?["description"]?.text }
  var clockwiseQuarterTurns: Int? { root["streams"]?["color"]?["clockwiseQuarterTurns"]?.whole }

  /// Warnings of opening and of decoding; invalid entries are left out.
  var warnings: [CaptureWarning] {
    (root["warnings"]?.list ?? []).prefix(500).compactMap { entry in
      guard let bytes = try? JSONEncoder().encode(entry) else { return nil }
      return try? JSONDecoder().decode(CaptureWarning.self, from: bytes)
    }
  }

  /// Unreadable streams: name and message.
  var errors: [(stream: String, message: String)] {
    (root["errors"]?.list ?? []).prefix(50).map {
      ($0["stream"]?.text ?? "", $0["message"]?.text ?? "")
    }
  }

  var streams: [Stream] {
    Self.streamNames.compactMap { name in
      guard let value = root["streams"]?[name], case .object = value else { return nil }
      var stream = Stream(
        name: name, file: value["file"]?.text, encoding: value["encoding"]?.text,
        width: value["width"]?.whole, height: value["height"]?.whole,
        frames: value["frames"]?.whole, declaredFrames: value["declaredFrames"]?.whole,
        rateHz: value["rateHz"]?.number, gaps: value["gaps"]?.whole)
      for (sensor, count) in value["samples"]?.members ?? [:] {
        stream.samples[sensor] = count.whole
      }
      return stream
    }
  }

  var isRegistered: Bool? {
    if case .bool(let value)? = root["alignment"]?["registered"] { value } else { nil }
  }

  var cameras: [Camera] {
    [("color", "colorIntrinsics"), ("depth", "depthIntrinsics")].compactMap { name, key in
      guard let value = root["alignment"]?[key], let fx = value["fx"]?.number,
        let fy = value["fy"]?.number, let cx = value["cx"]?.number, let cy = value["cy"]?.number
      else { return nil }
      return Camera(
        name: name, width: value["width"]?.whole, height: value["height"]?.whole, fx: fx, fy: fy,
        cx: cx, cy: cy)
    }
  }

  /// 16 numbers by rows.
  var colorFromDepth: [Double]? {
    let numbers = root["alignment"]?["colorFromDepth"]?.list?.compactMap(\.number) ?? []
    return numbers.count == 16 ? numbers : nil
  }

  /// Lens coefficients other than 0, by camera.
  var distortion: [(camera: String, terms: [(name: String, value: Double)])] {
    (root["alignment"]?["distortion"]?.members ?? [:]).sorted { $0.key < $1.key }.compactMap {
      camera, value in
      let terms = (value.members ?? [:]).sorted { $0.key < $1.key }.compactMap { name, value in
        value.number.flatMap { $0 == 0 ? nil : (name: name, value: $0) }
      }
      return terms.isEmpty ? nil : (camera, terms)
    }
  }

  /// Texts that identify persons, devices or places.
  var secrets: [String] {
    [id, path, deviceID, deviceName, sceneLabel, sceneText].compactMap(\.self)
      + streams.compactMap(\.file)
  }
}

extension JSONValue {
  /// Text for people.
  var shownText: String {
    switch self {
    case .null: "–"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): value
    case .array(let list): list.map(\.shownText).joined(separator: ", ")
    case .object(let members):
      members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shownText)" }
        .joined(separator: ", ")
    }
  }
}
