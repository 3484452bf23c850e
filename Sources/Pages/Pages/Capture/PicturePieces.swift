import Core
import Engine
import SystemPackage

/// Results from a capture's pictures that several parts need.
struct PicturePieces {
  let part: PicturesPart
  let survey: DepthSummary?
  let depthProblems: [String]
  /// Number of written pictures, by stream.
  let written: [String: Int]

  init(_ material: CaptureMaterial, withPictures: Bool) {
    let (published, layout) = (material.published, material.layout)
    let color = PictureIndex(published.color, layout)
    let depth = PictureIndex(published.depth, layout)
    let aligned = PictureIndex(published.aligned, layout)
    // If depth itself was not exported, aligned depth is used.
    let survey = (depth ?? aligned).map { DepthSummary($0) }
    self.survey = survey
    let meters = survey?.shownMeters ?? 0...1
    let sheet =
      withPictures
      ? ContactSheet(color: color, depth: depth, aligned: aligned, meters: meters) : nil
    func problems(_ stages: [PublishedStages.Stage?]) -> [String] {
      stages.compactMap { stage in
        stage.flatMap { stage in
          stage.problem.map { "\(material.phrasing.text(stage.name, most: 100)): \($0)." }
        }
      }
    }
    var notes = problems([published.color, published.depth, published.aligned])
    let failed = (sheet?.unreadable ?? []).map { material.phrasing.text($0.words) }
    if let first = failed.first {
      notes.append(
        "\(FigureText.counted(failed.count, "picture")) of this sheet cannot be shown: \(first)"
          + (failed.count > 1 ? ", and others." : "."))
    }
    if !withPictures {
      notes.append("Pictures are left out: with them the page would be larger than 2 MB.")
    }
    var depthNotes = problems([published.depth])
    let unreadable = survey?.unreadable.map { material.phrasing.text($0.words) } ?? []
    if let first = unreadable.first {
      depthNotes.append(
        "\(FigureText.counted(unreadable.count, "depth picture")) cannot be read: \(first)"
          + (unreadable.count > 1 ? ", and others. " : ". ")
          + "`scanmill run` makes damaged artifacts again.")
    }
    depthProblems = depthNotes
    var written: [String: Int] = [:]
    if let color { written["color"] = color.entries.count }
    if let depth { written["depth"] = depth.entries.count }
    if let count = material.frames?.pictures["confidence"] { written["confidence"] = count }
    self.written = written
    let counts: [(ContactSheet.Row, Int)] = [(.color, color), (.depth, depth), (.aligned, aligned)]
      .compactMap { row, index in index.map { (row, $0.entries.count) } }
    part = PicturesPart(
      sheet: sheet, meters: meters,
      thumbnail: sheet == nil && withPictures ? Self.thumbnail(material) : nil, problems: notes,
      counts: counts)
  }

  /// The thumbnail that some families store, if nothing else is published.
  private static func thumbnail(_ material: CaptureMaterial) -> Markup? {
    guard let stage = material.published.thumbnail, stage.record != nil,
      let bytes = HeldFolder.contents(
        of: material.layout.artifact(stage.name).appending("thumbnail.png"),
        below: material.layout.root, limit: 300_000), bytes.count > 8,
      bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
    else { return nil }
    return Tag.img(.picture(PictureData(.png, bytes)), Attribute("alt", "thumbnail of the capture"))
  }
}
