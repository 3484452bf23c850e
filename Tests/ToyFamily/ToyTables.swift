import Captures
import FoundationEssentials
import Core
import SystemPackage

/// The side files as rows.
struct ToyTables {
  struct Header: Decodable {
    var colorWidth, colorHeight, depthWidth, depthHeight: Int
    /// Focal length of the color camera, pixels.
    var focalLength: Double
  }

  struct Frame {
    var time: Timestamp
    /// Meters.
    var position: [Double]
  }

  let header: Header
  let frames: [Frame]
  let samples: [IMUSample]
  static let sensors = ["rotationRate", "userAcceleration"]

  init(_ files: ToyFiles) throws(CaptureError) {
    let path = files.folder.appending(ToyFiles.headerName)
    do {
      header = try JSONDecoder().decode(Header.self, from: Data(Self.bytes(path)))
    } catch {
      throw CaptureError(file: path, problem: "\(error)")
    }
    frames = try Self.rows(files.folder.appending(ToyFiles.framesName)).map {
      Frame(time: Timestamp(nanoseconds: Int64($0[0])), position: Array($0[1...3]))
    }
    guard let motion = files.motion else {
      samples = []
      return
    }
    samples = try Self.rows(motion).map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64($0[0])), sensor: $0[4] == 0 ? 0 : 1, x: $0[1],
        y: $0[2], z: $0[3])
    }
  }

  private static func bytes(_ path: FilePath) throws(CaptureError) -> [UInt8] {
    do throws(FileError) {
      return try InputFile(path).whole(limit: InputLimits.bytesOfJSON)
    } catch {
      throw CaptureError(file: path, problem: error.reason, remedy: error.remedy)
    }
  }

  /// Lines of five numbers.
  private static func rows(_ path: FilePath) throws(CaptureError) -> [[Double]] {
    var rows: [[Double]] = []
    for line in String(decoding: try bytes(path), as: UTF8.self).split(separator: "\n") {
      let numbers = line.split(separator: ",").compactMap { Double($0) }
      guard numbers.count == 5 else {
        throw CaptureError(file: path, record: rows.count, problem: "no line of five numbers")
      }
      rows.append(numbers)
    }
    return rows
  }
}
