import Captures
import FoundationEssentials
import Output
import Pipeline
import Storage
import SystemPackage

/// The page of one capture, made from nothing but what is published of it: its input may be gone.
///
/// Whatever is absent, partial or damaged costs its own part and is said on the page; a capture of which
/// nothing could be made has a page too.
public enum CapturePage {
  /// The largest page; above it pictures are left out.
  static let mostBytes = 2_000_000

  /// The bytes of `report.html`.
  ///
  /// Cost: the tables are read two to four times, at most some hundred depth pictures are decoded. Memory does
  /// not depend on the number of frames but for the records of artifacts.
  ///
  /// - Parameters:
  ///   - capture: as the report has it, redacted or not.
  ///   - layout: where it lies, under its real name.
  ///   - redaction: for a page that is shown to others.
  ///   - families: that the capture may belong to.
  public static func document(
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
    let voice = material.voice
    let published = material.published
    let pictures = pieces.pictures
    definitions()
    Markup.element(.nav) {
      Markup.element(.a, .link(.file(["..", "index.html"]))) { "All captures of the night" }
    }
    verdict.markup()
    WarningsPart(warnings: material.warnings, voice: voice).markup()
    pictures.part.markup()
    MotionPart(
      series: pieces.motion, frames: material.frames,
      convention: material.description?.convention, problems: pieces.motionProblems, voice: voice
    ).markup()
    TimingPart(frames: material.frames, problems: pieces.tableProblems, voice: voice).markup()
    PathPart(path: pieces.path, isZUp: pieces.isZUp, voice: voice).markup()
    DepthPart(survey: pictures.survey, problems: pictures.depthProblems, voice: voice).markup()
    GeoPart(path: pieces.geo, voice: voice).markup()
    StreamsPart(description: material.description, written: pictures.written, voice: voice).markup()
    StagesPart(published: published, voice: voice).markup()
    let settings = SettingsPart(
      published: published, description: material.description, voice: voice)
    settings.settings()
    settings.calibration()
    ProvenancePart(material: material).markup()
    RerunPart(material: material).markup()
  }

  /// Hatchings that plots refer to.
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
