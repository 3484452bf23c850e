import Codecs
import Geometry
import Parallel
import Pipeline
import Processing
import Storage
import Synchronization
import SystemPackage

/// The measures of the color pictures of an artifact, by frame: from its table, or from the pictures
/// themselves, which then have to be decoded.
struct PictureMeasures: Sendable {
  let byFrame: [Int: PictureMeasure]
  /// Whether the pictures had to be decoded.
  let wereMeasured: Bool

  init(_ input: InputArtifact, _ context: StageContext) throws {
    if input.record.outputs.contains(where: { $0.path == PictureGauge.fileName }),
      let known = try Self.read(input.folder.appending(PictureGauge.fileName))
    {
      byFrame = known
      wereMeasured = false
    } else {
      byFrame = try Self.measure(PictureFiles(input), context)
      wereMeasured = true
    }
  }

  /// `nil` for a table of an earlier version, which lacks a column.
  private static func read(_ file: FilePath) throws -> [Int: PictureMeasure]? {
    var scanner = try CSVScanner(file)
    var measures: [Int: PictureMeasure] = [:]
    guard try scanner.nextLine() else { return [:] }
    guard scanner.cellCount == PictureGauge.columns.count else { return nil }
    while try scanner.nextLine() {
      guard scanner.cellCount == PictureGauge.columns.count,
        let frame = Int(scanner.text(inCell: 0)),
        let sharpness = Double(scanner.text(inCell: 1)),
        let dark = Double(scanner.text(inCell: 2)), let bright = Double(scanner.text(inCell: 3)),
        let fingerprint = UInt64(scanner.text(inCell: 4), radix: 16),
        case let blur = Double(scanner.text(inCell: 5)),
        blur != nil || scanner.isEmpty(cell: 5)
      else {
        throw FileError(
          kind: .other, path: file, operation: "read",
          reason: "line \(scanner.lineNumber) is no measure of a picture",
          remedy: "run color again with --forcerun color")
      }
      measures[frame] = PictureMeasure(
        sharpness: sharpness, blur: blur, darkShare: dark, brightShare: bright,
        fingerprint: fingerprint)
    }
    return measures
  }

  /// Decodes every picture on all cores.
  private static func measure(
    _ pictures: PictureFiles, _ context: StageContext
  ) throws -> [Int: PictureMeasure] {
    let gauged = Mutex<[Int: PictureMeasure]>([:])
    let frames = pictures.frames
    context.progress.expect(frames.count)
    _ = try concurrentMap(count: frames.count, budget: context.budget) { place in
      try context.cancellation.check()
      defer { context.progress.advance() }
      guard let picture = try pictures.look(frames[place]),
        let measure = PictureMeasure(
          rgb: picture.rgb, width: picture.width, height: picture.height)
      else { return }
      gauged.withLock { $0[frames[place]] = measure }
    }
    return gauged.withLock { $0 }
  }
}
