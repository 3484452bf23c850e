import Codecs
import Geometry
import SystemPackage

/// What `capture.json` says of a stream.
public struct StreamDescription: Hashable, Sendable {
  /// File name relative to the capture's folder.
  public var file: String
  public var encoding: String
  /// Pixels; upright for color. `nil` where the stream has no pictures or the size is unknown.
  public var width: Int?
  public var height: Int?
  /// Counted in the file, never taken from a header.
  public var frames: Int?
  /// What the app claims.
  public var declaredFrames: Int?
  public var firstTimestamp: Timestamp?
  public var lastTimestamp: Timestamp?
  public var rateHz: Double?
  public var gaps: Int?
  /// How the pictures of a video are to be understood; `nil` for other streams.
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
}

/// Color pictures.
public struct ColorStream: Sendable {
  public enum Source: Sendable {
    /// A video file; `track` is the index of the stream inside the container (0 for a bare stream).
    case video(FilePath, track: Int)
    /// One still per picture, in picture order.
    case stills([FilePath])
  }

  public var source: Source
  public var description: StreamDescription
  /// The turn that makes the stored picture upright, applied to `color/`.
  public var clockwiseQuarterTurns: Int
  /// The video's display matrix exchanges left and right before the turn; applied to `color/`, too.
  public var isMirrored = false
  /// Canonical frame of picture k (presentation order); `nil` = picture k is frame k.
  public var frameOfPicture: [Int]?
  /// Which decoded picture of a video is picture k, known without decoding, so that a picture that later
  /// fails to decode cannot shift the ones behind it; `nil` for stills.
  public var order: PictureOrder?

  public init(
    source: Source, description: StreamDescription, clockwiseQuarterTurns: Int = 0,
    frameOfPicture: [Int]? = nil, order: PictureOrder? = nil, isMirrored: Bool = false
  ) {
    self.source = source
    self.description = description
    self.clockwiseQuarterTurns = clockwiseQuarterTurns
    self.frameOfPicture = frameOfPicture
    self.order = order
    self.isMirrored = isMirrored
  }
}

/// Depth (UInt16 millimeters, 0 = none) or confidence (UInt8, stored values) pictures.
public struct PictureStream<Pixel: BitwiseCopyable & Sendable>: Sendable {
  public var description: StreamDescription
  public var width: Int
  public var height: Int
  public var access: FrameAccess<Pixel>
  /// Canonical frame of record 0; record k is frame `firstFrame + k`.
  public var firstFrame: Int
  /// The values before conversion to millimeters (sensor shifts), where the format has them.
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
}

public typealias DepthStream = PictureStream<UInt16>
public typealias ConfidenceStream = PictureStream<UInt8>

/// Camera poses, rows in frame order; a frame without a usable pose has none.
public struct PoseStream: Sendable {
  public struct Row: Sendable, Hashable {
    public var frame: Int
    public var pose: Pose
    public init(frame: Int, pose: Pose) {
      self.frame = frame
      self.pose = pose
    }
  }

  public var description: StreamDescription
  public var rows: [Row]

  public init(description: StreamDescription, rows: [Row]) {
    self.description = description
    self.rows = rows
  }
}

/// Intrinsics of the color camera at one frame, pixel centers at integers: `fx…cy` of the picture as
/// stored, `width` and `height` of the upright one. Tables turn them along with the pictures.
public struct IntrinsicsRow: Sendable, Hashable {
  public var frame: Int
  public var width: Int?
  public var height: Int?
  public var fx: Double
  public var fy: Double
  public var cx: Double
  public var cy: Double

  public init(
    frame: Int, width: Int?, height: Int?, fx: Double, fy: Double, cx: Double, cy: Double
  ) {
    self.frame = frame
    self.width = width
    self.height = height
    self.fx = fx
    self.fy = fy
    self.cx = cx
    self.cy = cy
  }
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

  public init(
    frame: Int, exposureSeconds: Double? = nil, iso: Double? = nil, gainRed: Double? = nil,
    gainGreen: Double? = nil, gainBlue: Double? = nil, exposureOffsetEV: Double? = nil
  ) {
    self.frame = frame
    self.exposureSeconds = exposureSeconds
    self.iso = iso
    self.gainRed = gainRed
    self.gainGreen = gainGreen
    self.gainBlue = gainBlue
    self.exposureOffsetEV = exposureOffsetEV
  }
}

/// Camera settings, rows in frame order.
public struct CameraSettingsStream: Sendable {
  public var description: StreamDescription
  public var rows: [CameraSettingsRow]

  public init(description: StreamDescription, rows: [CameraSettingsRow]) {
    self.description = description
    self.rows = rows
  }
}

/// Positions and headings.
public struct GeoStream: Sendable {
  /// Which frames get a row of `geo.csv`.
  public enum Coverage: Sendable {
    case everyFrame
    /// One fix of the whole capture, at frame 0.
    case firstFrameOnly
  }

  public var description: StreamDescription
  public var track: GeoTrack
  public var coverage: Coverage
  /// Whether the file breaks off: there were points behind the last one.
  public var isCut: Bool

  public init(
    description: StreamDescription, track: GeoTrack, coverage: Coverage, isCut: Bool = false
  ) {
    self.description = description
    self.track = track
    self.coverage = coverage
    self.isCut = isCut
  }
}
