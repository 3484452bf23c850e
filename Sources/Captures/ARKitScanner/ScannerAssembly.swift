import Codecs
import Geometry
import SystemPackage

extension ARKitScanner {
  /// Puts what was read together: frames, streams, and what is wrong with them.
  struct Assembly {
    let contents: Contents
    let warnings = WarningCollector()
    /// Where the pictures begin among the frames.
    let start: HiddenStart

    init(_ contents: Contents) {
      self.contents = contents
      let times = contents.sides.times
      let depth = contents.depth.value?.recordCount ?? 0
      start = HiddenStart(
        contents.video.value?.track.hidden ?? HiddenPictures(),
        pictures: contents.video.value?.pictureCount ?? 0,
        times: times.isEmpty ? [Timestamp?](repeating: nil, count: depth) : times)
    }

    var sides: Sidecars { contents.sides }
    /// Entries of the pose file; 0 when the app was killed before it wrote one.
    var keyCount: Int { sides.isKilled ? 0 : sides.times.count }
    var depthCount: Int? { contents.depth.value?.recordCount }
    var pictureCount: Int? { contents.video.value?.pictureCount }
    var frameCount: Int { max(keyCount, depthCount ?? 0, framesOfPictures.upperBound) }
    /// The frames that have a picture.
    var framesOfPictures: Range<Int> {
      pictureCount.map { start.firstRow..<start.firstRow + $0 } ?? 0..<0
    }

    func time(ofFrame frame: Int) -> Timestamp? {
      frame < sides.times.count ? sides.times[frame] : nil
    }

    func capture(id: String) -> Capture {
      var capture = Capture(
        id: id, family: .arkitScanner, generation: contents.generation.rawValue,
        folder: contents.folder.path,
        clock: CaptureClock(sides.isNominal ? .nominal : .uptime, unit: "s"))
      capture.scene.label = contents.metadata.value?.sceneName
      capture.scene.type = contents.metadata.value?.sceneType
      capture.frames = frames()
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

    private func frames() -> [CaptureFrame] {
      (0..<frameCount).map { frame in
        let time = time(ofFrame: frame)
        let hasDepth =
          frame < depthCount ?? 0 && !(contents.depth.value?.isEmpty(record: frame) ?? true)
        return CaptureFrame(
          timestamp: time, colorTimestamp: framesOfPictures.contains(frame) ? time : nil,
          depthTimestamp: hasDepth ? time : nil)
      }
    }

    /// The files that each part was read from.
    private func files() -> [CapturePart: [FilePath]] {
      let folder = contents.folder
      let video = [folder.videoFile].compactMap(\.self)
      let depth = [folder.depthFile].compactMap(\.self)
      let metadata = folder.has("metadata.json") ? ["metadata.json"] : []
      let tables = [CapturePart.poses, .intrinsics, .cameraSettings].compactMap { sides.files[$0] }
      let keys = sides.takesKeysOfAllTables ? tables.flatMap(\.self) : tables.first ?? []
      let matrices = sides.files[.intrinsics].map { $0 + video + metadata } ?? []
      // Rows belong to keys, so every table depends on the file that has them.
      let named: [CapturePart: [String]] = [
        .color: video,
        .depth: depth + metadata,
        .imu: sides.files[.imu] ?? [],
        .poses: sides.files[.poses].map { $0 + keys } ?? [],
        .intrinsics: matrices + keys,
        .calibration: matrices + keys,
        .cameraSettings: sides.files[.cameraSettings].map { $0 + keys } ?? [],
        .frames: keys + (sides.files[.frames] ?? []) + depth + video,
      ]
      return named.filter { !$0.value.isEmpty }
        .mapValues { Set($0).sorted().map(folder.path(of:)) }
    }
  }
}
