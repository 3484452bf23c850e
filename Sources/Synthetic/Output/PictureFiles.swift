import Core
import Media

/// What lies in a stream of one file per frame.
struct FilesPlan {
  var edits: [Int: ItemEdit] = [:]
  var isAbsent = false
  /// Whether a file bears a number that no recording has.
  var hasFarNumber = false

  /// The number of that file.
  static let farNumber = 99_999_999

  /// Whether a file is written for the frame, readable or not.
  func hasFile(_ frame: Int) -> Bool { !isAbsent && edits[frame] != .absent }

  func isReadable(_ frame: Int) -> Bool { !isAbsent && edits[frame].isReadable }

  /// Number of files, readable or not; `nil` without the stream. The far number does not count.
  func fileCount(frames: some Sequence<Int>) -> Int? {
    isAbsent ? nil : frames.count(where: hasFile)
  }

  /// Number of files with one of these kinds of damage; 0 without the stream.
  func count(_ kinds: ItemEdit...) -> Int {
    isAbsent ? 0 : edits.values.count { kinds.contains($0) }
  }

  /// The stream as a reader describes it; `null` without the stream.
  func json(encoding: String?, _ camera: PinholeCamera, frames: some Sequence<Int>) -> JSONObject? {
    guard let count = fileCount(frames: frames) else { return nil }
    return [
      "encoding": encoding, "width": camera.width,
      "height": camera.height, "frames": count,
    ]
  }

  /// Adds what a reader must say about damaged pictures.
  func countPictures(of stream: String, in warnings: inout WarningTally) {
    warnings.add("empty-record", of: stream, count(.empty))
    warnings.add(
      "corrupt-record", of: stream, count(.cut, .otherKind) + (hasFarNumber && !isAbsent ? 1 : 0))
    warnings.add("size-mismatch", of: stream, count(.otherSize))
  }

  /// Adds what a reader must say about damaged files of poses.
  func countPoses(in warnings: inout WarningTally) {
    warnings.add("empty-record", of: "poses", count(.empty))
    warnings.add("corrupt-record", of: "poses", count(.cut))
    warnings.add("missing-key", of: "poses", count(.withoutPose))
    warnings.add("non-finite-value", of: "poses", count(.notFinite, .zero))
    warnings.add("pairing-approximate", of: "frames", count(.otherKey))
  }
}

/// A plan of a capture with a file for every picture.
protocol PicturesPlan: TrackedPlan {
  var color: FilesPlan { get set }
  var depth: FilesPlan { get set }
  var confidence: FilesPlan { get set }
  /// Frames of which the app stores color.
  var colorFrames: [Int] { get }
}

extension PicturesPlan {
  var colorFrames: [Int] { Array(0..<frames) }

  func hasColor(_ frame: Int) -> Bool { color.isReadable(frame) }
  func hasDepth(_ frame: Int) -> Bool { depth.isReadable(frame) }

  var streams: [(name: String, files: FilesPlan)] {
    [("color", color), ("depth", depth), ("confidence", confidence)]
  }

  /// The streams as a reader describes them, by their encodings.
  func streams(_ rig: Rig, color: String, depth: String, confidence: String) -> JSONObject {
    [
      "color": self.color.json(encoding: color, rig.color, frames: colorFrames),
      "depth": self.depth.json(encoding: depth, rig.depth, frames: 0..<frames),
      "confidence": self.confidence.json(encoding: confidence, rig.depth, frames: 0..<frames),
    ]
  }
}

extension Synthesis where Family.Plan: PicturesPlan {
  /// Writes the PNG files of a frame.
  ///
  /// - Parameter confidences: what the app stores for low, medium and high.
  func write(
    _ view: DepthView?, _ gray: inout GrayPictureFiles, depth: String, confidence: String,
    confidences: [UInt8] = [0, 1, 2]
  ) throws {
    guard let view else { return }
    try write(gray.depth(view.image, view.frame, of: plan.depth), depth)
    let image = view.confidenceImage(confidences)
    try write(gray.confidence(image, view.frame, of: plan.confidence), confidence)
  }
}

/// Digests of the pixels by frame; `nil` for a hole.
struct PictureDigests {
  var depth: [Digest?] = []
  var confidence: [Digest?] = []
}

/// Encodes depth and confidence as PNG files, with the damage of single frames.
struct GrayPictureFiles {
  private var png = PNGWriter(compression: .compact)
  private(set) var digests = PictureDigests()

  /// Notes the digest of the next depth frame.
  mutating func note(_ image: DepthImage, _ frame: Int, of plan: FilesPlan) {
    digests.depth.append(plan.isReadable(frame) ? Digest(of: Bytes.of(image.millimeters)) : nil)
  }

  /// The file of the next depth frame, whose digest is noted; `nil` if none is written.
  mutating func depth(
    _ image: DepthImage, _ frame: Int, of plan: FilesPlan
  ) throws -> [UInt8]? {
    note(image, frame, of: plan)
    return plan.isAbsent ? nil : try depth(image, plan.edits[frame])
  }

  mutating func depth(_ image: DepthImage, _ edit: ItemEdit?) throws -> [UInt8]? {
    try edit.file {
      try png.encode(image)
    } otherKind: {
      try png.encode(
        gray8: image.millimeters.map { UInt8(truncatingIfNeeded: $0 >> 8) }, width: image.width,
        height: image.height)
    } otherSize: {
      try png.encode(image.halved)
    }
  }

  /// The file of the next confidence frame, whose digest is noted; `nil` if none is written.
  mutating func confidence(
    _ image: GrayImage, _ frame: Int, of plan: FilesPlan
  ) throws -> [UInt8]? {
    digests.confidence.append(plan.isReadable(frame) ? Digest(of: image.values) : nil)
    guard !plan.isAbsent else { return nil }
    return try plan.edits[frame].file {
      try png.encode(image)
    } otherKind: {
      try png.encode(
        rgb: image.values.flatMap { [$0, $0, $0] }, width: image.width, height: image.height)
    } otherSize: {
      try png.encode(
        GrayImage(
          width: image.width / 2, height: image.height / 2,
          values: image.values.halved(width: image.width)))
    }
  }

}

extension Array {
  /// Every second value of every second row.
  func halved(width: Int) -> [Element] {
    (0..<count / width / 2).flatMap { row in
      (0..<width / 2).map { self[row * 2 * width + $0 * 2] }
    }
  }
}

extension DepthImage {
  var halved: DepthImage {
    DepthImage(width: width / 2, height: height / 2, millimeters: millimeters.halved(width: width))
  }
}

/// What there is of a side file, or of a part of it.
enum SideState {
  case present
  case absent
  /// Only the first half is there.
  case cut
  /// The last two items are not there.
  case short
  case headerAlone
  /// Without one of the columns that a reader needs.
  case withoutColumn
}

/// Damage to one item of a stream: a picture, a file about one frame, a row or a time. Every stream has some of these.
enum ItemEdit {
  /// Was never written, or was lost on the way.
  case absent
  case empty
  /// Only the first half is there.
  case cut
  /// A picture of other pixels than its stream's: color for gray, or eight bits for sixteen.
  case otherKind
  /// A whole picture of half the width and height.
  case otherSize
  case withoutTime
  case withoutPose
  case withoutIntrinsics
  case notFinite
  /// The time is 0, or the last element of the pose.
  case zero
  /// The time or number in the file is not that of its name.
  case otherKey
  /// The time is no number.
  case broken
  /// The row is there twice, or the time is that of the one before.
  case repeated
  /// Is exchanged with the next one.
  case swapped
}

extension ItemEdit? {
  /// Whether the pose is there.
  var hasPose: Bool { isReadable && ![.withoutPose, .notFinite, .zero].contains(self) }

  var isReadable: Bool {
    ![.absent, .empty, .cut, .otherKind, .otherSize, .broken].contains(self)
  }

  /// The file of a picture with this damage; `nil` if none is written.
  ///
  /// - Parameter otherKind: half a picture where there is no other kind (`nil`).
  func file(
    _ whole: () throws -> [UInt8], otherKind: () throws -> [UInt8]? = { nil },
    otherSize: () throws -> [UInt8]
  ) throws -> [UInt8]? {
    switch self {
    case .otherKind: try otherKind() ?? Self.some(.cut).file(whole)
    case .otherSize: try otherSize()
    default: try file(whole)
    }
  }

  /// A file with this damage; `nil` if none is written.
  func file(_ whole: () throws -> [UInt8]) rethrows -> [UInt8]? {
    switch self {
    case .absent: return nil
    case .empty: return []
    case .cut:
      let file = try whole()
      return Array(file.prefix(file.count / 2))
    default: return try whole()
    }
  }

  /// A file of this text.
  func file(_ text: String) -> [UInt8]? { file { Array(text.utf8) } }
}

extension ColorImage {
  /// The JPEG file of the picture with this damage; `nil` if none is written.
  func file(_ edit: ItemEdit?) throws -> [UInt8]? {
    try edit.file {
      try jpeg(quality: 92)
    } otherSize: {
      var half: [UInt8] = []
      for first in Array(0..<width * height).halved(width: width) {
        half += rgb[first * 3..<first * 3 + 3]
      }
      return try ColorImage(width: width / 2, height: height / 2, rgb: half).jpeg(quality: 92)
    }
  }

  func jpeg(quality: Int) throws -> [UInt8] {
    var writer = try JPEGWriter(quality: quality)
    var file: [UInt8] = []
    try writer.encode(rgb: rgb, width: width, height: height, into: &file)
    return file
  }

  /// A JPEG file with an EXIF segment that contains only the orientation.
  static func tagged(_ jpeg: [UInt8], orientation: Int) -> [UInt8] {
    var segment = Array("Exif\0\0II".utf8) + Bytes.of(UInt16(42))
    segment += Bytes.of(UInt32(8)) + Bytes.of(UInt16(1))
    // Tag 0x0112, one 16-bit number.
    segment += Bytes.of(UInt16(0x0112)) + Bytes.of(UInt16(3)) + Bytes.of(UInt32(1))
    segment += Bytes.of(UInt32(orientation)) + Bytes.of(UInt32(0))
    let head = [0xff, 0xe1] + Bytes.bigEndian(UInt16(segment.count + 2))
    return jpeg.prefix(2) + head + segment + jpeg.dropFirst(2)
  }

  /// The picture of a sensor that was held differently, which these turns make upright.
  func stored(clockwiseQuarterTurns turns: Int) -> ColorImage {
    upright(exifOrientation: Self.orientation(-turns))
  }

  /// The EXIF orientation that turns a stored picture clockwise.
  static func orientation(_ clockwiseQuarterTurns: Int) -> Int {
    [1, 6, 3, 8][(clockwiseQuarterTurns % 4 + 4) % 4]
  }
}
