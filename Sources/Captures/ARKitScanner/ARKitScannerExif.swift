import FoundationEssentials
import Core
import SystemPackage

/// `exif.json`: the camera's settings for each frame, written while recording.
struct ARKitScannerExif: Sendable {
  /// Exposure of one frame; unknown values are `nil`.
  struct Entry: Sendable, Hashable, Decodable {
    var exposureSeconds: Double?
    var iso: Double?

    init(from decoder: any Decoder) throws {
      let tags = try decoder.members
      exposureSeconds = tags.value("ExposureTime")
      iso = (tags.value("ISOSpeedRatings") as [Double]?)?.first ?? tags.value("ISOSpeedRatings")
    }
  }

  /// Entries by key text.
  private(set) var entries: [String: Entry] = [:]
  /// Whether the file ends like that of a finished recording.
  private(set) var isClosed = true
  /// Number of lines before the last one that are not an entry.
  private(set) var brokenLines = 0

  /// Reads the whole object. If the file is damaged or was left open by a killed app, reads every
  /// line that is a complete entry.
  init(_ file: FilePath) throws(CaptureError) {
    let data = try ARKitScannerSideFile.bytes(of: file)
    if let whole = LooseJSON.value([String: Entry].self, in: data) {
      entries = whole
    } else if let list = LooseJSON.value([Entry].self, in: data) {
      // A list in frame order without keys, the other possible form of the released files.
      for (index, tags) in list.enumerated() { entries["frame_\(index)"] = tags }
    } else {
      salvage(data)
      // A file without line structure, written by another program.
      if entries.isEmpty, let closed = LooseJSON.closed(data),
        let whole = try? JSONDecoder().decode([String: Entry].self, from: closed)
      {
        entries = whole
        (isClosed, brokenLines) = (false, 0)
      }
    }
  }

  /// Reads lines of the form `"<key>": {…}`, separated by comma and newline, between a line `{` and
  /// a line `}`.
  private mutating func salvage(_ data: Data) {
    let decoder = JSONDecoder()
    let newline = UInt8(ascii: "\n")
    var lines = data.split(separator: newline).map(withoutBlanks).filter { !$0.isEmpty }
    isClosed = false
    if let last = lines.last, last.elementsEqual([UInt8(ascii: "}")]) {
      isClosed = true
      lines.removeLast()
    }
    for (index, line) in lines.enumerated() {
      if index == 0, line.elementsEqual([UInt8(ascii: "{")]) { continue }
      var text = line
      if text.last == UInt8(ascii: ",") { text.removeLast() }
      let object = Data([UInt8(ascii: "{")]) + text + Data([UInt8(ascii: "}")])
      if let entry = LooseJSON.value([String: Entry].self, in: object, decoder) {
        entries.merge(entry) { first, _ in first }
      } else if isClosed || index < lines.count - 1 {
        brokenLines += 1
      }
    }
  }

  private func withoutBlanks(_ line: Data) -> Data {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0D || byte == 0x09 }
    var line = line.drop(while: isBlank)
    while let last = line.last, isBlank(last) { line.removeLast() }
    return line
  }

  /// Times of all entries whose key is a time, ascending.
  var times: [Timestamp] {
    let written = writtenTimes
    let bounds = TimeBounds(written)
    return written.filter(bounds.contains)
  }

  /// Number of entries whose time is far from all others.
  var farOff: Int { writtenTimes.count - times.count }

  private var writtenTimes: [Timestamp] {
    entries.keys.compactMap { ARKitScannerKey(time: $0) }.sorted().map(\.timestamp)
  }

  /// The entries for keys that are times; `nil` where there is none.
  func entries(for times: [Timestamp?]) -> [Entry?] {
    var byTime: [Timestamp: Entry] = [:]
    for (text, entry) in entries {
      if let key = ARKitScannerKey(time: text) { byTime[key.timestamp] = entry }
    }
    return times.map { $0.flatMap { byTime[$0] } }
  }

  /// The entries for numbered frames. Keys are `frame_000012`, or times in frame order.
  func entries(forFrameNumbers numbers: [Int]) -> [Entry?] {
    var byNumber: [Int: Entry] = [:]
    for (text, entry) in entries {
      if let number = ARKitScannerRelease.frameNumber(text) { byNumber[number] = entry }
    }
    if byNumber.isEmpty {
      let inOrder = entries.compactMap { text, entry in
        ARKitScannerKey(time: text).map { ($0, entry) }
      }
      .sorted { $0.0 < $1.0 }
      for (index, entry) in inOrder.enumerated() where index < numbers.count {
        byNumber[numbers[index]] = entry.1
      }
    }
    return numbers.map { byNumber[$0] }
  }
}
