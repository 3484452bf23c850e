import Foundation
import SystemPackage
import TestSupport

@testable import Captures
@testable import Core
@testable import Media
@testable import Synthetic

/// Where a stream of a capture keeps one item per frame, so that some can be taken out of it.
enum ItemStore: Sendable {
  /// The pictures of a video; `firstTick` is the time of the first one in 1/600 s. Of a name with `*` only
  /// the ending is known.
  case video(String, firstTick: Int64 = 0)
  /// Files of a folder (empty: the capture's own), with a number between prefix and suffix.
  case files(String, prefix: String = "", suffix: String)
  /// The lines of a text behind some of its head.
  case lines(String, head: Int = 0)
  /// The members of a JSON object, whose keys are numbers or end in one, in the order of the numbers.
  case members(String)
  /// The elements of lists in a JSON object.
  case lists(String, [String])
  /// A length of 32 bits and as many bytes; as many as the capture has frames, and a rest.
  case records(String)
  /// As many bytes per item behind a head.
  case blocks(String, bytes: Int, head: Int = 0)
  /// Blocks in one raw DEFLATE stream.
  case deflated(String, bytes: Int)

  /// The file or folder that holds the items.
  var name: String {
    switch self {
    case .files("", let prefix, let suffix): prefix + "*" + suffix
    case .video(let name, _), .files(let name, _, _), .lines(let name, _), .members(let name),
      .lists(let name, _), .records(let name), .blocks(let name, _, _), .deflated(let name, _):
      name
    }
  }

  /// The store in a folder of the capture.
  func inside(_ folder: String) -> ItemStore {
    switch self {
    case .files(let name, let prefix, let suffix):
      .files(name.isEmpty ? folder : folder + "/" + name, prefix: prefix, suffix: suffix)
    case .lists(let name, let keys): .lists(folder + "/" + name, keys)
    default: self
    }
  }

  /// When the pictures that are left are shown.
  enum Times: String, CaseIterable, Sendable {
    /// As in the whole video: an app's encoder lost the others.
    case own
    /// Own times, moved so that the first is shown at 0: a copy whose start was cut off.
    case moved
    /// One nominal step apart from 0: a copy that was encoded again at an even rate.
    case even
  }

  struct Unexpected: Error {
    var what: String
  }
}

/// The files of a capture, to be copied without some items.
struct ItemFiles {
  let folder: FilePath
  /// Number of frames of the whole capture.
  let frames: Int
  /// Pictures of its video and their times in 1/600 s from the first.
  private(set) var pictures: [ColorImage] = []
  private(set) var ticks: [Int64] = []
  private var turns = 0

  /// - Parameter ticks: the times of the pictures where they are others than in the file.
  init(_ folder: FilePath, frames: Int, video: String?, ticks: [Int64]? = nil) throws {
    self.folder = folder
    self.frames = frames
    guard let video else { return }
    let path = folder.appending(try Self.name(video, in: folder))
    guard let track = try VideoIndex.read(path, ignoresEditList: true).tracks.first else {
      throw ItemStore.Unexpected(what: "no track in \(video)")
    }
    turns = track.orientation.clockwiseQuarterTurns
    let decoder = try VideoDecoder(path, order: track.order, orientation: .upright)
    var converter = ColorConverter()
    while let picture = try decoder.next() {
      var rgb: [UInt8] = []
      try converter.convert(picture, into: &rgb)
      pictures.append(ColorImage(width: picture.width, height: picture.height, rgb: rgb))
    }
    // A bare stream has no times.
    let own =
      track.presentationTicks.isEmpty
      ? pictures.indices.map { Int64(20 * $0) }
      : track.presentationTicks.map {
        let elapsed = track.timeBase.nanoseconds(ofTicks: $0 - track.presentationTicks[0]) ?? 0
        return Int64((Double(elapsed) * 600 / 1e9).rounded())
      }
    self.ticks = ticks ?? own
    guard pictures.count == self.ticks.count else {
      throw ItemStore.Unexpected(what: "\(pictures.count) pictures, \(self.ticks.count) times")
    }
  }

  /// Makes a copy without `lost` items of `stores`; what does not change is shared with the original.
  func copy(
    to copy: FilePath, without lost: Set<Int>, of stores: [ItemStore],
    times: ItemStore.Times = .own
  ) throws {
    try link(folder, to: copy)
    for store in stores {
      let name = try Self.name(store.name, in: folder)
      let from = folder.pushing(FilePath(name))
      let to = copy.pushing(FilePath(name))
      func kept<Item>(_ items: [Item]) -> [Item] {
        items.indices.filter { !lost.contains($0) }.map { items[$0] }
      }
      switch store {
      case .video(_, let firstTick):
        try writeVideo(to, without: lost, times: times, firstTick: firstTick)
      case .files(let inner, let prefix, let suffix):
        let place = inner.isEmpty ? copy : copy.pushing(FilePath(inner))
        let numbered = try FileSystem.names(in: place).compactMap { name -> (Double, String)? in
          guard name.hasPrefix(prefix), name.hasSuffix(suffix),
            let number = Double(name.dropFirst(prefix.count).dropLast(suffix.count))
          else { return nil }
          return (number, name)
        }.sorted { $0.0 < $1.0 }.map(\.1)
        for index in lost where index < numbered.count {
          try FileSystem.remove(place.appending(numbered[index]))
        }
      case .lines(_, let head):
        let lines = try text(from).split(separator: "\n")
        let left = Array(lines.prefix(head)) + kept(Array(lines.dropFirst(head)))
        try write(Array(left.map { $0 + "\n" }.joined().utf8), to)
      case .members:
        let members = try object(from).map { ($0.key, $0.value) }
          .sorted { Self.number($0.0) < Self.number($1.0) }
        try write(
          JSONSerialization.data(
            withJSONObject: Dictionary(uniqueKeysWithValues: kept(members))), to)
      case .lists(_, let keys):
        var whole = try object(from)
        for key in keys { whole[key] = (whole[key] as? [Any]).map(kept) }
        try write(JSONSerialization.data(withJSONObject: whole), to)
      case .records:
        let content = try bytes(from)
        var records: [ArraySlice<UInt8>] = []
        var place = 0
        while records.count < frames {
          let count = content[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
          records.append(content[place..<place + 4 + count])
          place += 4 + count
        }
        try write(kept(records).flatMap { $0 } + content[place...], to)
      case .blocks(_, let count, let head):
        try write(Self.blocks(try bytes(from), count, head, kept), to)
      case .deflated(_, let count):
        var whole = [UInt8](repeating: 0, count: (frames + 8) * count)
        let packed = try bytes(from)
        var span = whole.mutableSpan
        var output = span.mutableBytes
        let produced = try WholeInflate.inflate(packed.span.bytes, format: .raw, into: &output)
          .produced
        let left = Self.blocks(Array(whole[..<produced]), count, 0, kept)
        try write(DeflateEncoder.compress(left, format: .raw, level: 1), to)
      }
    }
  }

  private static func blocks(
    _ bytes: [UInt8], _ count: Int, _ head: Int,
    _ kept: ([ArraySlice<UInt8>]) -> [ArraySlice<UInt8>]
  ) -> [UInt8] {
    let blocks = stride(from: head, through: bytes.count - count, by: count).map {
      bytes[$0..<$0 + count]
    }
    return bytes[..<head] + kept(blocks).flatMap { $0 }
  }

  /// `frame_000012` and `12.5`: as it is, or what stands behind the last `_`.
  private static func number(_ key: String) -> Double {
    Double(key.split(separator: "_").last ?? "") ?? -1
  }

  private func writeVideo(
    _ path: FilePath, without lost: Set<Int>, times: ItemStore.Times, firstTick: Int64
  ) throws {
    let left = pictures.indices.filter { !lost.contains($0) }
    guard let first = left.first else { return }
    let size = pictures[first]
    let isBare = path.extension == "h264"
    var settings = VideoEncoderSettings(
      width: size.width, height: size.height,
      container: isBare
        ? .annexB
        : path.extension == "mkv"
          ? .matroska
          : path.extension == "mov" ? .mov : .mp4)
    settings.bFrames = isBare || firstTick < 0 ? 0 : 2
    settings.preset = "ultrafast"
    settings.clockwiseQuarterTurns = turns
    try FileSystem.remove(path)
    let encoder = try VideoEncoder(path, settings)
    let step = ticks.count > 1 ? (ticks[ticks.count - 1] - ticks[0]) / Int64(ticks.count - 1) : 20
    for (position, index) in left.enumerated() {
      let tick =
        switch times {
        case .own: firstTick + ticks[index]
        case .moved: ticks[index] - ticks[first]
        case .even: Int64(position) * step
        }
      try encoder.append(pictures[index], ticks: tick)
    }
    try encoder.finish()
  }

  /// Files as hard links, folders anew.
  private func link(_ from: FilePath, to: FilePath) throws {
    try FileSystem.makeFolder(to)
    for name in try FileSystem.names(in: from) {
      let inner = from.appending(name)
      if FileSystem.isFolder(inner) {
        try link(inner, to: to.appending(name))
      } else {
        try FileManager.default.linkItem(atPath: inner.string, toPath: to.appending(name).string)
      }
    }
  }

  /// The name of the file that a name with `*` means.
  private static func name(_ name: String, in folder: FilePath) throws -> String {
    guard name.hasPrefix("*") else { return name }
    return try FileSystem.names(in: folder).first { $0.hasSuffix(name.dropFirst()) } ?? name
  }

  private func bytes(_ path: FilePath) throws -> [UInt8] {
    Array(try path.data())
  }

  private func text(_ path: FilePath) throws -> String {
    String(decoding: try bytes(path), as: UTF8.self)
  }

  private func object(_ path: FilePath) throws -> [String: Any] {
    let parsed = try JSONSerialization.jsonObject(
      with: path.data())
    guard let object = parsed as? [String: Any] else {
      throw ItemStore.Unexpected(what: "\(path) is no object")
    }
    return object
  }

  /// Replaces the file, never the original that it is a link to.
  private func write(_ bytes: some DataProtocol, _ path: FilePath) throws {
    if FileSystem.exists(path) { try FileSystem.remove(path) }
    try Data(bytes).write(to: URL(filePath: path.string))
  }
}

/// What the frames of a capture carry, read as stages read it: by stream and frame a number that stands for
/// the content. Of pictures it is the number drawn into them, of times it is nanoseconds.
struct FrameContents {
  enum Stream: String, CaseIterable {
    case color, depth, confidence, time, colorTime, depthTime, pose, intrinsics
    case exposure, iso, exposureOffset

    var isTime: Bool { [.time, .colorTime, .depthTime].contains(self) }
  }

  private(set) var items: [Stream: [Int: Int]] = [:]
  private(set) var clock: CaptureClock?
  let warnings: [CaptureWarning]
  /// Streams that cannot be read, which is told by an error.
  let errors: [String]

  /// Opens the capture at `path` and decodes it whole.
  init(of path: FilePath) throws {
    let finding = CaptureFinder(.builtIn).find(path)
    guard let found = finding.captures.first else {
      (warnings, errors) = ([], [finding.declined ?? "no capture"])
      return
    }
    let capture: Capture
    do {
      capture = try CaptureRegistry.builtIn.open(found)
    } catch {
      (warnings, errors) = ([], ["\(error)"])
      return
    }
    clock = capture.clock
    warnings = capture.warnings
    errors = capture.errors.map { "\($0.stream): \($0.error)" }
    for (frame, times) in capture.frames.enumerated() {
      items[.time, default: [:]][frame] = (times.timestamp?.nanoseconds).map(Int.init)
      items[.colorTime, default: [:]][frame] = (times.colorTimestamp?.nanoseconds).map(Int.init)
      items[.depthTime, default: [:]][frame] = (times.depthTimestamp?.nanoseconds).map(Int.init)
    }
    for row in capture.poses.value?.rows ?? [] {
      items[.pose, default: [:]][row.frame] = row.pose.hashValue
    }
    for row in capture.intrinsics.value ?? [] {
      items[.intrinsics, default: [:]][row.frame] = [row.fx, row.fy, row.cx, row.cy].hashValue
    }
    for row in capture.cameraSettings.value?.rows ?? [] {
      items[.exposure, default: [:]][row.frame] = row.exposureSeconds?.hashValue
      items[.iso, default: [:]][row.frame] = row.iso?.hashValue
      items[.exposureOffset, default: [:]][row.frame] = row.exposureOffsetEV?.hashValue
    }
    if let color = capture.color.value { items[.color] = try Self.numbers(in: color) }
    items[.depth] = try capture.depth.value.map(Self.pictures)
    items[.confidence] = try capture.confidence.value.map(Self.pictures)
    items = items.filter { !$0.value.isEmpty }
  }

  private static func numbers(in color: ColorStream) throws -> [Int: Int] {
    var numbers: [Int: Int] = [:]
    func add(_ position: Int, _ rgb: [UInt8], width: Int) {
      numbers[color.frameOfPicture.map { $0[position] } ?? position] =
        FrameCode.read(rgb: rgb, width: width)
    }
    switch color.source {
    case .video(let file, let track):
      let decoder = try VideoDecoder(
        file, container: color.description.container, track: track, order: color.order,
        orientation: color.orientation)
      var converter = ColorConverter()
      var rgb: [UInt8] = []
      while let picture = try decoder.next() {
        guard let position = picture.displayIndex else { continue }
        try converter.convert(picture, into: &rgb)
        add(position, rgb, width: picture.width)
      }
    case .stills(let files):
      for (position, file) in files.enumerated() {
        let picture = try StillImage.read(file).picture
        add(position, picture.rgb, width: picture.width)
      }
    case .pictures(let pictures):
      for position in 0..<pictures.count {
        guard let picture = try pictures.decode(position).picture else { continue }
        add(position, picture.rgb, width: picture.width)
      }
    }
    return numbers
  }

  private static func pictures<Pixel: BitwiseCopyable & Sendable>(
    _ stream: PictureStream<Pixel>
  ) throws -> [Int: Int] {
    var contents: [Int: Int] = [:]
    try stream.decode { record, outcome, pixels in
      guard outcome.hasPicture else { return }
      contents[stream.firstFrame + record] = pixels.withUnsafeBytes {
        var hasher = Hasher()
        hasher.combine(bytes: $0)
        return hasher.finalize()
      }
    }
    return contents
  }
}
