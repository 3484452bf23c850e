import Core

/// The two cameras in the metadata: as the app writes them nominal and without lens distortion, after a
/// laboratory has calibrated the device with the coefficients of their lenses.
enum ScanNetCalibration {
  /// A rigid transform from sixteen row-major numbers; `nil` when they are not one. The app prints
  /// six decimals, so that columns are orthonormal only to about 1e-6.
  static func transform(_ key: String, in metadata: ScanNetMetadata) -> RigidTransform? {
    guard let transform = statedTransform(key, in: metadata), transform.isRigid() else {
      return nil
    }
    return transform
  }

  /// The transform in the metadata, even if it is not a rotation: stages that use it report that.
  private static func statedTransform(
    _ key: String, in metadata: ScanNetMetadata
  ) -> RigidTransform? {
    guard let matrix = metadata.matrix(key), RigidTransform.hasUsualLastRow(matrix) else {
      return nil
    }
    return RigidTransform(rowMajor: matrix)
  }

  /// What is known about the two cameras.
  static func calibration(
    from metadata: ScanNetMetadata, depthSize: (width: Int, height: Int), color: PinholeCamera?
  ) -> DepthCalibration {
    var calibration = DepthCalibration(registered: false)
    if let depthFromColor = transform(ScanNetKeys.extrinsics, in: metadata) {
      calibration.registered = depthFromColor.isIdentity
      calibration.colorFromDepth =
        depthFromColor.isIdentity ? .identity : depthFromColor.inverse
    } else if let colorFromDepth = transform(ScanNetKeys.inverseExtrinsics, in: metadata) {
      calibration.registered = colorFromDepth.isIdentity
      calibration.colorFromDepth = colorFromDepth
    } else {
      calibration.colorFromDepth =
        statedTransform(ScanNetKeys.extrinsics, in: metadata)
        ?? statedTransform(ScanNetKeys.inverseExtrinsics, in: metadata)
    }
    calibration.depthIntrinsics = camera("depth", in: metadata, size: depthSize)
    // Without a size there is no camera for alignment.
    calibration.colorIntrinsics = color.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
    calibration.depthDistortion = lens("depth", in: metadata)
    calibration.colorDistortion = lens("color", in: metadata)
    return calibration
  }

  /// k1 … k5 of a camera, which are k1, k2, p1, p2, k3; absent ones are 0. None if one cannot be used: the
  /// others alone are another lens.
  private static func lens(_ camera: String, in metadata: ScanNetMetadata) -> LensDistortion {
    let keys = ScanNetKeys.lenses.filter { $0.hasSuffix(camera) }
    let coefficients = keys.map { metadata.text($0) == nil ? 0 : metadata.number($0) }
    return coefficients.contains(nil)
      ? .none : LensDistortion(openCVOrder: coefficients.compactMap(\.self))
  }

  /// The color camera for the existing pictures, else as stated; of size 0 if none is known; `nil`
  /// when the metadata lack a parameter or fit no picture.
  static func color(from metadata: ScanNetMetadata, _ fit: ColorFit) -> PinholeCamera? {
    guard fit.obstacle == nil, let stated = camera("color", in: metadata, size: (0, 0)) else {
      return nil
    }
    return fit.camera(fx: stated.fx, fy: stated.fy, cx: stated.cx, cy: stated.cy) ?? stated
  }

  /// One identical row per canonical frame.
  static func intrinsicsRows(_ camera: PinholeCamera, frames: Int) -> [IntrinsicsRow] {
    let isSizeKnown = camera.width > 0 && camera.height > 0
    return (0..<frames).map { frame in
      IntrinsicsRow(
        frame: frame, width: isSizeKnown ? camera.width : nil,
        height: isSizeKnown ? camera.height : nil, fx: camera.fx, fy: camera.fy, cx: camera.cx,
        cy: camera.cy)
    }
  }

  private static func camera(
    _ name: String, in metadata: ScanNetMetadata, size: (width: Int, height: Int)
  ) -> PinholeCamera? {
    guard let fx = metadata.focalLength("fx_\(name)"), let fy = metadata.focalLength("fy_\(name)"),
      let cx = metadata.number("mx_\(name)"), let cy = metadata.number("my_\(name)")
    else { return nil }
    return PinholeCamera(width: size.width, height: size.height, fx: fx, fy: fy, cx: cx, cy: cy)
  }
}
