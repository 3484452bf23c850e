@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A chart of patches as a lossless HEVC video of 10 bits, limited range, whose samples are known.
struct LightChart {
  static let patch = 16
  static let columns = 8

  /// Y, Cb, Cr of each patch, row by row.
  let samples: [(y: Int, u: Int, v: Int)]
  let folder: TemporaryFolder
  let file: FilePath
  var width: Int { Self.patch * Self.columns }
  var height: Int { Self.patch * rows }
  private var rows: Int { (samples.count + Self.columns - 1) / Self.columns }

  /// Luma weights of red and blue.
  struct Matrix {
    var red: Double
    var blue: Double
    static let bt2020 = Matrix(red: 0.2627, blue: 0.0593)
    static let bt709 = Matrix(red: 0.2126, blue: 0.0722)

    func samples(_ rgb: LightReference.Triple) -> (y: Int, u: Int, v: Int) {
      let y = red * rgb.0 + (1 - red - blue) * rgb.1 + blue * rgb.2
      return (
        Int((64 + 876 * y).rounded()), Int((512 + 448 * (rgb.2 - y) / (1 - blue)).rounded()),
        Int((512 + 448 * (rgb.0 - y) / (1 - red)).rounded())
      )
    }

    /// Signals of samples; beyond 0…1 where rounding or the sample leads there.
    func signals(_ sample: (y: Int, u: Int, v: Int)) -> LightReference.Triple {
      let y = (Double(sample.y) - 64) / 876
      let blueness = (Double(sample.u) - 512) / 896 * 2 * (1 - blue)
      let redness = (Double(sample.v) - 512) / 896 * 2 * (1 - red)
      let (r, b) = (y + redness, y + blueness)
      return (r, (y - red * r - blue * b) / (1 - red - blue), b)
    }
  }

  /// Signals of gray steps, of the colors of a cube's corners at several strengths, and of skin, up to
  /// `most`.
  static func signals(most: Double) -> [LightReference.Triple] {
    var all: [LightReference.Triple] = (0..<16).map {
      let value = most * Double($0) / 15
      return (value, value, value)
    }
    for strength in [0.5, 0.75, 1.0] {
      let (high, low) = (most * strength, most * strength * 0.35)
      for corner in 1..<7 {
        all.append(
          (corner & 1 == 0 ? low : high, corner & 2 == 0 ? low : high, corner & 4 == 0 ? low : high)
        )
      }
      all.append((high, 0.8 * high, 0.7 * high))
      all.append((high * 0.55, high * 0.4, high * 0.35))
    }
    return all
  }

  /// - Parameters:
  ///   - options: the encoder's tags.
  ///   - settings: more of x265.
  init(
    _ samples: [(y: Int, u: Int, v: Int)], _ options: [String], settings: String = ""
  ) throws {
    self.samples = samples
    folder = try TemporaryFolder()
    file = folder.path.appending("chart.mov")
    let rows = (samples.count + Self.columns - 1) / Self.columns
    let (width, height) = (Self.patch * Self.columns, Self.patch * rows)
    var bytes: [UInt8] = []
    func plane(_ step: Int, _ value: ((y: Int, u: Int, v: Int)) -> Int) {
      for y in stride(from: 0, to: height, by: step) {
        for x in stride(from: 0, to: width, by: step) {
          let place = y / Self.patch * Self.columns + x / Self.patch
          let sample = UInt16(value(samples[min(place, samples.count - 1)]))
          bytes += [UInt8(truncatingIfNeeded: sample), UInt8(sample >> 8)]
        }
      }
    }
    plane(1, \.y)
    plane(2, \.u)
    plane(2, \.v)
    let raw = folder.path.appending("chart.yuv")
    try raw.write(bytes)
    let status = try PeerProgram.ffmpeg.run(
      [
        "-nostdin", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s",
        "\(width)x\(height)", "-r", "30", "-i", "\(raw)", "-c:v", "libx265", "-x265-params",
        "log-level=none:lossless=1" + settings, "-tag:v", "hvc1", "-color_range", "tv",
      ] + options + ["file:\(file)"])
    #expect(status == 0)
  }

  static func tags(_ transfer: String, _ primaries: String, _ matrix: String) -> [String] {
    ["-color_trc", transfer, "-color_primaries", primaries, "-colorspace", matrix]
  }

  /// What the video says of its colors.
  func color() throws -> VideoColor {
    try #require(try VideoIndex.read(file).tracks.first).color
  }

  func first(turns: Int = 0, isMirrored: Bool = false) throws -> DecodedPicture {
    let track = try #require(try VideoIndex.read(file).tracks.first)
    let decoder = try VideoDecoder(
      file, order: track.order,
      orientation: VideoOrientation(
        clockwiseQuarterTurns: turns, isMirrored: isMirrored, isIgnored: false))
    return try #require(try decoder.next())
  }

  /// The pixel in the middle of a patch.
  func pixel<Sample>(_ place: Int, in rgb: [Sample]) -> [Sample] {
    let x = place % Self.columns * Self.patch + Self.patch / 2
    let y = place / Self.columns * Self.patch + Self.patch / 2
    let start = 3 * (y * width + x)
    return Array(rgb[start..<start + 3])
  }

  /// The picture as the ffmpeg program converts it with these filters.
  func picture(filters: String) throws -> ColorImage {
    let made = folder.path.appending("peer.png")
    let status = try PeerProgram.ffmpeg.run([
      "-nostdin", "-v", "error", "-y", "-i", "file:\(file)", "-vf", filters, "-frames:v", "1",
      "-pix_fmt", "rgb24", "\(made)",
    ])
    try #require(status == 0)
    return try PNGReader.color(at: made)
  }
}
