import Core
import Engine
import SystemPackage
import Glibc

/// Reads the lines that array tasks have written since the last call.
///
/// The folder is listed and each file is opened again every time. A network file system client
/// caches the absence of a name and the content of an open file for a while. Only complete lines
/// are read.
final class ResultReader {
  private let folder: FilePath
  private var offsets: [String: Int64] = [:]

  /// The limit of one read. The rest is read by the next call.
  private static let mostBytes = 16 << 20

  init(_ files: RunFiles) { folder = files.results }

  /// Lines with the numbers of their array tasks.
  ///
  /// - Parameter isWanted: whether results of this array task are still needed. Other files are not
  ///   opened.
  func read(where isWanted: (Int) -> Bool) -> [(element: Int, line: ArrayTaskLine)] {
    guard let held = try? HeldFolder.following(folder), let names = try? held.names() else {
      return []
    }
    var entries: [(element: Int, line: ArrayTaskLine)] = []
    for name in names {
      guard let element = RunFiles.element(ofResults: name), isWanted(element) else { continue }
      for line in lines(of: name, in: held) {
        // Lines that cannot be decoded are ignored.
        if let line = try? ArrayTaskLine(json: line) { entries.append((element, line)) }
      }
    }
    return entries
  }

  /// New complete lines. Empty if the file does not exist or cannot be read.
  private func lines(of name: String, in held: HeldFolder) -> [ArraySlice<UInt8>] {
    guard let file = try? held.openFile(name) else { return [] }
    defer { try? file.close() }
    let offset = offsets[name] ?? 0
    guard let size = (try? FileStatus(file))?.bytes, size > offset else { return [] }
    let length = min(Self.mostBytes, Int(clamping: size - offset))
    var bytes = [UInt8](repeating: 0, count: length)
    var count = 0
    while count < length {
      let got = bytes.withUnsafeMutableBytes {
        pread(
          file.rawValue, $0.baseAddress?.advanced(by: count), length - count,
          off_t(offset) + off_t(count))
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      count += got
    }
    guard let last = bytes[..<count].lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    offsets[name] = offset + Int64(last + 1)
    return bytes[..<last].split(separator: UInt8(ascii: "\n"))
  }
}

/// One line in the results file of an array task.
enum ArrayTaskLine: Sendable, Codable {
  case begin(ArrayTaskBegin)
  case event(RunEvent)
  case capture(CaptureLine)
  case end(ArrayTaskEnd)
}

/// The node and resources of an array task, written when it starts.
struct ArrayTaskBegin: Hashable, Sendable, Codable {
  var element: Int
  /// The batch system's name of the task, such as `123_45`.
  var job: String
  var host: String
  var cores: Int
  /// Memory limit for all captures together; `nil` if there is none.
  var memoryBytes: Int64?
}

/// The result of one capture in an array task.
struct CaptureLine: Sendable, Codable {
  var name: String
  var outcome: CaptureOutcome
  /// The largest measured memory use of its stages.
  var peakMemoryBytes: Int64?
  var seconds: Double
  /// Artifacts that its stages published. The line counts only once all of them are visible.
  var artifacts: [ArtifactMark]
}

/// The end of an array task, as it reports it itself.
struct ArrayTaskEnd: Hashable, Sendable, Codable {
  enum EndKind: String, Hashable, Codable {
    /// The task was neither cancelled nor stopped for lack of time. Usually every capture has a line.
    case done
    /// The task stopped because its time limit was near.
    case outOfTime = "out-of-time"
    case cancelled
    /// The task could not start; `message` states the reason.
    case refused
  }

  var way: EndKind
  /// Names of captures without a line.
  var left: [String] = []
  var message: String?
  /// Whether the task could take a lock that the supervisor held. If so, the file system does not
  /// share locks between machines. `nil` if it was not tested.
  var tookHeldLock: Bool?
}
