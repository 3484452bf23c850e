import Core
import FoundationEssentials
import SystemPackage

/// Reads whole small files.
enum ARKitScannerSideFile {
  /// The bytes of a file; errors name it.
  static func bytes(of file: FilePath) throws(CaptureError) -> Data {
    TextBytes.utf8(
      Data(
        try CaptureError.naming(
          file, try InputFile(file).whole(limit: InputLimits.bytesOfJSON))))
  }

  /// Decodes a JSON file. Python's `NaN` and `Infinity` are accepted.
  static func json<Value: Decodable>(
    _ type: Value.Type, from file: FilePath
  ) throws(CaptureError) -> Value {
    try json(type, from: bytes(of: file), of: file)
  }

  /// Decodes an object with one entry per frame; of a cut file, the complete entries.
  static func entries<Value: Decodable>(
    _ type: Value.Type, from file: FilePath
  ) throws(CaptureError) -> (value: Value, isCut: Bool) {
    let data = try bytes(of: file)
    do {
      return (try json(type, from: data, of: file), false)
    } catch {
      guard let closed = LooseJSON.closed(data), let value = try? json(type, from: closed, of: file)
      else { throw error }
      return (value, true)
    }
  }

  private static func json<Value: Decodable>(
    _ type: Value.Type, from data: Data, of file: FilePath
  ) throws(CaptureError) -> Value {
    do {
      return try LooseJSON.decode(type, from: data, of: file)
    } catch let error as FileError {
      throw CaptureError(file: file, problem: error.reason)
    } catch {
      // The nesting depth was checked above.
      if let quoted = LooseJSON.quoted(data),
        let value = try? LooseJSON.pythonDecoder.decode(type, from: quoted)
      {
        return value
      }
      throw CaptureError(
        file: file, problem: "\(reason(error)) (\(data.count) bytes)",
        remedy: "copy the file from the device again")
    }
  }

  /// The single number in a text file.
  static func number(from file: FilePath) throws(CaptureError) -> [Double] {
    let text = String(decoding: try bytes(of: file).prefix(256), as: UTF8.self)
    guard let number = LooseJSON.number(text) else {
      throw CaptureError(file: file, problem: "holds no number")
    }
    return [number]
  }

  /// Whether the text of a key has digits only. No time has this form, since the app prints `5.0` for a
  /// whole second.
  static func isFrameNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.dataCorrupted: "not valid JSON"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "\(context.debugDescription) At: \(context.codingPath.map(\.stringValue).joined(separator: "."))"
    default: "\(error)"
    }
  }
}

/// The content of a side file: numbers by key, sorted by key.
struct ARKitScannerNumberTable {
  struct Entry {
    var key: Timestamp
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
      !timesOnly && !texts.isEmpty && texts.keys.allSatisfy(ARKitScannerSideFile.isFrameNumber)
    entries = []
    entries.reserveCapacity(texts.count)
    // Sorted, so that of several keys with one time the same one is first in every run.
    for (text, value) in texts.sorted(by: { $0.key < $1.key }) {
      let key =
        keysAreFrameNumbers ? Timestamp(arkitFrame: text) : Timestamp(arkitKey: text)
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
      Timestamp(arkitKey: file.key).map {
        let numbers = try? read(folder.path(of: file.name))
        return Entry(
          key: $0, numbers: numbers, isEmpty: numbers == nil && folder.isEmpty(file.name))
      }
    }
    sortAndCheck()
  }

  private mutating func sortAndCheck() {
    entries.sort { $0.key < $1.key }
    let bounds = TimeBounds(entries.lazy.map(\.key))
    let written = entries.count
    entries.removeAll { !bounds.contains($0.key) }
    farOff = written - entries.count
  }

  /// The entry for each of `keys`, matched by time; `nil` where this table has none.
  func entries(for keys: [Timestamp?]) -> [Entry?] {
    var byTime: [Timestamp: Entry] = [:]
    byTime.reserveCapacity(entries.count)
    for entry in entries where byTime[entry.key] == nil { byTime[entry.key] = entry }
    return keys.map { $0.flatMap { byTime[$0] } }
  }
}

/// The key of a side file's entry as a time on the capture's clock.
extension Timestamp {
  /// From decimal seconds. `nil` when the text is not a decimal number or beyond the range of a time.
  init?(arkitKey text: String) {
    guard Double(text) != nil else { return nil }
    self.init(decimalSeconds: text)
  }

  /// From a frame number: frame k is at k/60 s. `nil` unless it is a whole number from 0 to the
  /// length of a recording of two years.
  fileprivate init?(arkitFrame text: String) {
    guard ARKitScannerSideFile.isFrameNumber(text), let k = Int64(text), k < 1 << 32 else {
      return nil
    }
    // Thirds are never halfway: adding one half and truncating rounds to nearest.
    self.init(nanoseconds: (k * 100_000_000 + 3) / 6)
  }

  /// The frame number at whose nominal time it lies.
  var arkitFrame: Int { Int((Double(nanoseconds) * 60 / 1e9).rounded()) }
}

extension PictureSize {
  var pixels: Int { width * height }

  /// The bytes of a picture of `Float`.
  var floatBytes: Int { 4 * width * height }

  private static func side(_ text: String) -> Int? {
    guard let number = LooseJSON.number(text), (1...16384).contains(number) else { return nil }
    return Int(exactly: number)
  }

  /// From numbers as text (`256`, `256.0`); `nil` unless both are whole and in range.
  init?(width: String, height: String) {
    guard let width = Self.side(width), let height = Self.side(height) else { return nil }
    self.init(width: width, height: height)
  }
}

/// Whether a picture size in the metadata is usable.
enum ARKitScannerStatedSize: Hashable {
  case absent
  case invalid(String)
  case valid(PictureSize)

  var size: PictureSize? { if case .valid(let size) = self { size } else { nil } }
}

/// `metadata.json`: one object; all values are strings.
struct ARKitScannerMetadata {
  private let values: [String: String]

  init(_ file: FilePath) throws(CaptureError) {
    values = try ARKitScannerSideFile.json([String: LooseText].self, from: file).mapValues(\.text)
  }

  /// Whether the keys have the blanks and capitals of this file's first version.
  var isFirstVersion: Bool { values["Scene Name"] != nil }
  /// Whether it has keys for the exposure of a single frame, which only some versions write.
  var hasExposureKeys: Bool {
    values.keys.contains { $0 == "exposure_duration" || $0.hasPrefix("exif_") }
  }
  /// Whether the key of the single matrix has its first, misspelled form.
  var hasMisspelledMatrix: Bool { values["intrinstics"] != nil }

  var sceneName: String? { values["scene_name"] ?? values["Scene Name"] }
  var sceneType: String? { values["scene_type"] ?? values["Scene Type"] }

  var colorSize: ARKitScannerStatedSize {
    size("color_width", "color_height", resolution: "RGB Resolution")
  }
  var depthSize: ARKitScannerStatedSize {
    size("depth_width", "depth_height", resolution: "Depth Resolution")
  }

  /// Text of the single matrix, under any of its spellings.
  var matrix: String? {
    values["intrinsic"] ?? values["intrinstics"] ?? values["Intrinstics"]
  }

  private func size(_ width: String, _ height: String, resolution: String) -> ARKitScannerStatedSize
  {
    if let text = values[resolution] {
      let sides = text.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
      if sides.count == 2, let size = PictureSize(width: sides[0], height: sides[1]) {
        return .valid(size)
      }
      return .invalid(text)
    }
    let (w, h) = (values[width], values[height])
    if w == nil, h == nil { return .absent }
    guard let w, let h, let size = PictureSize(width: w, height: h) else {
      return .invalid("\(w ?? "nothing")x\(h ?? "nothing")")
    }
    return .valid(size)
  }
}

/// A value that should be a string; edited files contain numbers.
private struct LooseText: Decodable {
  var text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.text = text
    } else if let number = try? container.decode(Double.self) {
      text = "\(number)"
    } else {
      text = ""
    }
  }
}

/// `exif.json`: the camera's settings for each frame, written while recording.
struct ARKitScannerExif {
  /// Exposure of one frame; unknown values are `nil`.
  struct Entry: Hashable, Decodable {
    var exposureSeconds: Double?
    var iso: Double?

    init(from decoder: any Decoder) throws {
      let tags = try decoder.members
      exposureSeconds = tags.number("ExposureTime")
      let list = tags.value("ISOSpeedRatings") as [Double]?
      let texts = tags.value("ISOSpeedRatings") as [String]?
      iso = list?.first ?? texts?.first.flatMap(LooseJSON.number) ?? tags.number("ISOSpeedRatings")
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

  /// Reads lines of the form `"<key>": {…}`, separated by comma and newline, between `{` and `}`, which have lines
  /// of their own or not.
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
      var text = line
      if index == 0, text.first == UInt8(ascii: "{") {
        text = withoutBlanks(text.dropFirst())
        if text.isEmpty { continue }
      }
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
    entries.keys.compactMap { Timestamp(arkitKey: $0) }.sorted()
  }

  /// The entries for keys that are times; `nil` where there is none.
  func entries(for times: [Timestamp?]) -> [Entry?] {
    var byTime: [Timestamp: Entry] = [:]
    for (text, entry) in entries {
      if let key = Timestamp(arkitKey: text) { byTime[key] = entry }
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
        Timestamp(arkitKey: text).map { ($0, entry) }
      }
      .sorted { $0.0 < $1.0 }
      for (index, entry) in inOrder.enumerated() where index < numbers.count {
        byNumber[numbers[index]] = entry.1
      }
    }
    return numbers.map { byNumber[$0] }
  }
}

/// `pose_intrinsic_imu.json` of the released scenes: one object per frame, matrices by rows.
struct ARKitScannerRelease {
  struct Frame: Decodable {
    /// Decimal seconds with all digits of the file, where they may be a number or a text.
    var timestamp: String?
    var pose: [[Double]]?
    var alignedPose: [[Double]]?
    var intrinsic: [[Double]]?
    /// Rotation rate, acceleration and gravity, each if it is there; `nil` without motion.
    var motion: [[Double]?]?

    /// A member of unexpected type counts as absent, a pose as one without rows, so that the other
    /// frames remain readable.
    init(from decoder: any Decoder) throws {
      let members = try decoder.members
      func rows(_ key: TextKey) -> [[Double]]? {
        members.value(key) ?? ((try? members.decodeNil(forKey: key)) == false ? [] : nil)
      }
      timestamp =
        (members.value("timestamp") as Decimal?)?.description ?? members.value("timestamp")
      pose = rows("pose")
      alignedPose = rows("aligned_pose")
      intrinsic = members.value("intrinsic")
      let imu = try? members.nestedContainer(keyedBy: TextKey.self, forKey: "imu")
      motion = imu.map { imu in
        (["rotate_rate", "acceleration", "gravity"] as [TextKey]).map { imu.value($0) }
      }
    }

    mutating func clear() {
      (timestamp, pose, alignedPose, motion) = (nil, nil, nil, nil)
    }

    var time: Timestamp? { timestamp.flatMap { Timestamp(decimalSeconds: $0) } }
  }

  /// Frames in the order of their numbers, which are the positions in the video and the depth file.
  var frames: [(number: Int, frame: Frame)]
  /// Number of entries left out because their key is not a frame name.
  var unreadableKeys = 0
  /// Number of frames whose time is far from all others: they keep their position, but lose time
  /// and pose.
  var farOff = 0
  /// Whether the file is cut.
  let isCut: Bool

  init(_ file: FilePath) throws(CaptureError) {
    let entries: [String: Frame]
    (entries, isCut) = try ARKitScannerSideFile.entries([String: Frame].self, from: file)
    frames = []
    frames.reserveCapacity(entries.count)
    for (text, frame) in entries {
      if let number = Self.frameNumber(text) {
        frames.append((number, frame))
      } else {
        unreadableKeys += 1
      }
    }
    frames.sort { $0.number < $1.number }
    let bounds = TimeBounds(frames.lazy.compactMap(\.frame.time))
    for index in frames.indices {
      guard let time = frames[index].frame.time, !bounds.contains(time) else { continue }
      frames[index].frame.clear()
      farOff += 1
    }
  }

  /// The number in `frame_000012`.
  static func frameNumber(_ key: String) -> Int? {
    guard key.hasPrefix("frame_") else { return nil }
    let digits = String(key.dropFirst(6))
    return ARKitScannerSideFile.isFrameNumber(digits) ? Int(digits) : nil
  }
}
