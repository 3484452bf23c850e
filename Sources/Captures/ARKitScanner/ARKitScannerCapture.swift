import Media
import Core
import SystemPackage

/// Builds the capture from its tables: frames, streams and warnings.
struct ARKitScannerCapture {
  let contents: ARKitScannerTables
  let frames: ARKitScannerFrames
  let warnings = WarningCollector()

  init(_ contents: ARKitScannerTables) {
    self.contents = contents
    frames = ARKitScannerFrames(contents)
  }

  var sidecars: ARKitScannerSidecars { contents.sidecars }

  func capture(id: String) -> Capture {
    var capture = Capture(
      id: id, family: .arkitScanner, generation: contents.generation.rawValue,
      folder: contents.folder.path,
      clock: CaptureClock(sidecars.isNominal ? .nominal : .uptime, unit: "s"))
    capture.scene.label = contents.metadata.value?.sceneName
    capture.scene.type = contents.metadata.value?.sceneType
    capture.frames = frames.frames
    capture.color = color()
    capture.depth = depth()
    capture.confidence = .absent("the app records no confidence")
    capture.imu = imu()
    capture.poses = poses()
    capture.intrinsics = intrinsics()
    capture.cameraSettings = cameraSettings()
    capture.geo = .absent("the app records no positions")
    capture.alignment = alignment(intrinsics: capture.intrinsics.value)
    capture.files = files()
    capture.completeness = completeness()
    reportFiles()
    reportLengths()
    reportTimes()
    reportSizes()
    capture.warnings = warnings.warnings
    claim(&capture)
    return capture
  }

  /// The files from which each part was read.
  private func files() -> [CapturePart: [FilePath]] {
    let folder = contents.folder
    let video = [folder.videoFile].compactMap(\.self)
    let depth = [folder.depthFile].compactMap(\.self)
    let metadata = folder.has("metadata.json") ? ["metadata.json"] : []
    let tables = [CapturePart.poses, .intrinsics, .cameraSettings].compactMap { sidecars.files[$0] }
    let keys = sidecars.takesKeysOfAllTables ? tables.flatMap(\.self) : tables.first ?? []
    let matrices = sidecars.files[.intrinsics].map { $0 + video + metadata } ?? []
    // Rows belong to keys, so every table also depends on the file with the keys.
    let named: [CapturePart: [String]] = [
      .color: video,
      .depth: depth + metadata,
      .imu: sidecars.files[.imu] ?? [],
      .poses: sidecars.files[.poses].map { $0 + keys } ?? [],
      .intrinsics: matrices + keys,
      .calibration: matrices + keys,
      .cameraSettings: sidecars.files[.cameraSettings].map { $0 + keys } ?? [],
      .frames: keys + (sidecars.files[.frames] ?? []) + depth + video,
    ]
    return named.filter { !$0.value.isEmpty }
      .mapValues { Set($0).sorted().map(folder.path(of:)) }
  }
}
