import Core
import Engine
import Processing
import SystemPackage

/// The published data of one capture that previews need.
package struct PublishedCapture: Sendable {
  /// Lines above the pictures; the id comes first.
  var title: [String]
  /// Artifacts by name (`color`, `aligned`, `depth`, `imu` and `tables`); each may be missing.
  package var inputs: [String: InputArtifact]
  /// Number of columns of the depth camera.
  var depthWidth: Int?

  package init(title: [String], inputs: [String: InputArtifact], depthWidth: Int?) {
    (self.title, self.inputs, self.depthWidth) = (title, inputs, depthWidth)
  }
}

/// Makes overview pictures of published data.
package enum OutputPreview {
  /// The overview of one capture.
  ///
  /// - Parameter frames: largest number of frames; by default three with depth, six without.
  package static func sheet(of capture: PublishedCapture, frames: Int? = nil) throws -> DrawnSheet {
    let pictures = PublishedPictures(capture.inputs, depthWidth: capture.depthWidth)
    var sheet = PreviewSheet(columns: 3)
    let most = PreviewSheet.pictureSize(columns: sheet.columns)
    let count = max(1, frames ?? (pictures.hasDepth ? 3 : 6))
    let chosen = SourcePreview.centers(of: pictures.frames.count, count: count)
      .map { pictures.frames[$0] }
    let shown = try concurrentMap(count: chosen.count) { pictures.shown(chosen[$0], most: most) }
    let range = FalseColor(of: shown.compactMap { $0?.depth })
    var drawn = DrawnSheet(picture: ColorImage(width: 1, height: 1))
    func note(part: String?) {
      if let part, !drawn.parts.contains(part) { drawn.parts.append(part) }
    }
    let times = PublishedReadings.frameTimes(capture.inputs["tables"])
    let first = times.min { $0.key < $1.key }?.value
    for (frame, picture) in zip(chosen, shown) {
      guard let picture else { continue }
      let (overlay, depth) = (picture.overlay(range), picture.falseColor(range))
      if overlay != nil { sheet.hasContours = true }
      note(part: overlay != nil ? "overlay" : picture.color != nil ? "color" : nil)
      note(part: depth == nil ? nil : "depth")
      if depth != nil { sheet.scale = range }
      drawn.frames.append(frame)
      sheet.cells.append(
        PreviewSheet.Cell(
          label: FrameLabel.text(frame, times[frame], since: first),
          pictures: [overlay ?? picture.color, depth].compactMap(\.self)))
    }
    sheet.strip = MotionStrip.draw(
      PublishedReadings.series(capture.inputs["imu"]), frames: times.values.sorted(),
      shown: drawn.frames.compactMap { times[$0] }, width: PreviewSheet.width)
    note(part: sheet.strip == nil ? nil : "imu")
    if let problem = pictures.problem { drawn.notes.append("\(problem)") }
    if drawn.parts.isEmpty { drawn.notes.append("nothing that can be shown is published") }
    sheet.title = capture.title
    sheet.notes = drawn.notes
    drawn.picture = sheet.draw()
    return drawn
  }

  /// An overview with one picture of each capture and its id.
  package static func overview(of captures: [PublishedCapture], title: String) throws -> DrawnSheet
  {
    var sheet = PreviewSheet(columns: 4)
    let most = PreviewSheet.pictureSize(columns: sheet.columns)
    let cells = try concurrentMap(count: captures.count) { index -> (PreviewSheet.Cell, String?) in
      let pictures = PublishedPictures(
        captures[index].inputs, depthWidth: captures[index].depthWidth)
      let frame = pictures.frames.isEmpty ? nil : pictures.frames[pictures.frames.count / 2]
      let shown = frame.flatMap { pictures.shown($0, most: most) }
      let range = FalseColor(of: [shown?.depth].compactMap(\.self))
      let picture = shown?.overlay(range) ?? shown?.color ?? shown?.falseColor(range)
      let label = captures[index].title.first ?? ""
      return (
        PreviewSheet.Cell(label: label, pictures: [picture].compactMap(\.self)),
        picture == nil ? "\(label): nothing that can be shown is published" : nil
      )
    }
    sheet.title = [title]
    sheet.cells = cells.map(\.0)
    var drawn = DrawnSheet(picture: ColorImage(width: 1, height: 1))
    drawn.notes = cells.compactMap(\.1)
    if drawn.notes.count < captures.count { drawn.parts = ["overview"] }
    drawn.picture = sheet.draw()
    return drawn
  }
}
