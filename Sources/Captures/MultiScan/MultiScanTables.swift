import Core
import FoundationEssentials
import Media
import SystemPackage

/// The content of all files of one capture, counted and parsed separately.
struct MultiScanTables {
  var files: MultiScanFiles
  var metadata: MultiScanMetadata?
  /// The file from which `metadata` was read.
  var metadataFile: String?
  /// Why existing metadata cannot be read; frames cannot be interpreted then.
  var metadataProblem: CaptureError?
  /// A file of 0 bytes in the place of the metadata.
  var emptyMetadata: String?
  var generation: MultiScanGeneration
  var cameraInfo: StreamState<MultiScanCameraInfo> = .absent("no camera info (.jsonl)")
  var motion: [MultiScanMotionKind: StreamState<MultiScanMotionFile>] = [:]
  var color: StreamState<CaptureVideo> = .absent("no video (.mp4)")
  var depth: StreamState<MultiScanSurveyedDepth> = .absent("no depth file (.depth.zlib)")
  var confidence: StreamState<MultiScanSurveyedDepth> = .absent(
    "no confidence file (.confidence.zlib)")
}

/// A depth or confidence file and its count.
struct MultiScanSurveyedDepth {
  var file: MappedFile
  var layout: MultiScanDepthLayout
  var survey: MultiScanStreamSurvey
}

extension MultiScanTables {
  /// Reads side files completely, indexes the video, and inflates depth and confidence once to
  /// count them, both at the same time. Throws when none of the files can be read.
  init(of files: MultiScanFiles) throws(CaptureError) {
    self.files = files
    for name in [files.json, files.text].compactMap(\.self) where metadata == nil {
      switch Self.map(files.path(of: name)) {
      case .absent: break
      case .present(let map) where map.count == 0:
        if metadataProblem == nil { emptyMetadata = emptyMetadata ?? name }
      case .present(let map):
        guard map.count <= InputLimits.bytesOfDescription.most else { continue }
        let converted = TextBytes.utf8(ifUTF16: map)
        metadata =
          converted.map { MultiScanMetadata($0.span.bytes) }
          ?? map.withBytes { MultiScanMetadata($0) }
        if metadata != nil {
          (metadataFile, metadataProblem, emptyMetadata) = (name, nil, nil)
        }
      case .unreadable(let error):
        if metadataProblem == nil {
          (metadataFile, metadataProblem, emptyMetadata) = (name, error, nil)
        }
      }
    }
    if let name = files.cameraInfo {
      cameraInfo = Self.readLines(files.path(of: name))
    }
    let maps = files.motion.mapValues { name in Self.map(files.path(of: name)) }
    generation = MultiScanGeneration(
      metadata: metadata, files: files,
      isAndroidInLines: cameraInfo.value?.lines.lazy.compactMap(\.self).first?.isAndroid ?? false,
      isAndroidInMotion: maps.values.contains { map in
        let header = map.value?.withBytes { MultiScanMotionFile.Header($0) }
        return header?.encoding == .bigEndian
      })
    let headless: MultiScanMotionFile.Encoding = generation.isAndroid ? .bigEndian : .littleEndian
    motion = maps.mapValues { map in
      map.then { map in
        let header = map.withBytes { MultiScanMotionFile.Header($0) }
        let problem =
          header?.obstacle
          ?? InputLimits.samplesOfIMU.problem(map.count / (header?.recordBytes ?? 32))
        return problem.map { .unreadable(CaptureError(file: map.path, problem: $0)) }
          ?? .present(map.withBytes { MultiScanMotionFile($0, headlessEncoding: headless) })
      }
    }
    if let name = files.colorVideo(in: generation) {
      let preferred = metadata?.color?.resolution ?? .absent
      color = StreamState(
        try CaptureVideo(multiScan: files.path(of: name), preferring: preferred))
    }
    (depth, confidence) = surveyed(
      MultiScanDepthLayout(generation: generation, metadata: metadata))
    if generation.isLidar, let found = depth.value,
      let layout = found.layout.replacingWrongClaim(
        found.survey,
        expected: linesInUse?.lines.count ?? metadata?.first(.depth)?.declaredFrames)
    {
      (depth, confidence) = surveyed(layout)
    }
    if let error = firstErrorIfNothingIsReadable { throw error }
  }

  private func surveyed(_ layout: MultiScanDepthLayout?) -> (
    depth: StreamState<MultiScanSurveyedDepth>, confidence: StreamState<MultiScanSurveyedDepth>
  ) {
    let states = try? concurrentMap(count: 2) { index in
      index == 0
        ? survey(files.depth, layout, bytesPerPixel: 2, depthOf: generation)
        : survey(files.confidence, layout, bytesPerPixel: 1, depthOf: nil)
    }
    guard let states, states.count == 2 else { return (depth, confidence) }
    return (states[0] ?? depth, states[1] ?? confidence)
  }

  /// `nil` without a file.
  private func survey(
    _ name: String?, _ layout: MultiScanDepthLayout?, bytesPerPixel: Int,
    depthOf mode: MultiScanGeneration?
  ) -> StreamState<MultiScanSurveyedDepth>? {
    guard let name else { return nil }
    let path = files.path(of: name)
    if let metadataProblem { return .unreadable(metadataProblem) }
    guard let layout else { return .unreadable(MultiScanDepthLayout.unknown(path)) }
    return Self.map(path).map { file in
      let survey = MultiScanStreamSurvey(
        file, frameBytes: layout.pixels * bytesPerPixel, depthOf: mode)
      return MultiScanSurveyedDepth(file: file, layout: layout, survey: survey)
    }
  }

  private var firstErrorIfNothingIsReadable: CaptureError? {
    guard metadata == nil, cameraInfo.value == nil, color.value == nil, depth.value == nil,
      confidence.value == nil, !motion.values.contains(where: { $0.value != nil })
    else { return nil }
    return depth.error ?? confidence.error ?? color.error ?? cameraInfo.error
      ?? motion.values.lazy.compactMap(\.error).first
      ?? CaptureError(
        file: files.folder, problem: "no file of the capture \(files.stem) can be read")
  }

  private static func readLines(_ path: FilePath) -> StreamState<MultiScanCameraInfo> {
    map(path).then { file in
      if file.count == 0 { return .absent("\(path.shownName) is empty") }
      do {
        return .present(try MultiScanCameraInfo(file))
      } catch {
        return .unreadable(CaptureError(file: path, problem: "\(error)"))
      }
    }
  }

  private static func map(_ path: FilePath) -> StreamState<MappedFile> {
    StreamState(try CaptureError.naming(path, try MappedFile(path)))
  }
}

/// The recording modes of the apps, by their names in `capture.json`.
enum MultiScanGeneration: String, CaseIterable {
  case iosLidar = "ios-lidar"
  /// Recordings of 2020, whose metadata lacks unit, confidence range and format names.
  case iosLidar2020 = "ios-lidar-2020"
  case iosSingle = "ios-single"
  case iosDual = "ios-dual"
  case iosStereo = "ios-stereo"
  case androidARCore = "android-arcore"
  case androidPlain = "android-plain"

  /// A phrase for people about how the mode is recognized: by the metadata, else by the files that
  /// exist.
  var mark: String {
    switch self {
    case .iosLidar: "a depth stream of type lidar_sensor; else depth without motion files"
    case .iosLidar2020: "the same of 2020: the metadata lacks unit, confidence range and formats"
    case .iosSingle: "motion streams and no second color camera; else motion files alone"
    case .iosDual: "two color streams; else motion files with a video"
    case .iosStereo: "a dual_camera_stereo_depth stream; else depth with motion files"
    case .androidARCore: "a depth stream of type ARCore; else camera info of Android"
    case .androidPlain: "metadata without a list of streams; else motion files of Android"
    }
  }

  var isAndroid: Bool { self == .androidARCore || self == .androidPlain }
  var isLidar: Bool { self == .iosLidar || self == .iosLidar2020 }
  /// Whether the mode writes one line of camera info per frame; all other modes write motion files.
  var writesCameraInfo: Bool { isLidar || self == .androidARCore }
  var writesMotion: Bool { !writesCameraInfo }
}

extension MultiScanGeneration {
  /// By the metadata if there is any (stream types first, then the depth unit), else by the files
  /// that exist and signs of the Android app in them.
  init(
    metadata: MultiScanMetadata?, files: MultiScanFiles, isAndroidInLines: Bool,
    isAndroidInMotion: Bool
  ) {
    if let metadata, let known = Self.from(metadata) {
      self = known
      return
    }
    let hasMotion = !files.motion.isEmpty
    if files.depth != nil, hasMotion {
      self = .iosStereo
    } else if files.depth != nil || files.confidence != nil
      || (files.cameraInfo != nil && !hasMotion)
    {
      self = isAndroidInLines ? .androidARCore : .iosLidar
    } else if isAndroidInMotion {
      self = .androidPlain
    } else {
      self = files.primaryVideo != nil || files.secondaryVideo != nil ? .iosDual : .iosSingle
    }
  }

  /// `nil` when the streams do not determine it.
  private static func from(_ metadata: MultiScanMetadata) -> Self? {
    if metadata.usesPlainKeys { return .androidPlain }
    let depthTypes = metadata.streams.filter { $0.role == .depth }.map { $0.type ?? "" }
    if depthTypes.contains("lidar_sensor") {
      return metadata.isOf2020 ? .iosLidar2020 : .iosLidar
    }
    if depthTypes.contains("ARCore") || metadata.depthUnit == .millimeters { return .androidARCore }
    if depthTypes.contains("dual_camera_stereo_depth") { return .iosStereo }
    if metadata.streams.count(where: { $0.role == .color }) > 1 { return .iosDual }
    let declaresMotion = metadata.streams.contains {
      if case .motion = $0.role { true } else { false }
    }
    return declaresMotion ? .iosSingle : nil
  }
}

/// The lines of the camera info file; line k describes frame k.
struct MultiScanCameraInfo {
  /// Lines in file order without blank ones; `nil` for a line that is not a JSON object, or has none of the keys.
  var lines: [Line?] = []

  /// The line of one frame. Values that are missing or of unexpected type are `nil`.
  struct Line {
    var timestamp: Timestamp?
    var intrinsics: Intrinsics?
    /// Sixteen numbers, column-major, camera to world, with the app's axes.
    var transform: [Double]?
    /// `nil` where the app wrote 0, which means unknown.
    var exposureSeconds: Double?
    /// Whether the line has a `transform` of any type.
    var hasTransform = false
    /// Whether the line has keys or texts that only the Android app writes.
    var isAndroid = false
  }

  /// Reads all lines, which end with `\n` or `\r\n`.
  ///
  /// Cost: one JSON document per line, about 30 µs, spread over the cores.
  init(_ file: MappedFile) throws {
    try InputLimits.bytesOfJSON.check(file.count, of: file.path)
    if let text = TextBytes.utf8(ifUTF16: file) {
      lines = try Self.lines(at: Self.lineRanges(text.span.bytes), of: file.path) {
        range, decoder in
        Self.line(text.span.bytes.extracting(range), decoder)
      }
    } else {
      lines = try Self.lines(at: file.withBytes { Self.lineRanges($0) }, of: file.path) {
        range, decoder in
        file.withBytes(in: range) { Self.line($0, decoder) }
      }
    }
  }

  private static func lines(
    at ranges: [Range<Int>], of file: FilePath,
    decode: @escaping @Sendable (Range<Int>, JSONDecoder) -> Line?
  ) throws -> [Line?] {
    try InputLimits.framesOfCapture.check(ranges.count, of: file)
    let blocks = (ranges.count + Self.blockLines - 1) / Self.blockLines
    return try concurrentMap(count: blocks) { block in
      let decoder = JSONDecoder()
      let last = min((block + 1) * Self.blockLines, ranges.count)
      return ranges[(block * Self.blockLines)..<last].map { decode($0, decoder) }
    }.flatMap(\.self)
  }

  /// Clears lines whose time is far from that of all others among the first `count`, which describe
  /// frames. Their positions remain.
  mutating func dropFarOffLines(ofFirst count: Int) {
    let described = lines.prefix(count)
    let bounds = TimeBounds(described.lazy.compactMap { $0?.timestamp })
    for (index, line) in described.enumerated() {
      if let time = line?.timestamp, !bounds.contains(time) { lines[index] = nil }
    }
  }

  /// The first line that is not blank, if it is one of camera info.
  static func firstLine(_ bytes: RawSpan) -> Line? {
    lineRanges(bytes).first.flatMap { line(bytes.extracting($0), JSONDecoder()) }
  }

  /// Lines that one worker decodes at a time: some milliseconds of work.
  private static let blockLines = 256

  private static func line(_ bytes: RawSpan, _ decoder: JSONDecoder) -> Line? {
    guard bytes.byteCount <= InputLimits.bytesOfLine.most else { return nil }
    return bytes.withUnsafeBytes { bytes in
      if let line = LooseJSON.value(Line.self, in: bytes, decoder) { return line }
      // A number that is not finite costs its own value, not the time of the frame.
      return LooseJSON.quoted(Data(bytes)).flatMap {
        LooseJSON.value(Line.self, in: $0, LooseJSON.pythonDecoder)
      }
    }
  }

  /// The ranges of the lines, without their ends; blank ones are left out, also of a byte order
  /// mark alone, and NUL bytes at the end of the file.
  private static func lineRanges(_ bytes: RawSpan) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    var isBlank = true
    var end = bytes.byteCount
    while end > 0, bytes.unsafeLoad(fromByteOffset: end - 1, as: UInt8.self) == 0 { end -= 1 }
    for offset in 0...end {
      let byte = offset < end ? bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : 10
      switch byte {
      case 10:
        if !isBlank { ranges.append(start..<offset) }
        start = offset + 1
        isBlank = true
      case 9, 13, 32, 0xEF, 0xBB, 0xBF: continue
      default: isBlank = false
      }
    }
    return ranges
  }
}

extension MultiScanCameraInfo.Line: Decodable {

  init(from decoder: any Decoder) throws {
    let keys = try decoder.members
    guard Self.keys.contains(where: { keys.contains($0) }) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "None of the keys of a line."))
    }
    timestamp = Self.timestamp(keys)
    intrinsics = keys.value("intrinsics").flatMap(Intrinsics.init(ofMatrix:))
    hasTransform = keys.contains("transform")
    transform = (keys.value("transform") as [Double]?).flatMap { $0.count == 16 ? $0 : nil }
    if let nanoseconds: Int64 = keys.value("exposure_duration"), nanoseconds > 0 {
      exposureSeconds = Double(nanoseconds) / 1e9
    }
    isAndroid =
      keys.contains("rotationQuaternion") || keys.value("euler_angles") == "null"
  }

  private static let keys: [TextKey] = [
    "timestamp", "intrinsics", "transform", "exposure_duration",
  ]

  /// An integer of nanoseconds; of other writers, the one nearest to a number or to a text that is one.
  private static func timestamp(_ keys: KeyedDecodingContainer<TextKey>) -> Timestamp? {
    if let nanoseconds: Int64 = keys.value("timestamp") {
      return Timestamp(nanoseconds: nanoseconds)
    }
    if let text: String = keys.value("timestamp") { return Timestamp(decimalNanoseconds: text) }
    let number: Double? = keys.value("timestamp")
    return number.flatMap { Int64(exactly: $0.rounded()) }.map(Timestamp.init(nanoseconds:))
  }
}
