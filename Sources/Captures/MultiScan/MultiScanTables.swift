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

/// Signs of the Android app in files without metadata.
struct MultiScanAndroidEvidence: Sendable {
  var inCameraInfo = false
  var inMotionFiles = false
}

extension MultiScanTables {
  /// Reads side files completely, indexes the video, and inflates depth and confidence once to
  /// count them, both at the same time. Throws when none of the files can be read.
  init(of files: MultiScanFiles) throws(CaptureError) {
    self.files = files
    let found = Self.metadata(of: files)
    switch found {
    case .found(let read, let file): (metadata, metadataFile) = (read, file)
    case .unreadable(let error, let file): (metadataProblem, metadataFile) = (error, file)
    case .empty(let file): emptyMetadata = file
    case .none: break
    }
    if let name = files.cameraInfo {
      cameraInfo = Self.readLines(files.path(of: name))
    }
    let maps = files.motion.mapValues { name in Self.map(files.path(of: name)) }
    let evidence = MultiScanAndroidEvidence(cameraInfo: cameraInfo.value, motion: maps)
    generation = MultiScanGeneration(metadata: metadata, files: files, evidence: evidence)
    let headless: MultiScanMotionFile.Encoding = generation.isAndroid ? .bigEndian : .littleEndian
    motion = maps.mapValues { map in
      switch map {
      case .success(let map) where InputLimits.samplesOfIMU.problem(map.count / 32) != nil:
        .unreadable(
          CaptureError(
            file: map.path,
            problem: InputLimits.samplesOfIMU.problem(map.count / 32) ?? "too many records"))
      case .success(let map):
        .present(map.withBytes { MultiScanMotionFile($0, headlessEncoding: headless) })
      case .failure(let error): .unreadable(error)
      }
    }
    if let name = files.colorVideo(in: generation) {
      do throws(CaptureError) {
        let preferred = metadata?.color?.resolution ?? .absent
        color = .present(
          try CaptureVideo(
            multiScan: files.path(of: name), preferring: preferred))
      } catch {
        color = .unreadable(error)
      }
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

  private enum FoundMetadata {
    case found(MultiScanMetadata, String)
    case unreadable(CaptureError, String)
    case empty(String)
    case none
  }

  private static func metadata(of files: MultiScanFiles) -> FoundMetadata {
    var problem: FoundMetadata?
    for name in [files.json, files.text].compactMap(\.self) {
      switch map(files.path(of: name)) {
      case .success(let map) where map.count == 0: problem = problem ?? .empty(name)
      case .success(let map):
        guard map.count <= InputLimits.bytesOfDescription.most else { continue }
        let converted = TextBytes.utf8(ifUTF16: map)
        let metadata =
          converted.map { MultiScanMetadata($0.span.bytes) }
          ?? map.withBytes { MultiScanMetadata($0) }
        if let metadata { return .found(metadata, name) }
      case .failure(let error):
        if case .unreadable? = problem { continue }
        problem = .unreadable(error, name)
      }
    }
    return problem ?? .none
  }

  private func surveyed(_ layout: MultiScanDepthLayout?) -> (
    depth: StreamState<MultiScanSurveyedDepth>, confidence: StreamState<MultiScanSurveyedDepth>
  ) {
    let search: MultiScanStreamSurvey.Search =
      switch generation {
      case .androidARCore: .trailingRepeats
      case .iosStereo: .stereoDefect
      default: []
      }
    let plan = [
      (file: files.depth, bytesPerPixel: 2, search: search),
      (file: files.confidence, bytesPerPixel: 1, search: []),
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
    switch Self.map(path) {
    case .success(let file):
      let survey = MultiScanStreamSurvey(
        file, frameBytes: layout.pixels * bytesPerPixel, lookingFor: search)
      return .present(MultiScanSurveyedDepth(file: file, layout: layout, survey: survey))
    case .failure(let error): return .unreadable(error)
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
    switch map(path) {
    case .success(let file) where file.count == 0:
      return .absent("\(path.shownName) is empty")
    case .success(let file):
      do {
        return .present(try MultiScanCameraInfo(file))
      } catch {
        return .unreadable(CaptureError(file: path, problem: "\(error)"))
      }
    case .failure(let error): return .unreadable(error)
    }
  }

  private static func map(_ path: FilePath) -> Result<MappedFile, CaptureError> {
    do throws(FileError) {
      return .success(try MappedFile(path))
    } catch {
      return .failure(
        CaptureError(error, of: path))
    }
  }
}

extension MultiScanAndroidEvidence {
  fileprivate init(
    cameraInfo: MultiScanCameraInfo?,
    motion: [MultiScanMotionKind: Result<MappedFile, CaptureError>]
  ) {
    inCameraInfo = cameraInfo?.lines.lazy.compactMap(\.self).first?.isAndroid ?? false
    inMotionFiles = motion.values.contains { map in
      guard case .success(let map) = map else { return false }
      return map.withBytes { MultiScanMotionFile.Header($0) }?.encoding == .bigEndian
    }
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
  init(metadata: MultiScanMetadata?, files: MultiScanFiles, evidence: MultiScanAndroidEvidence) {
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
      self = evidence.inCameraInfo ? .androidARCore : .iosLidar
    } else if evidence.inMotionFiles {
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
