import Captures
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Corrects the distances of a structured-light sensor by the table of its laboratory, before all filters.
enum CorrectedDepth {
  private static let undistortion = Parameter(
    "undistortion", .file,
    "A table (.lut) with which a laboratory corrects the distances of a structured-light sensor.")
  static let parameters = ParameterDescription.list(
    undistortion,
    CalibrationChoice.calibrationFolder.saying(
      "A folder with devices.csv, or with files named after devices: DEVICE-ID.lut corrects distances."
    ))

  /// The key of the table among a stage's external files.
  static let externalFile = "undistortion"

  /// The table for a capture; `nil` if it has none.
  static func file(_ parameters: ParameterValues, _ capture: CaptureSummary) -> FilePath? {
    if let path = parameters[undistortion] {
      EnclosedPaths.leaveOpen(path)
      return path
    }
    guard let folder = parameters[CalibrationChoice.calibrationFolder],
      let deviceID = capture.deviceID
    else { return nil }
    EnclosedPaths.leaveOpen(folder)
    return CalibrationFolder.table(for: deviceID, in: folder, of: family(capture))
  }

  private static func family(_ capture: CaptureSummary) -> FamilyDescription {
    CaptureRegistry.builtIn.description(of: capture.family)
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    file(parameters, capture).map { [externalFile: $0] } ?? [:]
  }

  /// Checks that the table is one, before anything runs.
  static func fileProblems(
    _ paths: [StageProblem], _ parameters: ParameterValues
  ) -> [StageProblem] {
    guard paths.isEmpty else { return paths }
    do throws(CalibrationError) {
      if let path = parameters[undistortion] { _ = try DepthTableFile.read(path) }
    } catch {
      return [StageProblem(parameter: undistortion.name, "\(error)")]
    }
    return CalibrationChoice.folderProblems(parameters)
  }

  /// A table is refused for depth that no structured-light sensor measured.
  static func checked(
    _ found: Applicability, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    guard case .applies = found, let file = file(parameters, capture),
      !family(capture).hasStructuredLight
    else { return found }
    let remedy =
      parameters[undistortion] == nil
      ? "take it out of the folder, or leave the name of the device in devices.csv empty"
      : "leave out depth.\(undistortion.name) for captures of this family"
    return .unreadable(
      "\(file.string): \(CalibrationFit.refusalPhrase): its depth is not that of a structured-light sensor; \(remedy)"
    )
  }

  /// The corrected stream; `depth` itself without a table.
  static func applying(
    to depth: DepthStream, _ context: StageContext, _ lost: LostPixels
  ) throws -> DepthStream {
    guard let path = context.externalFiles[externalFile] else { return depth }
    let table = try DepthTableFile.read(path)
    guard table.fits(width: depth.width, height: depth.height) else {
      throw CalibrationError(
        file: path,
        problem:
          "\(CalibrationFit.refusalPhrase): it has \(table.columns) × \(table.rows) cells, more than depth "
          + "of \(depth.width)×\(depth.height) has pixels")
    }
    var corrected = depth
    corrected.access =
      DerivedRecords(stream: depth, records: Array(0..<depth.access.recordCount)) {
        guard $0.hasPicture else { return }
        lost.add(table.correct(&$1, width: depth.width, height: depth.height))
      }.access
    return corrected
  }
}

/// Counts the pixels that a correction could not keep. Thread-safe.
final class LostPixels: Sendable {
  private let counts = Mutex((pixels: 0, frames: 0))

  func add(_ pixels: Int) {
    guard pixels > 0 else { return }
    counts.withLock { $0 = ($0.pixels + pixels, $0.frames + 1) }
  }

  /// Adds a warning if any pixel was lost.
  func report(_ table: FilePath?, to warnings: WarningCollector) {
    let (pixels, frames) = counts.withLock { $0 }
    guard pixels > 0, let table else { return }
    warnings.add(
      .calibrationSuspect, "depth", count: pixels,
      "\(table.lastComponent?.string ?? "the table") has no possible value where depth was measured: \(pixels) pixels "
        + "in \(frames) frames are lost")
  }
}
