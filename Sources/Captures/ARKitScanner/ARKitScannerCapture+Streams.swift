import Media
import Core

extension ARKitScannerCapture {
  func color() -> StreamState<ColorStream> {
    contents.video.map { video in
      VideoOddities(video.track).report(to: warnings, beside: colorFit)
      warnings.add(
        .multipleStreams, "color", count: video.otherTracks,
        "further video tracks in \(video.name); not used")
      if video.endsEarly {
        warnings.add(
          .truncatedStream, "color",
          "\(video.name) ends before its own index says; what is there is used")
      }
      var description = video.description()
      describe(
        times: frames.framesOfPictures.compactMap { frames.time(ofFrame: $0) }, in: &description)
      warnings.add(
        .pairingApproximate, "color", count: frames.doubt == nil ? 0 : video.pictureCount,
        frames.doubt ?? "")
      description.pairing = frames.pairing
      return video.stream(description, framesOfPictures: frames.framesOfPictures)
    }
  }

  func depth() -> StreamState<DepthStream> {
    contents.depth.map { depth in
      depth.report(to: warnings)
      let size = depth.layout.size
      var description = StreamDescription(
        file: depth.name, encoding: depth.layout.encoding, width: size.width,
        height: size.height, frames: depth.recordCount)
      describe(times: times(ofFirst: depth.recordCount), in: &description)
      description.pairing = frames.recordPairing
      return DepthStream(
        description: description, width: size.width, height: size.height, access: depth.access)
    }
  }

  func poses() -> StreamState<PoseStream> {
    if let why = mirrorObstacle(contents.video.value?.track) { return .absent(why) }
    return sidecars.poses.map { readings in
      let rows = PoseStream.Row.rows(zip(0..., readings))
      let nonFinite = readings.count { $0 == .nonFinite }
      let malformed = readings.count { $0 == .malformed }
      let empty = readings.count { $0 == .empty }
      warnings.add(
        .nonFiniteValue, "poses", count: nonFinite,
        "poses with NaN or infinite numbers have no row; their frames are kept")
      warnings.add(
        .corruptRecord, "poses", count: malformed,
        "poses that are not 4x4 matrices have no row; their frames are kept")
      warnings.add(
        .emptyRecord, "poses", count: empty, "files of 0 bytes have no row; their frames are kept")
      // A published ScanNet++ folder has poses for the frames that could be registered, by design.
      if !sidecars.cutParts.contains(.poses), !contents.folder.isRelease {
        warnings.add(
          .missingKey, "poses",
          count: frames.keyCount - rows.count - nonFinite - malformed - empty
            - sidecars.farOff[.poses, default: 0],
          "frames without a pose have no row")
      }
      warnings.addPoseJumps(
        PoseJumps.count(rows: rows, times: rows.map { frames.time(ofFrame: $0.frame) }))
      var description = StreamDescription(
        file: sidecars.files[.poses]?.first ?? "", encoding: sidecars.encoding, frames: rows.count)
      describe(times: rows.compactMap { frames.time(ofFrame: $0.frame) }, in: &description)
      description.pairing = frames.keyPairing
      return PoseStream(description: description, rows: rows, world: sidecars.world)
    }
  }

  func cameraSettings() -> StreamState<CameraSettingsStream> {
    if let error = sidecars.offsets.error ?? sidecars.exposures.error { return .unreadable(error) }
    let (offsets, exposures) = (sidecars.offsets.value, sidecars.exposures.value)
    guard frames.keyCount > 0, offsets != nil || exposures != nil else {
      return .absent("neither exposure offsets nor exposures are recorded")
    }
    var nonFinite = 0
    let rows = (sidecars.framesWithKey ?? Array(0..<frames.keyCount)).map { frame in
      let offset = offsets?[frame]
      let exposure = exposures?[frame]
      if let offset, !offset.isFinite { nonFinite += 1 }
      return CameraSettingsRow(
        frame: frame, exposureSeconds: finite(exposure?.exposureSeconds),
        iso: finite(exposure?.iso), exposureOffsetEV: finite(offset))
    }
    warnings.add(
      .nonFiniteValue, "cameraSettings", count: nonFinite,
      "exposure offsets that are NaN or infinite are left empty")
    let file = sidecars.files[.cameraSettings]?.first ?? ""
    if offsets != nil, !sidecars.cutParts.contains(.cameraSettings) {
      warnings.add(
        .missingKey, "cameraSettings",
        count: rows.count - (offsets ?? []).count { $0 != nil }
          - sidecars.farOff[.cameraSettings, default: 0],
        "frames without an exposure offset have an empty cell")
    }
    return .present(
      CameraSettingsStream(
        description: StreamDescription(file: file, encoding: sidecars.encoding, frames: rows.count),
        rows: rows))
  }

  private func finite(_ value: Double?) -> Double? {
    value.flatMap { $0.isFinite ? $0 : nil }
  }

  /// The known times of the first `count` frames.
  private func times(ofFirst count: Int) -> [Timestamp] {
    sidecars.times.prefix(count).compactMap(\.self)
  }

  private func describe(times: [Timestamp], in description: inout StreamDescription) {
    guard !times.isEmpty else { return }
    description.state(
      times: times, gapFactor: ARKitScannerReader.description.frameGapFactor)
  }
}
