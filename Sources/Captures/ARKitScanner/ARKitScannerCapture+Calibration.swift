import Core

extension ARKitScannerCapture {
  /// The size of color pictures: that of the video, else that of the metadata.
  private func colorSize(
    _ inVideo: (CaptureVideo) -> ARKitScannerPictureSize
  ) -> ARKitScannerPictureSize? {
    if let video = contents.video.value { return inVideo(video) }
    guard case .valid(let size) = contents.metadata.value?.colorSize else { return nil }
    return size
  }

  /// How the app's intrinsics relate to the pictures of the video.
  var colorFit: ColorFit {
    guard case .valid(let size) = contents.metadata.value?.colorSize else {
      return ColorFit(stated: nil, contents.video.value?.track)
    }
    return ColorFit(stated: (size.width, size.height), contents.video.value?.track)
  }

  /// Rows hold the intrinsics of the stored picture and the size of the upright one.
  func intrinsics() -> StreamState<[IntrinsicsRow]> {
    let size = colorSize(\.uprightSize)
    let fit = colorFit
    switch sidecars.matrices {
    case .unreadable(let error): return .unreadable(error)
    case .absent(let why):
      warnings.add(.calibrationMissing, "color", "no intrinsics: \(why)")
      return .absent(why)
    case .present(let matrices):
      if let obstacle = fit.obstacle { return .absent(obstacle) }
      var nonFinite = 0
      let rows = matrices.enumerated().compactMap { frame, matrix -> IntrinsicsRow? in
        guard let matrix, matrix.count == 9 else { return nil }
        guard matrix.allSatisfy(\.isFinite) else {
          nonFinite += 1
          return nil
        }
        let camera = fit.camera(fx: matrix[0], fy: matrix[4], cx: matrix[6], cy: matrix[7])
        return IntrinsicsRow(
          frame: frame, width: size?.width, height: size?.height, fx: camera?.fx ?? matrix[0],
          fy: camera?.fy ?? matrix[4], cx: camera?.cx ?? matrix[6], cy: camera?.cy ?? matrix[7])
      }
      let file = sidecars.files[.intrinsics]?.first ?? "intrinsics"
      warnings.add(
        .nonFiniteValue, "intrinsics", count: nonFinite,
        "intrinsics with NaN or infinite numbers have no row")
      if rows.isEmpty {
        warnings.add(.calibrationMissing, "color", "\(file) holds no intrinsics")
      } else if !sidecars.cutParts.contains(.intrinsics) {
        warnings.add(
          .missingKey, file, count: frames.keyCount - rows.count - nonFinite,
          "frames without readable intrinsics have no row")
      }
      return .present(rows)
    }
  }

  /// Depth and color share one camera. The first frame's intrinsics are used for all frames: they
  /// change by less than a pixel, and between registered pictures only the sizes matter.
  func alignment(intrinsics: [IntrinsicsRow]?) -> DepthCalibration? {
    guard contents.depth.value != nil else { return nil }
    var color: PinholeCamera?
    if let row = intrinsics?.first, let size = colorSize(\.storedSize) {
      color = PinholeCamera(
        width: size.width, height: size.height, fx: row.fx, fy: row.fy, cx: row.cx, cy: row.cy)
    }
    return DepthCalibration(registered: true, colorFromDepth: .identity, colorIntrinsics: color)
  }
}
