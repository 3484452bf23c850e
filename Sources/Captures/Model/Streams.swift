import Core
import Media
import SystemPackage

/// The description of a stream in `capture.json`.
public struct StreamDescription: Hashable, Sendable {
  /// File name relative to the capture's folder.
  public var file: String
  public var encoding: String
  /// Width in pixels; upright for color. `nil` for streams without pictures or of unknown size.
  public var width: Int?
  public var height: Int?
  /// Number of frames counted in the file, never taken from a header.
  public var frames: Int?
  /// Number of frames that the app declares.
  public var declaredFrames: Int?
  var firstTimestamp: Timestamp?
  var lastTimestamp: Timestamp?
  public var rateHz: Double?
  public var gaps: Int?
  /// How long the rows of a picture are read out, one after the other (rolling shutter), if the app states
  /// it: the median.
  public var readoutSeconds: Double?
  /// How the items were given to frames; `nil` if nothing had to be paired.
  public var pairing: StreamPairing?
  /// The color description of a video; `nil` for other streams.
  public var color: VideoColor?

  public init(
    file: String, encoding: String, width: Int? = nil, height: Int? = nil, frames: Int? = nil,
    declaredFrames: Int? = nil
  ) {
    self.file = file
    self.encoding = encoding
    self.width = width
    self.height = height
    self.frames = frames
    self.declaredFrames = declaredFrames
  }

  /// States the ends and the rate of the known ones of `times`, whose `steps` are theirs unless given, and with a factor
  /// how many steps are longer than so many median ones.
  mutating func state(times: [Timestamp?], steps: TimeSteps? = nil, gapFactor: Double? = nil) {
    let known = times.compactMap(\.self)
    let steps = steps ?? TimeSteps(known)
    firstTimestamp = known.first
    lastTimestamp = known.last
    rateHz = steps.rateHz
    if let gapFactor { gaps = steps.gaps(above: gapFactor) }
  }

  /// The form of a video file with this encoding.
  public var container: VideoContainer { VideoContainer(ofEncoding: encoding) }
}

/// The color pictures of a capture.
public struct ColorStream: Sendable {
  public enum Source: Sendable {
    /// A video file; `track` is the index of the track inside the container (0 for a bare stream).
    case video(FilePath, track: Int)
    /// One still per picture, in picture order.
    case stills([FilePath])
    /// One file per picture, in the order of frames; damaged ones are holes.
    case pictures(ColorPictures)
  }

  public var source: Source
  public var description: StreamDescription
  /// The turn that makes stored pictures upright, applied to `color/`.
  public var clockwiseQuarterTurns: Int = 0
  /// Why mirrored pictures have no camera.
  public static let mirrorReason =
    "the display matrix or EXIF orientation mirrors the pictures: no camera takes such pictures"
  /// Canonical frame of picture k (presentation order); `nil` if picture k is frame k.
  public var frameOfPicture: [Int]?
  /// Display order of a video's pictures, known without decoding, so that a picture that cannot be
  /// decoded does not shift later ones; `nil` for stills.
  public var order: PictureOrder?
  /// Whether the display matrix or the EXIF orientation exchanges left and right before the turn; applied to
  /// `color/`, too.
  public var isMirrored = false

  /// Both turns, as decoders of the video take them: they do not look into the file for it again.
  public var orientation: VideoOrientation {
    VideoOrientation(
      clockwiseQuarterTurns: clockwiseQuarterTurns, isMirrored: isMirrored, isIgnored: false)
  }
}

/// Pictures of depth (UInt16 millimeters, 0 = none) or confidence (UInt8, stored values).
public struct PictureStream<Pixel: BitwiseCopyable & Sendable>: Sendable {
  public var description: StreamDescription
  public var width: Int
  public var height: Int
  public var access: FrameAccess<Pixel>
  /// Canonical frame of record 0; record k belongs to frame `firstFrame + k`.
  public var firstFrame: Int
  /// The values before conversion to millimeters (sensor shifts), if the format has them.
  public var storedValues: (any IndexedFrameSource<Pixel>)?

  public init(
    description: StreamDescription, width: Int, height: Int, access: FrameAccess<Pixel>,
    firstFrame: Int = 0, storedValues: (any IndexedFrameSource<Pixel>)? = nil
  ) {
    self.description = description
    self.width = width
    self.height = height
    self.access = access
    self.firstFrame = firstFrame
    self.storedValues = storedValues
  }

  public var size: PictureSize { PictureSize(width: width, height: height) }
}

public typealias DepthStream = PictureStream<UInt16>
public typealias ConfidenceStream = PictureStream<UInt8>

/// Camera poses, in frame order; a frame without a usable pose has no row.
public struct PoseStream: Sendable {
  public struct Row: Sendable, Hashable {
    public var frame: Int
    public var pose: Pose
  }

  public var description: StreamDescription
  public var rows: [Row]
  /// The world of these poses where it is another one than that of the family's generation.
  var world: PoseWorld?

  public init(description: StreamDescription, rows: [Row], world: PoseWorld? = nil) {
    self.description = description
    self.rows = rows
    self.world = world
  }
}

/// Intrinsics of the color camera at one frame, pixel centers at integers. `fx…cy` refer to the
/// stored picture, `width` and `height` to the upright one. Tables turn the intrinsics like the
/// pictures.
public struct IntrinsicsRow: Sendable, Hashable {
  public var frame: Int
  public var width: Int?
  public var height: Int?
  public var fx: Double
  public var fy: Double
  public var cx: Double
  public var cy: Double
}

/// Exposure and white balance at one frame; `nil` = unknown.
public struct CameraSettingsRow: Sendable, Hashable {
  public var frame: Int
  public var exposureSeconds: Double?
  public var iso: Double?
  public var gainRed: Double?
  public var gainGreen: Double?
  public var gainBlue: Double?
  public var exposureOffsetEV: Double?
}

/// Camera settings, in frame order.
public struct CameraSettingsStream: Sendable {
  public var description: StreamDescription
  public var rows: [CameraSettingsRow]
}

/// Positions and headings.
public struct GeoStream: Sendable {
  /// Which frames get a row of `geo.csv`.
  public enum Coverage: Hashable, Sendable {
    case everyFrame
    /// One position for the whole capture, at frame 0.
    case firstFrameOnly
    /// These frames, ascending; the position of the same index was measured for each.
    case frames([Int])
  }

  public var description: StreamDescription
  public var track: GeoTrack
  public var coverage: Coverage
  /// Whether the file is cut, so that later points are missing.
  var isCut: Bool = false
}

/// How the items of a stream were given to the frames of a capture.
public struct StreamPairing: Hashable, Sendable {
  public enum Way: String, Hashable, Sendable, Codable {
    /// By numbers that the items carry: in names, columns and keys, or as times that count frames.
    case number
    /// Items are paired by times on one clock, up to a constant that was found.
    case time
    /// Items are paired by their order alone.
    case rank
  }

  public var way: Way
  /// What the items were paired with, in the plural: `rows`, `depth frames`.
  var partners: String
  /// Number of items that have a partner.
  var paired: Int
  var items: Int
  /// Whether no other pairing explains the keys as well. Order proves nothing; it is not doubted where
  /// the counts agree.
  public var isDoubtful = false

  /// Files that are named by their frames' numbers or times.
  static func byName(_ paired: Int, of items: Int) -> StreamPairing {
    StreamPairing(way: .number, partners: "frames", paired: paired, items: items)
  }

  /// Records by their order: record k belongs to partner k.
  static func byRank(_ items: Int, with partners: String, _ count: Int, isDoubtful: Bool)
    -> StreamPairing
  {
    StreamPairing(
      way: .rank, partners: partners, paired: min(items, count), items: items,
      isDoubtful: isDoubtful)
  }

  /// `by time with the rows, 38 of 40 proved`.
  public var words: String {
    let proof = isDoubtful ? " (not proved)" : way == .time ? " proved" : ""
    return "by \(way.rawValue) with the \(partners), \(paired) of \(items)\(proof)"
  }
}

extension StreamPairing: Encodable {
  private enum CodingKeys: String, CodingKey {
    case way = "by"
    case partners = "with"
    case paired
    case items = "of"
    case isDoubtful = "doubtful"
  }
}
