import Captures
import Core
import Engine
import Media
import Synchronization
import SystemPackage

/// Decodes the pictures of a video for the workers of a stage, with as many threads as keep all of
/// the stage's cores busy. These threads count against the stage's budget.
///
/// Pictures do not depend on the number of threads (`VideoDecoder`).
final class SharedVideoDecoder: Sendable {
  private let decoder: VideoDecoder
  private let budget: CoreBudget
  private let meter: Mutex<Meter>
  /// Expected number of pictures, as far as known.
  private let expected: Int

  /// - Parameter workNanosecondsPerPixel: estimated work on a picture after decoding.
  init(
    _ context: StageContext, _ color: ColorStream, file: FilePath, track: Int,
    workNanosecondsPerPixel: Double
  ) throws {
    budget = context.budget
    expected = color.order?.count ?? color.description.frames ?? 0
    let bytes = (try? FileIdentity(of: file).bytes) ?? 0
    let share = Self.likelyShare(
      encoding: color.description.encoding,
      bytesPerPicture: Double(bytes) / Double(max(1, expected)),
      pixels: Double(color.description.width ?? 0) * Double(color.description.height ?? 0),
      workNanosecondsPerPixel: workNanosecondsPerPixel)
    let likely = Self.threads(cores: context.budget.share, share: share)
    decoder = try VideoDecoder(
      file, container: color.description.container, track: track, order: color.order,
      orientation: color.orientation, threads: likely)
    let threads = decoder.mayUseThreads ? likely : 1
    meter = Mutex(Meter(threads: threads, reservation: context.budget.reserve(threads - 1)))
  }

  private struct Meter {
    var threads: Int
    /// Cores of the decoder's threads, except the one whose token the waiting worker holds.
    var reservation: CoreReservation
    var pictures = 0
    var pullNanoseconds: Int64 = 0
    var workNanoseconds: Int64 = 0
    /// Number of pictures at which the number of threads is adjusted next.
    var nextAdjustment = 12
  }

  /// The next picture; `nil` after the last one. For one thread at a time.
  func next() throws -> DecodedPicture? {
    let start = ThreadClock.cpuNanoseconds()
    let picture = try decoder.next()
    let spent = ThreadClock.cpuNanoseconds() - start
    let isDue = meter.withLock { meter in
      meter.pullNanoseconds += spent
      meter.pictures += 1
      return picture != nil && meter.pictures == meter.nextAdjustment && decoder.mayUseThreads
    }
    if isDue { try adjustThreads() }
    return picture
  }

  /// Runs work on a picture and measures its time.
  func work<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = ThreadClock.cpuNanoseconds()
    defer {
      let spent = ThreadClock.cpuNanoseconds() - start
      meter.withLock { $0.workNanoseconds += spent }
    }
    return try body()
  }

  /// Changes the number of threads if another is much better.
  private func adjustThreads() throws {
    let inThreads = decoder.threadCPUNanoseconds
    let wanted: Int? = meter.withLock { meter in
      meter.nextAdjustment *= 4
      let decoding = Double(meter.pullNanoseconds + inThreads)
      let share = decoding / max(1, decoding + Double(meter.workNanoseconds))
      let cores = budget.share + meter.reservation.cores
      let count = Self.threads(cores: cores, share: share)
      if count < meter.threads {
        // Surplus threads sleep: workers may use their cores.
        meter.reservation.release()
        meter.reservation = budget.reserve(count - 1)
        meter.threads = count
        return nil
      }
      // More threads need a new decoder, which begins at the first picture.
      return count > meter.threads && expected / Self.leastGain > meter.pictures ? count : nil
    }
    guard let wanted else { return }
    try decoder.use(threads: wanted)
    meter.withLock { meter in
      meter.threads = wanted
      meter.reservation.release()
      meter.reservation = budget.reserve(wanted - 1)
    }
  }

  /// Least number of expected pictures for each that is decoded twice: 5 % more decoding for a
  /// sixth less time.
  private static let leastGain = 20

  /// Counts of the decoder so far.
  var counts: VideoDecoder.Counts { decoder.counts }

  /// CPU seconds of the decoder's own threads.
  var threadCPUSeconds: Double { Double(decoder.threadCPUNanoseconds) / 1e9 }
}

extension SharedVideoDecoder {
  /// More threads take memory without being faster.
  private static let mostThreads = 8

  /// How many threads decode a video while the other cores of a stage convert, encode and write its
  /// pictures.
  ///
  /// - Parameters:
  ///   - cores: how many cores the stage may use.
  ///   - share: share of decoding in the CPU time of a picture, 0 to 1.
  ///
  /// One thread supplies `1 / share` cores. A second one makes decoding 2 to 23 % more expensive,
  /// so that there are no more than needed, and none for the last few percent.
  static func threads(cores: Int, share: Double) -> Int {
    guard share.isFinite, share > 0, cores > 1 else { return 1 }
    let needed = Double(cores) * (min(share, 1) - leftOut)
    return max(1, min(Int(needed.rounded(.up)), cores, mostThreads))
  }

  /// If decoding exceeds what one thread can do by at most this much, the idle time is smaller than
  /// the overhead of another thread.
  private static let leftOut = 0.04

  /// The likely share of decoding before a picture has been decoded. Within about a tenth for eight
  /// real recordings from 0.02 to 1.1 bits per pixel; corrected later by measurement.
  static func likelyShare(
    encoding: String?, bytesPerPicture: Double, pixels: Double, workNanosecondsPerPixel: Double
  ) -> Double {
    guard pixels > 0, bytesPerPicture >= 0 else { return 0 }
    // Measured with FFmpeg 5.1 on a Zen 4: prediction and filters per pixel, arithmetic decoding
    // per bit.
    let isHEVC = encoding?.hasPrefix("hevc") ?? false
    let (perPixel, perBit) = isHEVC ? (3.5, 12.0) : (2.6, 9.0)
    let decoding = perPixel * pixels + perBit * 8 * bytesPerPicture
    return decoding / (decoding + workNanosecondsPerPixel * pixels)
  }

  /// Nanoseconds per pixel for conversion, encoding, digest and writing; measured as above.
  static func workNanosecondsPerPixel(
    format: PictureEncoding, compression: PNGCompression
  ) -> Double {
    if format == .jpeg { return 4 }
    return switch compression {
    case .compact: 11
    case .fast: 7.5
    case .fastest: 4
    }
  }
}

/// How pictures are encoded, as parameters name it.
enum PictureEncoding: String, CaseIterable {
  /// As the files are that are shared.
  case same
  case png, jpeg
}
