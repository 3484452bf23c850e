import SystemPackage

/// What a video file may be.
public enum VideoContainer: Sendable {
  /// Found out from the first bytes, never from the name: MP4, QuickTime, Matroska, a bare H.264 stream.
  case any
  /// A bare H.264 stream with start codes, whatever it looks like.
  case annexB
}

/// What is in a video file, counted without decoding.
public struct VideoIndex: Hashable, Sendable {
  public var tracks: [VideoTrack]
  /// The file ends before its own index says; what is listed is what is there.
  public var endsEarly: Bool

  /// Reads the index of `file`.
  ///
  /// Cost: for MP4 and QuickTime the index alone; fragmented files and Matroska are read through, and
  /// bare streams scanned for start codes, at memory speed; where the numbers of their pictures leap, the pictures
  /// around are decoded. Memory: eight bytes per picture.
  /// - Parameter statedCounts: how many pictures there are by other accounts (metadata, tables of times). A bare
  ///   stream whose units agree with one of them has lost none, whatever the numbers of its pictures say.
  /// - Throws: `VideoError` for a file without index (no moov atom), without a video track, or of
  ///   another kind.
  public static func read(
    _ file: FilePath, container: VideoContainer = .any, statedCounts: Set<Int> = []
  ) throws(VideoError) -> VideoIndex {
    let input = try MediaInput(file)
    if try AnnexBScanner.isAnnexB(input, container) {
      return try readAnnexB(input, statedCounts: statedCounts)
    }
    return try readContainer(input)
  }
}

/// One video track of a file.
public struct VideoTrack: Hashable, Sendable {
  /// The track's position among all tracks of the file, with which a decoder finds it.
  public var number: Int
  /// `h264`, `hevc`, …: FFmpeg's name of the codec; `h264-annexb` for a bare stream.
  public var encoding: String
  /// Size of the stored pictures, before any turn.
  public var storedWidth: Int
  public var storedHeight: Int
  public var orientation: VideoOrientation
  public var timeBase: VideoTimeBase
  /// Pictures that will be shown, in the file: those that an edit list hides are not counted.
  public var pictureCount: Int
  /// When each picture is shown by the container, in ticks of `timeBase`, in the order in which they
  /// are decoded for display; may go back in damaged or odd files. Empty for a bare stream, which has
  /// no times.
  public var presentationTicks: [Int64]
  /// Which decoded picture is which.
  public var order: PictureOrder
  /// Pictures that the index of the file lists, where the file ends before them; `nil` where it is whole,
  /// and where there is no index.
  public var listedPictures: Int?
  /// Pictures whose heads state another size than the first one's.
  public var picturesOfOtherSize = 0
  /// How the pictures are to be understood.
  public var color = VideoColor()
  /// What an edit list hides.
  public var hidden = HiddenPictures()

  /// Steps from one picture to the next at which time goes back.
  public var backwardSteps: Int {
    zip(presentationTicks, presentationTicks.dropFirst()).count { $0 > $1 }
  }

  /// The size of the pictures after the turn.
  public var uprightWidth: Int { orientation.swapsSides ? storedHeight : storedWidth }
  public var uprightHeight: Int { orientation.swapsSides ? storedWidth : storedHeight }
}

/// Pictures of a track that its edit list hides, and which no player shows.
public struct HiddenPictures: Hashable, Sendable {
  /// Shown before the first one that is not hidden, if they were shown.
  public var before = 0
  public var after = 0
  /// From the first picture of all to the first that is shown, on the video's clock.
  public var nanoseconds: Int64 = 0

  public init() {}
}
