import Core
import Media

/// What lies in a stream of one file per picture.
struct PictureFilesPlan {
  var edits: [Int: PictureEdit] = [:]
  var isAbsent = false
  /// Whether a file bears a number that no recording has.
  var hasFarNumber = false

  /// The number of that file.
  static let farNumber = 99_999_999

  /// Whether a file is written for the frame, readable or not.
  func hasFile(_ frame: Int) -> Bool { !isAbsent && edits[frame] != .absent }

  func isReadable(_ frame: Int) -> Bool { !isAbsent && edits[frame] == nil }

  /// Number of files, readable or not; `nil` without the stream. The far number does not count.
  func fileCount(frames: some Sequence<Int>) -> Int? {
    isAbsent ? nil : frames.count(where: hasFile)
  }

  /// Adds what a reader must say about damaged files.
  func count(in warnings: inout WarningTally, of stream: String) {
    guard !isAbsent else { return }
    func count(_ kinds: PictureEdit...) -> Int { edits.values.count { kinds.contains($0) } }
    warnings.add("empty-record", of: stream, count(.empty))
    warnings.add("corrupt-record", of: stream, count(.cut, .otherKind) + (hasFarNumber ? 1 : 0))
    warnings.add("size-mismatch", of: stream, count(.otherSize))
  }
}

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

/// Damage to the picture file of one frame.
enum PictureEdit {
  /// Was never written, or was lost on the way.
  case absent
  case empty
  /// Only the first half is there.
  case cut
  /// A picture of other pixels than its stream's: color for gray, or eight bits for sixteen.
  case otherKind
  /// A whole picture of half the width and height.
  case otherSize
}
