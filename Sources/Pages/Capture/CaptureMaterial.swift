import Captures
import Engine
import Core

/// Everything from which a capture page is made, collected from the output.
struct CaptureMaterial: Sendable {
  var capture: NightCapture
  var familyDescription: FamilyDescription
  var layout: OutputLayout
  var phrasing: PagePhrasing
  var description: CaptureDescription?
  var published: PublishedStages
  var frames: FrameTimes?

  init(
    _ capture: NightCapture, _ layout: OutputLayout, _ redaction: Redaction?,
    _ families: CaptureRegistry
  ) {
    self.capture = capture
    self.layout = layout
    let description = CaptureDescription(layout)
    self.description = description
    familyDescription = families.description(named: capture.family ?? description?.family)
    var secrets = description?.secrets ?? []
    secrets += [
      capture.path, capture.scene, capture.device, capture.user, layout.name, layout.root.text,
    ].compactMap(\.self)
    // A redacted report already has aliases.
    if let redaction {
      let aliases = [
        redaction.alias(of: layout.name), capture.device.map { redaction.alias(ofDevice: $0) },
        capture.user.map { redaction.alias(ofUser: $0) },
      ].compactMap(\.self)
      secrets.removeAll { aliases.contains($0) || $0 == capture.device || $0 == capture.user }
      secrets += [description?.deviceName, description?.deviceID].compactMap(\.self)
    }
    phrasing = PagePhrasing(redaction, secrets: secrets)
    published = PublishedStages(layout, ids: [layout.name, capture.id, description?.id ?? ""])
    frames = FrameTimes(
      PublishedTable("frames.csv", of: published.tables, layout), family: familyDescription)
  }

  var family: String? { capture.family ?? description?.family }

  func table(_ file: String, of stage: PublishedStages.Stage?) -> PublishedTable? {
    PublishedTable(file, of: stage, layout)
  }

  /// Warnings of the report, and those of `capture.json` and of artifacts that are not in the
  /// report; notes come last.
  var warnings: [CaptureWarning] {
    capture.warnings.merged(with: description?.warnings ?? [])
      .merged(with: published.stages.flatMap { $0.record?.warnings ?? [] })
  }
}
