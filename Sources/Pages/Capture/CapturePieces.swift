import Captures
import Core
import Engine

/// The computed content of a page's parts, which the summary at the top needs as well.
struct CapturePieces {
  let pictures: PicturePieces
  let motion: MotionSeries?
  let motionProblems: [String]
  let tableProblems: [String]
  let path: CameraPath?
  /// The world of the camera path.
  let world: PoseWorld
  let geo: GeoPath?
  /// Series of a capture that was judged.
  let quality: QualitySeries?
  /// Short results for the summary.
  let findings: [(name: String, value: String)]

  init(_ material: CaptureMaterial, withPictures: Bool) {
    let published = material.published
    pictures = PicturePieces(material, withPictures: withPictures)
    // A damaged record is reported in the place of its part.
    var problems =
      published.imu.flatMap { stage in
        stage.problem.map { ["\(stage.name): \($0)."] }
      } ?? []
    motion = material.table("imu.csv", of: published.imu).flatMap {
      MotionSeries(
        $0, gaps: material.familyDescription.motionGaps, frames: material.frames,
        problems: &problems)
    }
    motionProblems = problems
    tableProblems =
      published.tables.flatMap { stage in stage.problem.map { ["\(stage.name): \($0)."] } } ?? []
    world =
      material.description?.world
      ?? material.familyDescription.world(material.description?.generation ?? "")
    path = CameraPath(
      material.table("poses.csv", of: published.tables), isZUp: world == .zUp)
    geo =
      material.phrasing.isRedacted ? nil : GeoPath(material.table("geo.csv", of: published.tables))

    quality =
      material.capture.quality == nil
      ? nil : QualitySeries(material.table("quality.csv", of: published.quality))

    var findings: [(name: String, value: String)] = []
    if let quality = material.capture.quality {
      findings.append(("Quality", quality.verdict.rawValue))
    }
    if let frames = material.frames, let median = frames.median {
      findings.append(("Frame rate", "\(FigureText.significant(1e9 / median)) Hz"))
      let longest = frames.gaps.map(\.length).max() ?? 0
      findings.append(
        (
          "Frame gaps",
          frames.gapCount == 0
            ? "none"
            : "\(FigureText.count(frames.gapCount)), longest \(FigureText.duration(Double(longest) / 1e9))"
        ))
    }
    if let share = pictures.survey?.medianShare {
      findings.append(("Depth measured", "\(FigureText.percent(share)) of the pixels"))
    }
    if let motion {
      findings.append(
        (
          "Motion", "\(FigureText.counted(motion.counts.values.max() ?? 0, "sample")) per sensor"
        ))
      findings.append(("Motion gaps", motion.gapWords.hasPrefix("No") ? "none" : motion.gapWords))
    }
    if let path, path.count > 0 {
      findings.append(
        (
          "Camera path",
          MapPlot.lengthText(path.sketch.length)
            + (path.jumpCount == 0
              ? ", no jumps" : ", \(FigureText.counted(path.jumpCount, "jump"))")
        ))
    }
    self.findings = findings
  }
}
