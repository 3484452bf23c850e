import Geometry
import SystemPackage

/// Whether a calibration of the user's applies to a capture, and why not: the one place that decides, for
/// every stage, export and verb that takes one.
public struct CalibrationFit: Sendable {
  /// Of the capture; `nil`: it states none, and any calibration applies.
  private let arrangement: CameraArrangement?
  private let deviceID: String?

  public init(_ capture: Capture) {
    arrangement = capture.alignment?.arrangement
    deviceID = capture.device.id
  }

  public init(_ capture: CaptureSummary) {
    arrangement = capture.arrangement
    deviceID = capture.deviceID
  }

  /// What every refusal says, before the reason.
  public static let refusalWords = "does not apply to this capture"

  /// Why a file does not apply; `nil`: it does.
  ///
  /// Messages name nothing of the capture, so that captures with one cause are told together.
  public func refusal(of stated: StatedCalibration, in file: FilePath) -> CalibrationError? {
    if let deviceID {
      for (key, named) in Self.devices(stated, file) where !Self.isSame(named, deviceID) {
        return CalibrationError(
          file: file, key: key, value: named,
          problem:
            "\(Self.refusalWords): it is of another device; give that of the capture's own device, "
            + "or a folder of calibrations by device (calibrationFolder)")
      }
    }
    switch (arrangement, stated.calibration.arrangement) {
    case (.oneCamera, .twoCameras):
      return CalibrationError(
        file: file,
        problem:
          "\(Self.refusalWords): it is of two cameras, and depth and color of the capture are one "
          + #"camera; leave it out, or give one with "registered": true"#)
    case (.twoCameras, .oneCamera):
      return CalibrationError(
        file: file,
        problem:
          "\(Self.refusalWords): it is of one camera, and depth and color of the capture are two; "
          + "leave it out, or give one with depthIntrinsics and colorFromDepth")
    case (.oneCamera, .oneCamera), (.twoCameras, .twoCameras), (nil, _), (_, nil): return nil
    }
  }

  /// That a file names a device and nobody can tell whether it is the capture's; `nil`: that is known, or
  /// there is nothing to tell.
  public func doubt(of stated: StatedCalibration, in file: FilePath) -> CalibrationDoubt? {
    guard deviceID == nil, let (_, named) = Self.devices(stated, file).first else { return nil }
    return CalibrationDoubt(
      subject: "device",
      message:
        "the calibration is of device \(named), and the capture does not say which device it is of")
  }

  private static func devices(
    _ stated: StatedCalibration, _ file: FilePath
  ) -> [(key: String, id: String)] {
    let named = stated.deviceID.map { [("deviceId", $0)] } ?? []
    let inName = StatedCalibration.deviceID(inNameOf: file).map { [("file name", $0)] } ?? []
    return named + inName
  }

  private static func isSame(_ a: String, _ b: String) -> Bool { a.lowercased() == b.lowercased() }
}

/// Something about a calibration that is possible and yet hardly true. It is used all the same.
public struct CalibrationDoubt: Hashable, Sendable {
  /// `calibration`, `color`, `depth` or `device`.
  public var subject: String
  /// One sentence for a person.
  public var message: String

  public init(subject: String, message: String) {
    self.subject = subject
    self.message = message
  }
}

/// A calibration of the user's that applies to a capture.
public struct FittingCalibration: Sendable {
  public var calibration: DepthCalibration
  /// What is to be told with `calibration-suspect`.
  public var doubts: [CalibrationDoubt]

  /// With the doubts that a calibration raises by itself, also one of the capture's own.
  public init(_ calibration: DepthCalibration, doubts: [CalibrationDoubt] = []) {
    self.calibration = calibration
    self.doubts =
      doubts
      + (calibration.suspicion.map { [CalibrationDoubt(subject: "calibration", message: $0)] } ?? [])
  }
}

extension CalibrationFile {
  /// The calibration in a file, for a capture.
  ///
  /// Throws what `read` throws, and when the file does not apply to the capture (`CalibrationFit`). Sizes
  /// need not be those of the capture's pictures.
  ///
  /// - Parameter depthSize: of the depth pictures, if known apart from the capture.
  public static func read(
    _ path: FilePath, for capture: Capture, _ need: CalibrationNeed = .depthAndColor,
    depthSize: (width: Int, height: Int)? = nil
  ) throws(CalibrationError) -> FittingCalibration {
    let stated = try readStated(
      path, depthSize: depthSize ?? capture.depth.value.map { ($0.width, $0.height) },
      colorSize: capture.storedColorSize, for: need)
    let fit = CalibrationFit(capture)
    if let refusal = fit.refusal(of: stated, in: path) { throw refusal }
    var doubts = stated.calibration.focalDoubts(against: capture, need)
    if let doubt = fit.doubt(of: stated, in: path) { doubts.append(doubt) }
    return FittingCalibration(stated.calibration, doubts: doubts)
  }

  /// Why a file does not apply to a capture, as far as it can be told before anything of the capture is read;
  /// `nil` also for a file that cannot be read: whoever uses it says so.
  ///
  /// Cost: reading a small file.
  public static func refusal(
    of path: FilePath, for capture: CaptureSummary
  ) -> CalibrationError? {
    guard let text = try? text(of: path), let stated = try? parseStated(text) else { return nil }
    return CalibrationFit(capture).refusal(of: stated, in: path)
  }
}
