import Core
import Media
import SystemPackage

/// The content of all files of one capture, counted and parsed separately.
struct MultiScanTables: Sendable {
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
struct MultiScanSurveyedDepth: Sendable {
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
        InputLimits.samplesOfIMU.problem(map.count / 32).map {
          .unreadable(CaptureError(file: map.path, problem: $0))
        } ?? .present(map.withBytes { MultiScanMotionFile($0, headlessEncoding: headless) })
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
    let search: MultiScanStreamSurvey.Search =
      switch generation {
      case .androidARCore: .trailingRepeats
      case .iosStereo: .stereoDefect
      default: .nothing
      }
    let plan = [
      (file: files.depth, bytesPerPixel: 2, search: search),
      (file: files.confidence, bytesPerPixel: 1, search: .nothing),
    ]
    let states = try? concurrentMap(count: plan.count) { index in
      survey(
        plan[index].file, layout: layout, bytesPerPixel: plan[index].bytesPerPixel,
        search: plan[index].search)
    }
    guard let states, states.count == 2 else { return (depth, confidence) }
    return (states[0] ?? depth, states[1] ?? confidence)
  }

  /// `nil` without a file.
  private func survey(
    _ name: String?, layout: MultiScanDepthLayout?, bytesPerPixel: Int,
    search: MultiScanStreamSurvey.Search
  ) -> StreamState<MultiScanSurveyedDepth>? {
    guard let name else { return nil }
    let path = files.path(of: name)
    if let metadataProblem { return .unreadable(metadataProblem) }
    guard let layout else { return .unreadable(MultiScanDepthLayout.unknown(path)) }
    return Self.map(path).map { file in
      let survey = MultiScanStreamSurvey(
        file, frameBytes: layout.pixels * bytesPerPixel, lookingFor: search)
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
enum MultiScanGeneration: String, CaseIterable, Sendable {
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
