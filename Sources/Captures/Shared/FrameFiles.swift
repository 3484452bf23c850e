import Core
import SystemPackage

/// Small JSON files, one per frame, each read for itself: a damaged one costs its own frame only.
///
/// Thousands of them are read at opening, so they are read on all cores. Memory: the values.
struct FrameFiles<Value: Sendable>: Sendable {
  /// What was made of the files that are one JSON object each, by number.
  private(set) var values: [Int: Value] = [:]
  /// Number of files of 0 bytes.
  private(set) var empty = 0
  /// Number of files that are no JSON object, and of those whose number is not believed.
  private(set) var corrupt: Int
  /// Why the first of the files that cannot be opened cannot be.
  private(set) var problem: CaptureError?

  private enum Reading: Sendable {
    case value(Value)
    case empty, corrupt
    case unreadable(CaptureError)
  }

  /// Files for one iteration: they are read in tens of microseconds.
  private static var share: Int { 64 }

  /// - Parameter body: called by several threads at once.
  init(
    _ files: NumberedFiles, in folder: FilePath, _ body: @escaping @Sendable (LooseJSON) -> Value
  ) {
    corrupt = files.unbelieved.count
    let all = files.files
    let share = Self.share
    let content = InputFolder(folder)
    // The closure throws nothing.
    let readings =
      (try? concurrentMap(count: (all.count + share - 1) / share) { piece in
        all[piece * share..<min(all.count, (piece + 1) * share)].map {
          Self.read($0.name, in: content, body)
        }
      }) ?? []
    for (file, reading) in zip(all, readings.joined()) {
      switch reading {
      case .value(let value): values[file.number] = value
      case .empty: empty += 1
      case .corrupt: corrupt += 1
      case .unreadable(let error): problem = problem ?? error
      }
    }
  }

  subscript(number: Int) -> Value? { values[number] }

  /// By number.
  var sorted: [(frame: Int, value: Value)] {
    values.sorted { $0.key < $1.key }.map { (frame: $0.key, value: $0.value) }
  }

  /// Drops what does not satisfy `condition`; such files count as damaged.
  mutating func keep(_ condition: (Value) -> Bool) {
    let read = values.count
    values = values.filter { condition($0.value) }
    corrupt += read - values.count
  }

  private static func read(
    _ name: String, in folder: InputFolder, _ body: (LooseJSON) -> Value
  ) -> Reading {
    do throws(FileError) {
      let bytes = try folder.whole(name, limit: InputLimits.bytesOfDescription)
      if bytes.isEmpty { return .empty }
      return LooseJSON(TextBytes.utf8(bytes)).map { Reading.value(body($0)) } ?? .corrupt
    } catch {
      return .unreadable(CaptureError(error, of: folder.path.appending(name: name)))
    }
  }
}
