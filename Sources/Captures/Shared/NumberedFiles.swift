import Core
import SystemPackage

/// Files of a folder whose names are frame numbers, `000000.png`, or begin with the same word,
/// `depth_00000.png`.
///
/// A listing decides which files exist; none is opened. Names that are no number, hidden files such
/// as macOS's `._000000.png`, and other endings are ignored. Memory: the names.
struct NumberedFiles {
  struct File: Hashable {
    /// `Int.max` for a number that no `Int` holds.
    var number: Int
    var name: String
  }

  /// At most one per number, ascending.
  private(set) var files: [File]
  /// Files whose number is not plausible, ascending.
  private(set) var unbelieved: [File] = []

  /// - Parameters:
  ///   - names: names in the folder, in any order.
  ///   - prefix: what names begin with before the number.
  ///   - endings: endings without period, in lower case; of two files of one number the one with
  ///     the earlier ending is kept, then the one with fewer leading zeros.
  ///   - leastDigits: digits of the shortest name.
  init(
    _ names: some Sequence<String>, prefix: String = "", endings: [String], leastDigits: Int = 6
  ) {
    var found: [(file: File, rank: Int)] = []
    for name in names {
      guard name.utf8.starts(with: prefix.utf8),
        let dot = name.utf8.lastIndex(of: UInt8(ascii: "."))
      else { continue }
      let digits = name.utf8[..<dot].dropFirst(prefix.utf8.count)
      guard digits.count >= leastDigits, let number = Self.number(digits),
        let rank = endings.firstIndex(of: name[name.index(after: dot)...].lowercased())
      else { continue }
      found.append((File(number: number, name: name), rank))
    }
    found.sort {
      ($0.file.number, $0.rank, $0.file.name.utf8.count, $0.file.name)
        < ($1.file.number, $1.rank, $1.file.name.utf8.count, $1.file.name)
    }
    files = []
    files.reserveCapacity(found.count)
    for (file, _) in found where files.last?.number != file.number { files.append(file) }
  }

  /// Whether the number of each file is its rank.
  var areRanks: Bool { files.enumerated().allSatisfy { $0.offset == $0.element.number } }

  /// - Parameter files: files whose numbers are known otherwise, ascending.
  init(_ files: [File]) {
    self.files = files
  }

  static let none = NumberedFiles([], endings: [])

  var isEmpty: Bool { files.isEmpty && unbelieved.isEmpty }

  /// One more than the greatest number.
  var numberCount: Int { (files.last?.number ?? -1) + 1 }

  /// The files without those whose numbers are above `most`, which go to `unbelieved`.
  func believing(upTo most: Int) -> NumberedFiles {
    var result = self
    result.files = files.filter { $0.number <= most }
    result.unbelieved = unbelieved + files.filter { $0.number > most }
    return result
  }

  /// The numbers that other files do not have.
  func numbers(missingIn other: NumberedFiles) -> [Int] {
    let present = Set(other.files.map(\.number))
    return files.lazy.map(\.number).filter { !present.contains($0) }
  }

  /// Files whose number is a time: each gets the place of its number among `numbers`, which ascend.
  /// Those with another number go to `unbelieved`, as `Int.max`.
  func ranked(among numbers: [Int]) -> NumberedFiles {
    let places = Dictionary(zip(numbers, 0...)) { first, _ in first }
    var result = self
    result.files = files.compactMap { file in
      places[file.number].map { File(number: $0, name: file.name) }
    }
    let others = unbelieved + files.filter { places[$0.number] == nil }
    result.unbelieved = others.map { File(number: .max, name: $0.name) }
    return result
  }

  /// The value of decimal digits, at most `Int.max`; `nil` without digits, or with anything else.
  static func number(_ digits: some Sequence<UInt8>) -> Int? {
    var value: Int?
    for byte in digits {
      let digit = byte &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      let (product, overflow) = (value ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(digit))
      value = overflow || carry ? .max : sum
    }
    return value
  }
}

extension NumberedFiles {
  private static let greatestNumber = 16_777_215
  private static let spareNumbers = 1_000

  /// The greatest frame number that is believed: a damaged or foreign name must not make millions of
  /// empty frames.
  ///
  /// - Parameters:
  ///   - records: number of files and rows that bear numbers.
  ///   - factor: how many numbers there may be for each.
  static func mostBelieved(records: Int, factor: Int = 2) -> Int {
    let (numbers, overflow) = records.multipliedReportingOverflow(by: factor)
    return overflow
      ? greatestNumber : min(greatestNumber, spareNumbers + min(numbers, greatestNumber))
  }
}

/// Small JSON files, one per frame, each read for itself: a damaged one costs its own frame only.
///
/// Thousands of them are read at opening, so they are read on all cores. Memory: the values.
struct FrameFiles<Value: Sendable> {
  /// What was made of the files that are one JSON object each, by number.
  private(set) var values: [Int: Value] = [:]
  /// Number of files of 0 bytes.
  private(set) var empty = 0
  /// Number of files that are no JSON object, and of those whose number is not believed.
  private(set) var corrupt: Int
  /// Why the first of the files that cannot be opened cannot be.
  private(set) var problem: CaptureError?

  private enum Reading {
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

  /// The values by number.
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
