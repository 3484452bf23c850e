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

  /// The stream as a reader describes it; `null` without the stream.
  func json(encoding: String, _ camera: PinholeCamera, frames: some Sequence<Int>) -> JSONObject? {
    guard let count = fileCount(frames: frames) else { return nil }
    return [
      "encoding": encoding, "width": camera.width,
      "height": camera.height, "frames": count,
    ]
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
  /// Digests of the pixels by frame; `nil` for a hole.
  private(set) var depthDigests: [Digest?] = []
  private(set) var confidenceDigests: [Digest?] = []

  /// Notes the digest of the next depth frame.
  mutating func note(_ image: DepthImage, _ frame: Int, of plan: PictureFilesPlan) {
    depthDigests.append(plan.isReadable(frame) ? Digest(of: Bytes.of(image.millimeters)) : nil)
  }

  /// The file of the next depth frame, whose digest is noted; `nil` if none is written.
  mutating func depth(
    _ image: DepthImage, _ frame: Int, of plan: PictureFilesPlan
  ) throws -> [UInt8]? {
    note(image, frame, of: plan)
    return plan.isAbsent ? nil : try depth(image, plan.edits[frame])
  }

  mutating func depth(_ image: DepthImage, _ edit: PictureEdit?) throws -> [UInt8]? {
    return try edit.file {
      try png.encode(image)
    } otherKind: {
      try png.encode(
        gray8: image.millimeters.map { UInt8(truncatingIfNeeded: $0 >> 8) }, width: image.width,
        height: image.height)
    } otherSize: {
      try png.encode(
        gray16: Self.halved(image.millimeters, width: image.width), width: image.width / 2,
        height: image.height / 2)
    }
  }

  /// The file of the next confidence frame, whose digest is noted; `nil` if none is written.
  mutating func confidence(
    _ image: GrayImage, _ frame: Int, of plan: PictureFilesPlan
  ) throws -> [UInt8]? {
    confidenceDigests.append(plan.isReadable(frame) ? Digest(of: image.values) : nil)
    guard !plan.isAbsent else { return nil }
    return try plan.edits[frame].file {
      try png.encode(image)
    } otherKind: {
      try png.encode(
        rgb: image.values.flatMap { [$0, $0, $0] }, width: image.width, height: image.height)
    } otherSize: {
      try png.encode(
        gray8: Self.halved(image.values, width: image.width), width: image.width / 2,
        height: image.height / 2)
    }
  }

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

/// Damage to the JSON file of one frame.
enum FrameFileEdit {
  case absent
  case empty
  /// Only the first half is there.
  case cut
  case withoutTime
  case withoutPose
  case notFinite
  /// The last element of the pose is 0.
  case zeroScale
  /// The time or number in the file is not that of its name.
  case otherKey
}

extension FrameFileEdit? {
  var isReadable: Bool { ![.absent, .empty, .cut].contains(self) }

  /// The content of a file with this damage; `nil` if none is written.
  func bytes(_ text: String) -> [UInt8]? {
    switch self {
    case .absent: nil
    case .empty: []
    case .cut: Array(text.utf8.prefix(text.utf8.count / 2))
    default: Array(text.utf8)
    }
  }
}

extension PictureEdit? {
  /// The file of a picture with this damage; `nil` if none is written.
  ///
  /// - Parameter otherKind: half a picture where there is no other kind (`nil`).
  func file(
    _ whole: () throws -> [UInt8], otherKind: () throws -> [UInt8]? = { nil },
    otherSize: () throws -> [UInt8]
  ) throws -> [UInt8]? {
    switch self {
    case nil: return try whole()
    case .absent: return nil
    case .empty: return []
    case .otherSize: return try otherSize()
    case .cut, .otherKind:
      if self == .otherKind, let other = try otherKind() { return other }
      let file = try whole()
      return Array(file.prefix(file.count / 2))
    }
  }
}

/// Encodes color as JPEG files, with the damage of single frames.
struct JPEGPictureFiles {
  private let quality = 92

  /// The file of a picture; `nil` if none is written.
  func file(_ image: ColorImage, _ edit: PictureEdit?) throws -> [UInt8]? {
    try edit.file {
      try encoded(image)
    } otherSize: {
      try encoded(Self.halved(image))
    }
  }

  private func encoded(_ image: ColorImage) throws -> [UInt8] {
    var writer = try JPEGWriter(quality: quality)
    var file: [UInt8] = []
    try writer.encode(rgb: image.rgb, width: image.width, height: image.height, into: &file)
    return file
  }

  private static func halved(_ image: ColorImage) -> ColorImage {
    let (width, height) = (image.width / 2, image.height / 2)
    var rgb: [UInt8] = []
    rgb.reserveCapacity(width * height * 3)
    for row in 0..<height {
      for column in 0..<width {
        let at = (row * 2 * image.width + column * 2) * 3
        rgb += image.rgb[at..<at + 3]
      }
    }
    return ColorImage(width: width, height: height, rgb: rgb)
  }
}

/// Turns upright pictures into those of a sensor that was held differently.
enum PictureTurn {
  /// The EXIF orientation that turns a stored picture clockwise.
  static func orientation(clockwiseQuarterTurns turns: Int) -> Int {
    [1, 6, 3, 8][(turns % 4 + 4) % 4]
  }

  /// The stored picture that `turns` clockwise quarter turns make equal to `upright`.
  static func stored(_ upright: ColorImage, clockwiseQuarterTurns turns: Int) -> ColorImage {
    upright.upright(exifOrientation: orientation(clockwiseQuarterTurns: -turns))
  }

  /// A JPEG file with an EXIF segment that contains only the orientation.
  static func tag(_ jpeg: [UInt8], orientation: Int) -> [UInt8] {
    var segment = Array("Exif\0\0II".utf8)
    segment += Bytes.of(UInt16(42))
    segment += Bytes.of(UInt32(8)) + Bytes.of(UInt16(1))
    // Tag 0x0112, one 16-bit number.
    segment += Bytes.of(UInt16(0x0112)) + Bytes.of(UInt16(3)) + Bytes.of(UInt32(1))
    segment += Bytes.of(UInt32(orientation)) + Bytes.of(UInt32(0))
    var file = Array(jpeg.prefix(2))
    file += [0xff, 0xe1]
    file += Bytes.bigEndian(UInt16(segment.count + 2))
    file += segment
    file += jpeg.dropFirst(2)
    return file
  }
}
