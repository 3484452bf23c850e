import Codecs
import Geometry
import SystemPackage

extension MultiScan {
  /// Puts the contents of one capture together: pairs frames, gives them times, builds the streams.
  /// Each aspect is an extension of its own; what a `make…` function finds wrong goes to `warnings`, so
  /// each is called once.
  struct Assembly {
    let contents: Contents
    let warnings: WarningCollector
    let pairing: FramePairing
    let frames: [CaptureFrame]
    /// Where the pictures begin among the frames.
    let start: HiddenStart

    init(_ contents: Contents, warnings: WarningCollector) {
      var contents = contents
      self.warnings = warnings
      let depth = contents.depth.value?.survey
      let confidence = contents.confidence.value?.survey
      let lines = contents.linesInUse
      pairing =
        contents.generation == .androidARCore
        ? FramePairing(arCore: lines, depth: depth, confidence: confidence)
        : FramePairing(
          lines: lines?.lines.count ?? 0, depthFrames: depth?.frames ?? 0,
          confidenceFrames: confidence?.frames ?? 0)
      contents.dropFarOffLines(ofFirst: pairing.lines)
      self.contents = contents
      start = Self.start(contents, pairing: pairing)
      frames = Self.frames(contents, pairing: pairing, firstPicture: start.firstRow)
    }

    func capture() -> Capture {
      let files = contents.files
      var capture = Capture(
        id: files.stem, family: .multiscan, generation: contents.generation.rawValue,
        folder: files.folder, clock: clock)
      capture.device.id = contents.metadata?.deviceID
      capture.device.name = contents.metadata?.deviceName
      capture.device.model = contents.metadata?.deviceType
      capture.scene.type = contents.metadata?.sceneType
      capture.scene.description = contents.metadata?.sceneDescription
      capture.user = contents.metadata?.userName
      capture.recordedAt = MultiScan.recordedAt(stem: files.stem)
      capture.frames = frames
      capture.color = makeColor()
      capture.depth = makeDepth()
      capture.confidence = makeConfidence()
      capture.imu = makeIMU()
      capture.poses = makePoses()
      capture.intrinsics = intrinsics
      capture.cameraSettings = cameraSettings
      capture.geo = geo
      capture.alignment = alignment
      capture.files = filesOfParts
      capture.completeness = completeness
      warnOfMissingFiles()
      warnOfLengths()
      warnOfTimes()
      capture.warnings = warnings.warnings
      claim(&capture)
      return capture
    }

    /// Uptime wherever the app wrote a time, else the video's own.
    private var clock: CaptureClock {
      contents.linesInUse == nil && contents.earliestMotion == nil
        ? CaptureClock(.video, unit: "ns") : CaptureClock(.uptime, unit: "ns")
    }

    /// A description with the facts that every frame stream has.
    func description(
      _ file: String, encoding: String, width: Int?, height: Int?, frames: Int, declared: Int?,
      times: [Timestamp?]
    ) -> StreamDescription {
      var description = StreamDescription(
        file: file, encoding: encoding, width: width, height: height, frames: frames,
        declaredFrames: declared)
      let steps = MultiScan.stepsBetweenNeighbors(times)
      description.firstTimestamp = times.lazy.compactMap(\.self).first
      description.lastTimestamp = times.reversed().lazy.compactMap(\.self).first
      description.rateHz = steps.rateHz
      description.gaps = steps.gaps(
        above: MultiScanReader.description.frameGapFactor)
      return description
    }
  }
}

extension MultiScan.Contents {
  fileprivate mutating func dropFarOffLines(ofFirst count: Int) {
    guard case .present(var info) = cameraInfo else { return }
    info.dropFarOffLines(ofFirst: count)
    cameraInfo = .present(info)
  }

  /// The camera info where the mode has one that can be read.
  var linesInUse: MultiScan.CameraInfo? {
    generation.writesCameraInfo ? cameraInfo.value : nil
  }
}

extension MultiScan {
  /// Steps between frames that are next to each other and both have a time: a frame without time is no
  /// evidence of a gap.
  static func stepsBetweenNeighbors(_ times: [Timestamp?]) -> TimeSteps {
    TimeSteps(ofNeighbors: times)
  }
}
