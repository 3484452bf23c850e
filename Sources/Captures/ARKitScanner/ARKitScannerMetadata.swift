import Core
import SystemPackage

extension PictureSize {
  var pixels: Int { width * height }

  /// The bytes of a picture of `Float`.
  var floatBytes: Int { 4 * width * height }

  private static func side(_ text: String) -> Int? {
    guard let number = LooseJSON.number(text), (1...16384).contains(number) else { return nil }
    return Int(exactly: number)
  }

  /// From numbers as text (`256`, `256.0`); `nil` unless both are whole and in range.
  init?(width: String, height: String) {
    guard let width = Self.side(width), let height = Self.side(height) else { return nil }
    self.init(width: width, height: height)
  }
}

/// Whether a picture size in the metadata is usable.
enum ARKitScannerStatedSize: Hashable, Sendable {
  case absent
  case invalid(String)
  case valid(PictureSize)

  var size: PictureSize? { if case .valid(let size) = self { size } else { nil } }
}

/// `metadata.json`: one object; all values are strings.
struct ARKitScannerMetadata: Sendable {
  private let values: [String: String]

  init(_ file: FilePath) throws(CaptureError) {
    values = try ARKitScannerSideFile.json([String: LooseText].self, from: file).mapValues(\.text)
  }

  /// Whether the keys have the blanks and capitals of this file's first version.
  var isFirstVersion: Bool { values["Scene Name"] != nil }
  /// Whether it has keys for the exposure of a single frame, which only some versions write.
  var hasExposureKeys: Bool {
    values.keys.contains { $0 == "exposure_duration" || $0.hasPrefix("exif_") }
  }
  /// Whether the key of the single matrix has its first, misspelled form.
  var hasMisspelledMatrix: Bool { values["intrinstics"] != nil }

  var sceneName: String? { values["scene_name"] ?? values["Scene Name"] }
  var sceneType: String? { values["scene_type"] ?? values["Scene Type"] }

  var colorSize: ARKitScannerStatedSize {
    size("color_width", "color_height", resolution: "RGB Resolution")
  }
  var depthSize: ARKitScannerStatedSize {
    size("depth_width", "depth_height", resolution: "Depth Resolution")
  }

  /// Text of the single matrix, under any of its spellings.
  var matrix: String? {
    values["intrinsic"] ?? values["intrinstics"] ?? values["Intrinstics"]
  }

  private func size(_ width: String, _ height: String, resolution: String) -> ARKitScannerStatedSize
  {
    if let text = values[resolution] {
      let sides = text.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
      if sides.count == 2, let size = PictureSize(width: sides[0], height: sides[1]) {
        return .valid(size)
      }
      return .invalid(text)
    }
    let (w, h) = (values[width], values[height])
    if w == nil, h == nil { return .absent }
    guard let w, let h, let size = PictureSize(width: w, height: h) else {
      return .invalid("\(w ?? "nothing")x\(h ?? "nothing")")
    }
    return .valid(size)
  }
}

/// A value that should be a string; edited files contain numbers.
private struct LooseText: Decodable {
  var text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.text = text
    } else if let number = try? container.decode(Double.self) {
      text = "\(number)"
    } else {
      text = ""
    }
  }
}
