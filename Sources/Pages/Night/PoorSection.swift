import Core
import Captures
import Engine

/// Captures of poor quality, with the reasons: they were processed, and whoever uses them has to look first.
struct PoorSection {
  let report: NightReport
  let names: PageNames
  let supplies: PageSupplies

  private static let mostInFull = 50
  private static let mostNamed = 200

  /// Empty if no capture was judged to be poor, or a person has marked those that were.
  var markup: Markup {
    let poor = report.captures.filter(\.isPoor)
    guard !poor.isEmpty else { return .nothing }
    return .element(.section, .id("poor"), Attribute("aria-labelledby", "poor-title")) {
      Markup.element(.h2, .id("poor-title")) { "Poor: look before you use" }
      Markup.element(.ul, .classes("captures")) {
        for capture in poor.prefix(Self.mostInFull) { entry(capture) }
      }
      let others = poor.dropFirst(Self.mostInFull)
      if !others.isEmpty {
        Markup.element(.details) {
          Markup.element(.summary) { Phrasing.count(others.count, "more capture") }
          Markup.element(.ul) {
            for capture in others.prefix(Self.mostNamed) {
              Markup.element(.li) { names.link(capture) }
            }
          }
          if others.count > Self.mostNamed { Markup.element(.p) { "All are in the table below." } }
        }
      }
      Markup.element(.p, .classes("small")) {
        "What was judged, and the limits: "
        Markup.element(.code) { "scanmill stages measure-quality" }
        ". A capture that is good enough: "
        Markup.element(.code) { "scanmill mark CAPTURE done-as-is" }
        "."
      }
    }
  }

  private func entry(_ capture: NightCapture) -> Markup {
    .element(.li, Attribute("data-quality", CaptureQuality.Level.poor.rawValue)) {
      if let picture = supplies.thumbnail(capture) {
        picture.element(named: "First picture of \(names.short(capture.id))")
      }
      Markup.element(.div) {
        Markup.element(.p) {
          AttentionSection.dotted(
            [names.link(capture)]
              + [capture.scene, capture.device, capture.user].compactMap(\.self)
              .filter { !$0.isEmpty }.map { Markup.name(Phrasing.cut($0, 80)) })
        }
        for reason in (capture.quality?.reasons ?? []).prefix(6) {
          Markup.element(.p, .classes("small")) {
            Markup.element(.bdi) { Phrasing.cut(reason, 300) }
          }
        }
      }
    }
  }
}
