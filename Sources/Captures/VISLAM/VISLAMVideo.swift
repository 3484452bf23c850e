import Codecs
import Storage
import SystemPackage

/// The video of a session, its pictures counted and timed without decoding.
struct VISLAMVideo {
  let path: FilePath
  /// Name inside the capture's folder.
  let file: String
  /// The track's number inside the file.
  let track: Int
  let codec: String
  let storedWidth: Int
  let storedHeight: Int
  /// Upright size.
  let width: Int
  let height: Int
  let clockwiseQuarterTurns: Int
  let isMirrored: Bool
  let rotationIsIgnored: Bool
  /// When picture k is shown, in display order; made up where the file has no times.
  let ticks: [Int64]
  /// Which decoded picture is which.
  let order: PictureOrder
  let color: VideoColor
  /// What an edit list hides.
  let hidden: HiddenPictures
  /// What every family reports of a video's pictures.
  let oddities: VideoOddities
  let otherVideoTracks: Int
  /// The file ends before its own index says.
  let endsEarly: Bool
  /// Pictures that its index lists, where the file ends before them.
  let listedPictures: Int?
  private let timeBase: VideoTimeBase

  /// - Parameter rows: of the frame table, if there are any.
  init(_ path: FilePath, rows: Int) throws(CaptureError) {
    let index = try VideoIndex.ofCapture(path, statedCounts: rows > 0 ? [rows] : [])
    guard let first = index.tracks.first else {
      throw CaptureError(file: path, problem: "it has no video track")
    }
    self.path = path
    file = path.shownName
    track = first.number
    codec = first.encoding
    (storedWidth, storedHeight) = (first.storedWidth, first.storedHeight)
    (width, height) = (first.uprightWidth, first.uprightHeight)
    clockwiseQuarterTurns = first.orientation.clockwiseQuarterTurns
    isMirrored = first.orientation.isMirrored
    rotationIsIgnored = first.orientation.isIgnored
    otherVideoTracks = index.tracks.count - 1
    endsEarly = index.endsEarly
    listedPictures = first.listedPictures
    order = first.order
    oddities = VideoOddities(first)
    color = first.color
    hidden = first.hidden
    if first.presentationTicks.count == first.pictureCount {
      (ticks, timeBase) = (first.presentationTicks, first.timeBase)
    } else {
      // A bare stream has no times: the nominal rate of the family.
      (ticks, timeBase) = (
        (0..<first.pictureCount).map(Int64.init), VideoTimeBase(denominator: 30)
      )
    }
  }

  /// Presentation times in nanoseconds from the first picture, in display order.
  var pictureTimes: [Int64] {
    guard let first = ticks.first else { return [] }
    return ticks.map { timeBase.nanoseconds(ofTicks: $0 &- first) ?? .max }
  }

  /// The resolution of the picture times.
  var tickNanoseconds: Int64 { timeBase.nanoseconds(ofTicks: 1) ?? .max / 4 }
}
