import SystemPackage

/// The possible forms of a video file.
public enum VideoContainer: Hashable, Sendable {
  /// Detected by the first bytes, never by the name: MP4, QuickTime, Matroska, a bare H.264 stream.
  case any
  /// A bare H.264 stream with start codes, without detection.
  case annexB

  /// The encoding that descriptions state for a bare H.264 stream; other encodings are FFmpeg's names.
  public static let annexBEncoding = "h264-annexb"

  /// The form of a video whose description states `encoding`.
  public init(ofEncoding encoding: String?) {
    self = encoding == Self.annexBEncoding ? .annexB : .any
  }
}

/// The content of a video file, counted without decoding.
public struct VideoIndex: Hashable, Sendable {
  public var tracks: [VideoTrack]
  /// Whether the file ends before its own index says; only what exists is listed.
  public var endsEarly: Bool

  /// Reads the index of `file`.
  ///
  /// Cost: for MP4 and QuickTime the index alone; fragmented files and Matroska are read
  /// completely, and bare streams are scanned for start codes at memory speed, with pictures
  /// decoded where picture numbers skip. Memory: eight bytes per picture.
  /// - Parameters:
  ///   - statedCounts: picture counts from other sources (metadata, tables of times). If
  ///     the units of a bare stream agree with one of them, no picture is taken as lost, whatever
  ///     the picture numbers say.
  ///   - ignoresEditList: whether pictures that an edit list hides count as well, as with `ffmpeg
  ///     -ignore_editlist 1`. Whatever decodes by the `order` of such a track ignores the list, too.
  /// - Throws: `VideoError` for a file without index (no moov atom), without a video track, or of
  ///   another kind.
  public static func read(
    _ file: FilePath, container: VideoContainer = .any, statedCounts: Set<Int> = [],
    ignoresEditList: Bool = false
  ) throws(VideoError) -> VideoIndex {
    let input = try MediaInput(file)
    if try AnnexBScanner.isAnnexB(input, container) {
      return try readAnnexB(input, statedCounts: statedCounts)
    }
    return try readContainer(input, ignoresEditList: ignoresEditList)
  }
}

/// One video track of a file.
public struct VideoTrack: Hashable, Sendable {
  /// The track's index among all tracks of the file, by which a decoder finds it.
  public var number: Int
  /// FFmpeg's name of the codec, such as `h264` or `hevc`; `h264-annexb` for a bare stream.
  public var encoding: String
  /// Size of the stored pictures, before any turn.
  public var storedWidth: Int
  public var storedHeight: Int
  public var orientation: VideoOrientation
  public var timeBase: VideoTimeBase
  /// Number of displayed pictures in the file, without those that an edit list hides.
  public var pictureCount: Int
  /// Presentation times of the pictures in the order in which the decoder outputs them, in ticks of
  /// `timeBase`. May go back in damaged or unusual files. Empty for a bare stream, which has no
  /// times.
  public var presentationTicks: [Int64]
  /// The tick at which the movie begins: 0, or, if the edit list is ignored, where that says. A
  /// container that states no beginning begins with its first picture.
  public var startTicks: Int64 = 0
  /// Maps decoding order to display order.
  public var order: PictureOrder
  /// Number of pictures in the file's index if the file ends before them; `nil` for a complete
  /// file, and without an index.
  public var listedPictures: Int?
  /// Number of pictures whose headers state another size than the first one's.
  public var picturesOfOtherSize = 0
  /// The color description.
  public var color = VideoColor()
  /// What an edit list hides.
  public var hidden = HiddenPictures()

  /// Number of steps between pictures at which time goes back.
  public var backwardSteps: Int {
    zip(presentationTicks, presentationTicks.dropFirst()).count { $0 > $1 }
  }

  /// Width of the pictures after the turn.
  public var uprightWidth: Int { orientation.swapsSides ? storedHeight : storedWidth }
  public var uprightHeight: Int { orientation.swapsSides ? storedWidth : storedHeight }
}

/// Pictures of a track that its edit list hides, so that players do not display them.
public struct HiddenPictures: Hashable, Sendable {
  /// Number of hidden pictures that would be displayed before the first visible one.
  public var before = 0
  public var after = 0
  /// Time from the first picture to the first visible one, on the video's clock.
  public var nanoseconds: Int64 = 0

  public init() {}
}
