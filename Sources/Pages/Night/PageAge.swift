import Core
import Engine

/// When the page was made, and when the next one is due. The script of the page counts its age, and says
/// after twice the interval without a new page; without scripts the time of the page is shown as it is.
struct PageAge {
  let report: NightReport
  /// Whether the page is kept when the next night begins.
  var isKept = false

  /// Seconds after which the watcher has written the page again; `nil`: the page is not renewed.
  private var interval: Int? { isKept ? nil : report.watch?.renewsPageSeconds }

  var markup: Markup {
    let made = LocalTime(report.made)
    var attributes = [
      Attribute.id("age"), .classes("small"), Attribute("data-made", report.made),
      Attribute("data-made-text", made?.text ?? report.made),
    ]
    if let interval { attributes.append(Attribute("data-interval", interval)) }
    return .element(.p, attributes) {
      "Made "
      Markup.element(.time, Attribute("datetime", report.made)) { made?.text ?? report.made }
      Markup.element(.span, .id("page-age"))
      ". "
      words
    }
  }

  private var words: String {
    if isKept { return "The page of an earlier night, as it was last written." }
    if let interval {
      let often = interval < 60 ? "\(interval) s" : Phrasing.age(Double(interval))
      return "The watcher writes it again at least every \(often)."
    }
    if let ended = report.watch?.ended {
      let time = LocalTime.text(ended, near: LocalTime(report.made))
      return "The watcher ended at \(time): nothing renews this page until it starts again."
    }
    return "A single report: nothing renews this page."
  }
}
