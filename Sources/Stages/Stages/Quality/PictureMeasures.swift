import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// The measures of the recorded color pictures, by frame, whichever of them were published and in which shape: from
/// the table beside the published ones, and for those that it lacks from the capture, whose pictures then have to be
/// decoded.
struct PictureMeasures {
  private(set) var byFrame: [Int: PictureMeasure] = [:]
  /// Number of pictures that the capture has.
  let recorded: Int

  /// - Parameter input: of the stage that publishes the pictures, by whose conversion they are measured.
  init(_ input: InputArtifact, _ context: StageContext) throws {
    let frames = context.capture.color.value?.countedFrames ?? []
    recorded = frames.count
    if input.record.outputs.contains(where: { $0.path == PictureGauge.fileName }) {
      byFrame = try Self.read(input.folder.appending(PictureGauge.fileName))
    }
    let missing = Set(frames).subtracting(byFrame.keys)
    guard missing.count > Self.lost(input.record) else { return }
    byFrame.merge(try Self.measure(missing, input.record, context)) { known, _ in known }
  }

  /// How many pictures could not be decoded when they were published, if all were wanted.
  private static func lost(_ record: ArtifactRecord) -> Int {
    guard case .object(let streams)? = record.recorded[FrameHoles.recordedName],
      case .object(let holes)? = streams["color"], case .integer(let lost)? = holes["lost"]
    else { return 0 }
    return Int(clamping: lost)
  }

  private static func read(_ file: FilePath) throws -> [Int: PictureMeasure] {
    var scanner = try CSVScanner(file)
    var measures: [Int: PictureMeasure] = [:]
    guard try scanner.nextLine() else { return [:] }
    while try scanner.nextLine() {
      guard scanner.cellCount == PictureGauge.columns.count,
        let frame = Int(scanner.text(inCell: 0)),
        let sharpness = Double(scanner.text(inCell: 1)),
        let dark = Double(scanner.text(inCell: 2)), let bright = Double(scanner.text(inCell: 3)),
        let fingerprint = PictureFingerprint(text: scanner.text(inCell: 4)),
        case let blur = Double(scanner.text(inCell: 5)),
        blur != nil || scanner.isEmpty(cell: 5),
        let width = BlurWidth(text: scanner.text(inCell: 6))
      else {
        throw FileError(
          kind: .other, path: file, operation: "read",
          reason: "line \(scanner.lineNumber) is no measure of a picture",
          remedy: "run color again with --forcerun color")
      }
      measures[frame] = PictureMeasure(
        sharpness: sharpness, blur: blur, blurWidth: width, darkShare: dark, brightShare: bright,
        fingerprint: fingerprint)
    }
    return measures
  }

  /// Decodes these pictures of the capture on all cores, as `record` converts their values, but in the shape that was
  /// recorded.
  private static func measure(
    _ frames: Set<Int>, _ record: ArtifactRecord, _ context: StageContext
  ) throws -> [Int: PictureMeasure] {
    var own = context
    // Damage is reported by the stage that publishes the pictures.
    own.warnings = WarningCollector()
    own.parameters = DecodeColor.conversions(
      of: record.uses == DecodeColor.name ? record.parameters : [:])
    let gauge = PictureGauge()
    do {
      _ = try DecodeColor.decode(own, FrameSelection(only: frames)) {
        gauge.measure($0, rgb: $1, width: $2, height: $3)
      }
    } catch is UnreadableStream {
      // No picture can be decoded, so no frame is measured.
    }
    return gauge.byFrame
  }
}

/// Measures color pictures while they are in memory anyway, and keeps what was found as a table beside
/// them: `measures.csv`, a row per picture.
///
/// They are measured as they were recorded: before they are undistorted and made smaller.
///
/// Any number of threads may use it. Holds some 200 bytes per picture.
final class PictureGauge: Sendable {
  static let fileName = "measures.csv"
  static let columns = [
    "frame", "sharpness", "dark_share", "bright_share", "fingerprint", "blur_effect",
    "blur_sigma_px",
  ]

  private let measures = Mutex<[Int: PictureMeasure]>([:])

  /// Measures an upright picture of 8-bit RGB.
  func measure(_ frame: Int, rgb: [UInt8], width: Int, height: Int) {
    guard let measure = PictureMeasure(rgb: rgb, width: width, height: height) else { return }
    measures.withLock { $0[frame] = measure }
  }

  var byFrame: [Int: PictureMeasure] { measures.withLock { $0 } }

  /// Writes the table into the artifact.
  func write(_ staging: StagingFolder) throws {
    let rows = byFrame.sorted { $0.key < $1.key }
    try TableFile.write(Self.fileName, Self.columns, rows, staging) { frame, measure in
      [
        frame, measure.sharpness, measure.darkShare, measure.brightShare, measure.fingerprint.text,
        measure.blur, measure.blurWidth.text,
      ]
    }
  }
}
