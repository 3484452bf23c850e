import Core

extension DepthCalibration {
  /// Relative deviation below which focal lengths of one device model lie.
  static let largestFocalDeviation = 0.05

  /// Doubts about focal lengths that differ from the recorded ones by more than 5 %, one per
  /// camera: the lens of another device, or another crop of the picture.
  ///
  /// Compared at the size of the recorded camera. Cameras of another aspect are not compared.
  func focalDoubts(against capture: Capture, _ need: CalibrationNeed) -> [CalibrationDoubt] {
    var doubts: [CalibrationDoubt] = []
    if let stated = colorIntrinsics, let recorded = capture.recordedColorCamera {
      doubts += Self.doubt("color", stated, recorded)
    }
    if need == .depthAndColor, let stated = depthIntrinsics,
      let recorded = capture.alignment?.depthIntrinsics
    {
      doubts += Self.doubt("depth", stated, recorded)
    }
    return doubts
  }

  private static func doubt(
    _ subject: String, _ stated: PinholeCamera, _ recorded: PinholeCamera
  ) -> [CalibrationDoubt] {
    guard let stated = stated.fitted(toWidth: recorded.width, height: recorded.height) else {
      return []
    }
    let pairs = [("fx", stated.fx, recorded.fx), ("fy", stated.fy, recorded.fy)]
    let odd = pairs.filter { _, stated, recorded in
      recorded > 0 && recorded.isFinite
        && abs(stated - recorded) > largestFocalDeviation * recorded
    }
    guard let (name, value, was) = odd.max(by: { abs($0.1 / $0.2 - 1) < abs($1.1 / $1.2 - 1) })
    else { return [] }
    let percent = ((value / was - 1) * 1000).rounded() / 10
    return [
      CalibrationDoubt(
        subject: subject,
        message:
          "\(name) of the calibration's \(subject) camera is \(short(value)) pixels, that of the "
          + "capture \(short(was)) (\(percent > 0 ? "+" : "")\(percent) %): is it of this device and size?"
      )
    ]
  }

  private static func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension Capture {
  /// The size of the color pictures before the turn to upright.
  public var storedColorSize: (width: Int, height: Int)? {
    guard let color = color.value, let width = color.description.width,
      let height = color.description.height
    else { return nil }
    return color.clockwiseQuarterTurns % 2 == 0 ? (width, height) : (height, width)
  }

  /// The color camera that the capture states, for stored pictures: that of the alignment, else
  /// that of the first row of intrinsics.
  fileprivate var recordedColorCamera: PinholeCamera? {
    if let camera = alignment?.colorIntrinsics { return camera }
    guard let row = intrinsics.value?.first else { return nil }
    guard let size = storedColorSize ?? row.width.flatMap({ w in row.height.map { (w, $0) } })
    else { return nil }
    return PinholeCamera(
      width: size.width, height: size.height, fx: row.fx, fy: row.fy, cx: row.cx, cy: row.cy)
  }
}
