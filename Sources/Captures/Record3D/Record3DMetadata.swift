import Core
import Media

/// The object in `metadata`.
struct Record3DMetadata {
  /// Size of the color pictures, portrait.
  private(set) var colorSize: PictureSize?
  /// Size of depth and confidence, portrait; old versions do not state it.
  private(set) var depthSize: PictureSize?
  private(set) var fps: Double?
  /// Camera of the first frame.
  private(set) var camera: Intrinsics?
  /// The cameras by frame; `nil` for those that are not usable.
  private(set) var cameras: [Intrinsics?]
  /// The poses by frame, as stored; `nil` without the key.
  private(set) var poses: [Record3DPose]?
  /// The times by frame; `nil` for what is no number, and without the key.
  private(set) var times: [Timestamp?]?
  private(set) var isFaceID: Bool

  /// Greater pictures than any sensor has; their values would take more memory than a file may.
  private static let mostDepthPixels = 1 << 24

  /// `nil` unless the bytes are a JSON object whose lists are no longer than a recording can be.
  /// Cost: one pass over the bytes.
  init?(_ bytes: [UInt8]) {
    guard let members = LooseJSON(bytes) else { return nil }
    colorSize = Self.size(members, "w", "h").flatMap { size in
      max(size.width, size.height) <= InputLimits.sideOfPicture.most ? size : nil
    }
    depthSize = Self.size(members, "dw", "dh").flatMap { size in
      let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
      return overflow || pixels > Self.mostDepthPixels ? nil : size
    }
    fps = members.finite("fps").flatMap { $0 > 0 ? $0 : nil }
    camera = Self.matrix(members).flatMap(Intrinsics.init(record3DMatrix:))
    isFaceID = members.integer("cameraType") == 0
    let most = InputLimits.framesOfCapture.most
    var lists: [[[Double]?]?] = []
    for key in ["poses", "perFrameIntrinsicCoeffs"] {
      let list = Self.list(key, of: members)
      let rows = list.flatMap { Self.rows(of: $0, upTo: most) }
      guard rows != nil || list == nil else { return nil }
      lists.append(rows)
    }
    poses = lists[0]?.map { Record3DPose(numbers: $0 ?? []) }
    cameras = (lists[1] ?? []).map { $0.flatMap(Intrinsics.init(coefficients:)) }
    let list = Self.list("frameTimestamps", of: members)
    times = list.flatMap { Self.times(of: $0, upTo: most) }
    guard times != nil || list == nil else { return nil }
  }

  /// The numbers of `K`; of three nested rows one row after the other.
  private static func matrix(_ members: LooseJSON) -> [Double]? {
    if let numbers = members.numbers("K") { return numbers }
    let rows = list("K", of: members).flatMap { Self.rows(of: $0, upTo: 3) } ?? []
    return rows.count == 3 ? rows.flatMap { $0 ?? [] } : nil
  }

  private static func size(
    _ members: LooseJSON, _ width: String, _ height: String
  ) -> PictureSize? {
    guard let width = members.integer(width), let height = members.integer(height), width > 0,
      height > 0
    else { return nil }
    return PictureSize(width: width, height: height)
  }

  /// The camera of a frame: its own, else that of the first.
  func camera(of frame: Int) -> Intrinsics? {
    (cameras.indices.contains(frame) ? cameras[frame] : nil) ?? camera
  }

  /// Whether any frame has a camera.
  var hasCamera: Bool { camera != nil || cameras.contains { $0 != nil } }

  /// Whether there was no tracking: all poses are the identity.
  var isUntracked: Bool {
    guard let poses, !poses.isEmpty else { return false }
    return poses.allSatisfy(\.isIdentity)
  }

  /// Whether the world is that of the first camera, as in older versions of the app: the first usable pose is the
  /// identity. Newer versions align the world with gravity, and no camera is ever exactly aligned with it.
  var worldIsFirstCamera: Bool { poses?.first { $0.pose != nil }?.isIdentity ?? false }

  /// The time of a frame at the nominal rate, rounded to nearest.
  func nominalTime(of frame: Int) -> Timestamp? {
    guard let fps else { return nil }
    if let rate = Int(exactly: fps), rate <= 1_000_000_000 {
      return Timestamp(nanoseconds: Int64((2_000_000_000 * frame + rate) / (2 * rate)))
    }
    let time = (Double(frame) * 1e9 / fps).rounded(.toNearestOrAwayFromZero)
    return Int64(exactly: time).map(Timestamp.init(nanoseconds:))
  }
}

/// Intrinsics of the color camera, pixels of the stored picture.
extension Intrinsics {
  /// `K`, by rows or by columns.
  init?(record3DMatrix numbers: [Double]) {
    guard numbers.count == 9 else { return nil }
    let isByRows =
      numbers[6] == 0 && numbers[7] == 0 && numbers[2] != 0 && numbers[5] != 0
    let center = isByRows ? (numbers[2], numbers[5]) : (numbers[6], numbers[7])
    self.init(usable: [numbers[0], numbers[4], center.0, center.1])
  }

  /// A frame's own numbers, all of them above 0.
  init?(coefficients numbers: [Double]) {
    guard numbers.allSatisfy({ $0 > 0 }) else { return nil }
    self.init(usable: numbers)
  }
}

/// A pose: camera to world, ARKit's camera axes of the stored picture.
struct Record3DPose {
  let numbers: [Double]

  var isIdentity: Bool { numbers == [0, 0, 0, 1, 0, 0, 0] }

  /// The pose with OpenCV's camera axes; `nil` for a rotation that is zero or numbers that are not finite.
  var pose: Pose? {
    guard numbers.count == 7, numbers.allSatisfy(\.isFinite) else { return nil }
    let (x, y, z, w) = (numbers[0], numbers[1], numbers[2], numbers[3])
    guard x != 0 || y != 0 || z != 0 || w != 0 else { return nil }
    // Followed by half a turn about x, which is the quaternion (1, 0, 0, 0).
    let orientation = Quaternion(x: w, y: z, z: -y, w: -x)
    guard [orientation.x, orientation.y, orientation.z, orientation.w].allSatisfy(\.isFinite) else {
      return nil
    }
    return Pose(position: Array(numbers[4...]), orientation: orientation)
  }
}

/// JSON lists of the metadata, by their text, which must be well-formed.
extension Record3DMetadata {
  /// More numbers than any row of the metadata has: longer rows are not usable and not kept.
  private static let mostNumbers = 16

  /// The text of a list; `nil` for other values.
  private static func list(_ key: String, of members: LooseJSON) -> [UInt8]? {
    members.text(of: key).flatMap { $0.first == UInt8(ascii: "[") ? Array($0) : nil }
  }

  /// The numbers of each inner list; `nil` for an entry that is no flat list, NaN for what is no
  /// number. `nil` if there are more than `most` entries.
  private static func rows(of text: [UInt8], upTo most: Int) -> [[Double]?]? {
    var rows: [[Double]?] = []
    var row: [Double]? = nil
    var depth = 0
    let isWhole = text.withUnsafeBytes { bytes in
      for token in LooseJSON.Tokens(bytes) {
        switch token.kind {
        case .open:
          depth += 1
          if depth == 2 { row = bytes[token.range.lowerBound] == UInt8(ascii: "[") ? [] : nil }
          if depth > 2 { row = nil }
        case .close:
          depth -= 1
          if depth == 1 { rows.append(row) }
        case .word, .string, .cutString:
          if depth == 1 { rows.append(nil) }
          guard depth == 2, let count = row?.count else { break }
          if count < mostNumbers {
            row?.append(number(bytes, token))
          } else {
            row = nil
          }
        case .comma, .colon: break
        }
        if rows.count > most { return false }
      }
      return true
    }
    return isWhole ? rows : nil
  }

  /// The entries as times, by exact decimal arithmetic from seconds; `nil` for an entry that is no
  /// finite number. `nil` if there are more than `most` entries.
  private static func times(of text: [UInt8], upTo most: Int) -> [Timestamp?]? {
    var times: [Timestamp?] = []
    var depth = 0
    let isWhole = text.withUnsafeBytes { bytes in
      for token in LooseJSON.Tokens(bytes) {
        switch token.kind {
        case .open: depth += 1
        case .close:
          depth -= 1
          if depth == 1 { times.append(nil) }
        case .word, .string, .cutString:
          if depth == 1 { times.append(Timestamp(decimalSeconds: Self.text(bytes, token))) }
        case .comma, .colon: break
        }
        if times.count > most { return false }
      }
      return true
    }
    return isWhole ? times : nil
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, _ token: LooseJSON.Tokens.Token)
    -> Double
  {
    LooseJSON.number(text(bytes, token)) ?? .nan
  }

  /// A number in quotes is one all the same.
  private static func text(_ bytes: UnsafeRawBufferPointer, _ token: LooseJSON.Tokens.Token)
    -> String
  {
    String(decoding: LooseJSON.unquoted(bytes[token.range]), as: UTF8.self)
  }
}
