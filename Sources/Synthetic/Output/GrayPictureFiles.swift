import Media
import Core

/// Encodes depth and confidence as PNG files, with the damage of single frames.
struct GrayPictureFiles {
  private var png = PNGWriter(compression: .compact)

  /// The file of a depth picture; `nil` if none is written.
  mutating func depth(_ image: DepthImage, _ edit: PictureEdit?) throws -> [UInt8]? {
    switch edit {
    case nil: return try png.encode(image)
    case .absent: return nil
    case .empty: return []
    case .cut: return Self.half(try png.encode(image))
    case .otherKind:
      return try png.encode(
        gray8: image.millimeters.map { UInt8(truncatingIfNeeded: $0 >> 8) }, width: image.width,
        height: image.height)
    case .otherSize:
      return try png.encode(
        gray16: Self.halved(image.millimeters, width: image.width), width: image.width / 2,
        height: image.height / 2)
    }
  }

  /// The file of a confidence picture; `nil` if none is written.
  mutating func confidence(_ image: GrayImage, _ edit: PictureEdit?) throws -> [UInt8]? {
    switch edit {
    case nil: return try png.encode(image)
    case .absent: return nil
    case .empty: return []
    case .cut: return Self.half(try png.encode(image))
    case .otherKind:
      return try png.encode(
        rgb: image.values.flatMap { [$0, $0, $0] }, width: image.width, height: image.height)
    case .otherSize:
      return try png.encode(
        gray8: Self.halved(image.values, width: image.width), width: image.width / 2,
        height: image.height / 2)
    }
  }

  private static func half(_ file: [UInt8]) -> [UInt8] { Array(file.prefix(file.count / 2)) }

  /// Every second value of every second row.
  static func halved<Value>(_ values: [Value], width: Int) -> [Value] {
    let height = values.count / width
    return (0..<height / 2).flatMap { row in
      (0..<width / 2).map { values[row * 2 * width + $0 * 2] }
    }
  }
}
