import Captures
import Core
import Glibc
import Media
import SystemPackage

/// The parts of the floor that read a capture, each as the stage reads it, in one thread.
///
/// The capture is already open. Damage is skipped as in the stages; a cut stream is measured up to
/// its end.
public enum FloorWork {
  /// - Throws: `BenchmarkError` if the capture lacks the part's data.
  public static func measure(_ part: FloorPart, of capture: Capture) throws -> FloorSample {
    switch part {
    case .decode, .convert:
      guard let color = capture.color.value else { throw missing("color", capture) }
      switch color.source {
      case .video(let file, let track):
        return video(color, file, track: track, converts: part == .convert)
      case .stills(let files):
        return pictures(files.count) { try StillImage.read(files[$0]).upright }
      case .pictures(let stored): return pictures(stored.count) { try stored.decode($0).picture }
      }
    case .depth:
      guard let stream = capture.depth.value else { throw missing("depth", capture) }
      return records(stream)
    case .confidence:
      guard let stream = capture.confidence.value else { throw missing("confidence", capture) }
      return records(stream)
    case .copy: throw BenchmarkError(description: "copying needs two folders, no capture")
    }
  }

  private static func missing(_ part: String, _ capture: Capture) -> BenchmarkError {
    BenchmarkError(description: "\(capture.id): there is no \(part) that could be read")
  }

  /// Measures reading; its error is the sample's problem.
  private static func reading(_ body: (inout FloorSample) throws -> Void) -> FloorSample {
    FloorSample.measured { sample in
      do {
        try body(&sample)
      } catch {
        sample.problem = "\(error)"
      }
    }
  }

  /// Decodes and converts as the stage does, with one thread. A picture is released before the next
  /// one is requested.
  private static func video(
    _ color: ColorStream, _ file: FilePath, track: Int, converts: Bool
  ) -> FloorSample {
    reading { sample in
      var converter = ColorConverter()
      var rgb: [UInt8] = []
      let decoder = try VideoDecoder(
        file, container: color.description.container,
        track: track, order: color.order, orientation: color.orientation, threads: 1)
      while let picture = try decoder.next() {
        if converts { try converter.convert(picture, into: &rgb) }
        sample.count(width: picture.width, height: picture.height)
      }
    }
  }

  /// Decodes pictures of one file each, upright; nothing is converted. Damaged ones are skipped.
  ///
  /// - Parameter decode: `nil` for a damaged picture.
  private static func pictures(
    _ count: Int, _ decode: (Int) throws -> ColorImage?
  ) -> FloorSample {
    FloorSample.measured { sample in
      for index in 0..<count {
        do {
          guard let picture = try decode(index) else { continue }
          sample.count(width: picture.width, height: picture.height)
        } catch {
          sample.problem = "\(error)"
        }
      }
    }
  }

  private static func records<Pixel>(_ stream: PictureStream<Pixel>) -> FloorSample {
    reading { sample in
      var pixels: [Pixel] = []
      switch stream.access {
      case .indexed(let source):
        for record in 0..<source.recordCount {
          if try source.decode(record: record, into: &pixels).hasPicture {
            sample.count(width: stream.width, height: stream.height)
          }
        }
      case .ordered(let source):
        let reader = try source.makeReader()
        while let outcome = try reader.next(into: &pixels) {
          if outcome.hasPicture { sample.count(width: stream.width, height: stream.height) }
        }
      }
    }
  }
}

extension FloorSample {
  /// What `body` counts, with the times that all threads of this process take for it by the kernel's counters.
  static func measured(_ body: (inout FloorSample) throws -> Void) rethrows -> FloorSample {
    var sample = FloorSample()
    let start = processTimes
    try body(&sample)
    let end = processTimes
    (sample.userSeconds, sample.systemSeconds) = (end.user - start.user, end.system - start.system)
    sample.wallSeconds = end.wall - start.wall
    return sample
  }

  private static var processTimes: (user: Double, system: Double, wall: Double) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return (
      Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6,
      Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6,
      MonotonicClock.seconds()
    )
  }
}
