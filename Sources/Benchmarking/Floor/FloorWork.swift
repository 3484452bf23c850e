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
      case .stills(let files): return stills(files)
      case .pictures(let pictures): return self.pictures(pictures)
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

  /// Decodes and converts as the stage does, with one thread. A picture is released before the next
  /// one is requested.
  private static func video(
    _ color: ColorStream, _ file: FilePath, track: Int, converts: Bool
  ) -> FloorSample {
    ProcessClock.measure {
      var count = FloorCount()
      var converter = ColorConverter()
      var rgb: [UInt8] = []
      do {
        let decoder = try VideoDecoder(
          file, container: color.description.container,
          track: track, order: color.order, orientation: color.orientation, threads: 1)
        while let picture = try decoder.next() {
          if converts { try converter.convert(picture, into: &rgb) }
          count.add(width: picture.width, height: picture.height)
        }
      } catch {
        count.problem = "\(error)"
      }
      return count
    }
  }

  /// Decodes stills and turns them upright; nothing is converted.
  private static func stills(_ files: [FilePath]) -> FloorSample {
    ProcessClock.measure {
      var count = FloorCount()
      for file in files {
        do {
          let picture = try StillImage.read(file).upright
          count.add(width: picture.width, height: picture.height)
        } catch {
          count.problem = "\(error)"
        }
      }
      return count
    }
  }

  /// Decodes pictures of one file each; damaged ones are skipped.
  private static func pictures(_ pictures: ColorPictures) -> FloorSample {
    ProcessClock.measure {
      var count = FloorCount()
      for index in 0..<pictures.count {
        do {
          guard let picture = try pictures.decode(index).picture else { continue }
          count.add(width: picture.width, height: picture.height)
        } catch {
          count.problem = "\(error)"
        }
      }
      return count
    }
  }

  private static func records<Pixel>(_ stream: PictureStream<Pixel>) -> FloorSample {
    ProcessClock.measure {
      var count = FloorCount()
      var pixels: [Pixel] = []
      do {
        switch stream.access {
        case .indexed(let source):
          for record in 0..<source.recordCount {
            if try source.decode(record: record, into: &pixels).hasPicture {
              count.add(width: stream.width, height: stream.height)
            }
          }
        case .ordered(let source):
          let reader = try source.makeReader()
          while let outcome = try reader.next(into: &pixels) {
            if outcome.hasPicture { count.add(width: stream.width, height: stream.height) }
          }
        }
      } catch {
        count.problem = "\(error)"
      }
      return count
    }
  }
}

/// CPU and wall time of this process since the clock was created.
struct ProcessClock {
  private let start = Reading()

  /// Measures `body` by the kernel's counters for all threads of this process.
  static func measure(_ body: () throws -> FloorCount) rethrows -> FloorSample {
    let clock = ProcessClock()
    let count = try body()
    let now = Reading()
    return FloorSample(
      userSeconds: now.user - clock.start.user, systemSeconds: now.system - clock.start.system,
      wallSeconds: now.wall - clock.start.wall, pictures: count.pictures, pixels: count.pixels,
      files: count.files, bytes: count.bytes, problem: count.problem)
  }

  private struct Reading {
    var user: Double
    var system: Double
    var wall: Double

    init() {
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      user = Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
      system = Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
      wall = MonotonicClock.seconds()
    }
  }
}

/// What a part has processed.
struct FloorCount {
  var pictures = 0
  var pixels: Int64 = 0
  var files = 0
  var bytes: Int64 = 0
  var problem: String?

  /// Sizes come from files, so additions must not trap.
  mutating func add(width: Int, height: Int) {
    pictures += 1
    let (product, isTooMany) = Int64(width).multipliedReportingOverflow(by: Int64(height))
    let (sum, overflow) = pixels.addingReportingOverflow(isTooMany ? .max : product)
    pixels = overflow ? .max : sum
  }
}
