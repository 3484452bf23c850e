import Core
import Captures
import FoundationEssentials
import Engine
import SystemPackage

/// The page of one capture, made from its output alone, since its input may no longer exist.
///
/// If something is absent, partial or damaged, only its own part is missing, and the page says so.
/// A capture without any artifact has a page too.
enum CapturePage {
  /// Largest size of a page in bytes; pictures are left out above it.
  static let mostBytes = 2_000_000

  /// The bytes of `report.html`.
  ///
  /// Cost: tables are read two to four times, at most some hundred depth pictures are decoded. Only
  /// the records of artifacts need memory that grows with the number of frames.
  ///
  /// - Parameters:
  ///   - capture: the capture in the report, redacted or not.
  ///   - layout: its output folder, with the real name.
  ///   - redaction: set for a page that is shown to others.
  ///   - families: the families that the capture may belong to.
  static func document(
    _ capture: NightCapture, layout: OutputLayout, redaction: Redaction?,
    families: CaptureRegistry = .builtIn
  ) throws -> [UInt8] {
    let material = CaptureMaterial(capture, layout, redaction, families)
    let page = document(material, withPictures: true)
    return page.count <= mostBytes ? page : document(material, withPictures: false)
  }

  private static func document(_ material: CaptureMaterial, withPictures: Bool) -> [UInt8] {
    let pieces = CapturePieces(material, withPictures: withPictures)
    let verdict = VerdictPart(material: material, findings: pieces.findings)
    return Markup.document(
      head: .element(.title) { verdict.pageTitle }, style: .capture, script: .common,
      body: .element(.main) { parts(material, pieces, verdict) })
  }

  @MarkupBuilder private static func parts(
    _ material: CaptureMaterial, _ pieces: CapturePieces, _ verdict: VerdictPart
  ) -> Markup {
    let phrasing = material.phrasing
    let published = material.published
    let pictures = pieces.pictures
    definitions()
    Markup.element(.nav) {
      Markup.element(.a, .link(.file(["..", "index.html"]))) { "All captures of the night" }
    }
    verdict.markup()
    WarningsPart(warnings: material.warnings, phrasing: phrasing).markup()
    QualityPart(quality: material.capture.quality, series: pieces.quality, phrasing: phrasing)
      .markup()
    pictures.part.markup()
    MotionPart(
      series: pieces.motion, frames: material.frames,
      convention: material.description?.convention, problems: pieces.motionProblems,
      phrasing: phrasing
    ).markup()
    TimingPart(frames: material.frames, problems: pieces.tableProblems, phrasing: phrasing).markup()
    PathPart(path: pieces.path, world: pieces.world, phrasing: phrasing).markup()
    DepthPart(survey: pictures.survey, problems: pictures.depthProblems, phrasing: phrasing)
      .markup()
    GeoPart(path: pieces.geo, phrasing: phrasing).markup()
    StreamsPart(description: material.description, written: pictures.written, phrasing: phrasing)
      .markup()
    StagesPart(published: published, phrasing: phrasing).markup()
    let settings = SettingsPart(
      published: published, description: material.description, phrasing: phrasing)
    settings.settings()
    settings.calibration()
    ProvenancePart(material: material).markup()
    RerunPart(material: material).markup()
  }

  /// Hatch patterns that plots use.
  private static func definitions() -> Markup {
    func hatch(_ id: StaticString, _ path: String) -> Markup {
      .element(
        .pattern, .id("\(id)"), Attribute("width", 8), Attribute("height", 8),
        Attribute("patternUnits", "userSpaceOnUse")
      ) { Markup.element(.path, .classes("gap-stroke"), Attribute("d", path)) }
    }
    return .element(
      .svg, Attribute("class", "definitions"), Attribute("aria-hidden", "true"),
      Attribute("width", 0), Attribute("height", 0)
    ) {
      Markup.element(.defs) {
        hatch("gap-hatch", "M-2,2l4,-4M0,8l8,-8M6,10l4,-4")
        hatch("motion-gap-hatch", "M-2,6l4,4M0,0l8,8M6,-2l4,4")
      }
    }
  }
}
