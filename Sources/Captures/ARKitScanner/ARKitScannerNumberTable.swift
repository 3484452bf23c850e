import Core
import FoundationEssentials
import SystemPackage

/// The content of a side file: numbers by key, sorted by key.
struct ARKitScannerNumberTable: Sendable {
  struct Entry: Sendable {
    var key: ARKitScannerKey
    /// `nil` when the text is not a list of numbers.
    var numbers: [Double]?
    /// Whether its file has 0 bytes.
    var isEmpty = false
  }

  var entries: [Entry]
  /// Whether the keys are frame numbers rather than times.
  var keysAreFrameNumbers = false
  /// Number of entries left out because their key is neither a time nor a frame number.
  var unreadableKeys = 0
  /// Number of entries left out because their time is far from all others.
  var farOff = 0
  /// Whether the file is cut, so that entries are missing.
  var isCut = false

  /// Whether no entry was lost.
  var isWhole: Bool { unreadableKeys == 0 && farOff == 0 && !isCut }

  /// From the app's `{"key": "[1.0,nan]"}` or `{"key": "0.25"}`.
  ///
  /// `timesOnly`: keys are times even if all of them look like frame numbers.
  init(json file: FilePath, timesOnly: Bool) throws(CaptureError) {
    let texts: [String: String]
    (texts, isCut) = try ARKitScannerSideFile.entries([String: String].self, from: file)
    keysAreFrameNumbers =
      !timesOnly && !texts.isEmpty && texts.keys.allSatisfy(ARKitScannerKey.isFrameNumber)
    entries = []
    entries.reserveCapacity(texts.count)
    // Sorted, so that of several keys with one time the same one is first in every run.
    for (text, value) in texts.sorted(by: { $0.key < $1.key }) {
      let key =
        keysAreFrameNumbers ? ARKitScannerKey(frameNumber: text) : ARKitScannerKey(time: text)
      guard let key else {
        unreadableKeys += 1
        continue
      }
      let numbers = LooseJSON.numbers(value) ?? LooseJSON.number(value).map { [$0] }
      entries.append(Entry(key: key, numbers: numbers))
    }
    sortAndCheck()
  }

  /// From files named by key, one per entry. A file for which `read` throws becomes an entry
  /// without numbers.
  init(
    files: [(name: String, key: String)], in folder: FolderListing,
    read: (FilePath) throws(CaptureError) -> [Double]
  ) {
    entries = files.compactMap { file in
      ARKitScannerKey(time: file.key).map {
        let numbers = try? read(folder.path(of: file.name))
        return Entry(
          key: $0, numbers: numbers, isEmpty: numbers == nil && folder.isEmpty(file.name))
      }
    }
    sortAndCheck()
  }

  private mutating func sortAndCheck() {
    entries.sort { $0.key < $1.key }
    let bounds = TimeBounds(entries.lazy.map(\.key.timestamp))
    let written = entries.count
    entries.removeAll { !bounds.contains($0.key.timestamp) }
    farOff = written - entries.count
  }

  /// The entry for each of `keys`, matched by time; `nil` where this table has none.
  func entries(for keys: [Timestamp?]) -> [Entry?] {
    var byTime: [Timestamp: Entry] = [:]
    byTime.reserveCapacity(entries.count)
    for entry in entries where byTime[entry.key.timestamp] == nil {
      byTime[entry.key.timestamp] = entry
    }
    return keys.map { $0.flatMap { byTime[$0] } }
  }
}

/// The key of a side file's entry, converted to a time on the capture's clock.
///
/// Keys are ordered as numbers: `99999.9` before `100000.1`.
struct ARKitScannerKey: Hashable, Comparable, Sendable {
  let number: Double
  let timestamp: Timestamp

  /// From decimal seconds. `nil` when the text is not a decimal number or beyond the range of a
  /// time.
  init?(time text: String) {
    guard let timestamp = Timestamp(decimalSeconds: text), let number = Double(text) else {
      return nil
    }
    self.number = number
    self.timestamp = timestamp
  }

  /// From a frame number: frame k is at k/60 s. `nil` unless it is a whole number from 0 to the
  /// length of a recording of two years.
  init?(frameNumber text: String) {
    guard Self.isFrameNumber(text), let k = Int64(text), k < 1 << 32 else { return nil }
    number = Double(k)
    // Thirds are never halfway: adding one half and truncating rounds to nearest.
    timestamp = Timestamp(nanoseconds: (k * 100_000_000 + 3) / 6)
  }

  /// The frame number at whose nominal time a key lies.
  static func frameNumber(at time: Timestamp) -> Int {
    Int((Double(time.nanoseconds) * 60 / 1e9).rounded())
  }

  /// Whether the text has digits only. No time has this form, since the app prints `5.0` for a
  /// whole second.
  static func isFrameNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  static func < (a: ARKitScannerKey, b: ARKitScannerKey) -> Bool {
    (a.number, a.timestamp) < (b.number, b.timestamp)
  }
}
