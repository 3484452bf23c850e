import Core

/// A track seen from above, with equal scales on both axes, a scale bar in meters and a marked
/// start.
struct MapPlot {
  var sketch: TrackSketch
  /// Whether y points up on the page.
  var yIsUp: Bool
  var name: String

  private static let width = 480
  private static let height = 360
  private static let margin = 28

  /// Length of the scale bar: a round number of about a fifth of the width.
  var barMeters: Double {
    let ticks = NiceTicks(0...max(shownWidth, 1e-6), most: 5).values
    return ticks.count > 1 ? ticks[1] : shownWidth
  }

  /// `1 m`, `20 cm`, `2 km`.
  static func lengthText(_ meters: Double) -> String {
    if meters >= 1000 { return FigureText.significant(meters / 1000) + " km" }
    if meters >= 1 { return FigureText.significant(meters) + " m" }
    if meters >= 0.01 { return FigureText.significant(meters * 100, 2) + " cm" }
    return FigureText.significant(meters * 1000, 2) + " mm"
  }

  /// A round length: `1 m`, `20 cm`.
  private static func roundText(_ meters: Double) -> String {
    func text(_ value: Double, _ unit: String) -> String {
      FigureText.fixed(value, value.rounded() == value ? 0 : 1) + " " + unit
    }
    let (kilo, centi, milli) = (meters / 1000, (meters * 100), (meters * 1000))
    if meters >= 1000 { return text(kilo, "km") }
    if meters >= 1 { return text(meters, "m") }
    return meters >= 0.01 ? text(centi.rounded(), "cm") : text(milli, "mm")
  }

  /// Meters per unit of the drawing.
  private var scale: Double {
    let area = (Double(Self.width - 2 * Self.margin), Double(Self.height - 2 * Self.margin - 24))
    let scale = max(sketch.extent.x / area.0, sketch.extent.y / area.1)
    return scale > 0 && scale.isFinite ? scale : 1e-3
  }

  private var shownWidth: Double { scale * Double(Self.width) }

  private func place(_ point: TrackSketch.Point) -> String {
    let center = (
      (sketch.low.x + sketch.high.x) / 2, (sketch.low.y + sketch.high.y) / 2
    )
    let x = Double(Self.width) / 2 + (point.x - center.0) / scale
    let dy = (point.y - center.1) / scale
    let y = Double(Self.height - 24) / 2 + (yIsUp ? -dy : dy)
    return "\(Self.tenths(x)),\(Self.tenths(y))"
  }

  private static func tenths(_ value: Double) -> Double {
    value.isFinite ? (min(max(value, -1e4), 1e4) * 10).rounded() / 10 : 0
  }

  func markup() -> Markup {
    var route = ""
    var jumps = ""
    for (index, point) in sketch.points.enumerated() {
      let here = place(point)
      route += index == 0 || point.isAfterJump ? "M\(here)" : "L\(here)"
      if point.isAfterJump, index > 0 { jumps += "M\(place(sketch.points[index - 1]))L\(here)" }
    }
    let bar = barMeters / scale
    let bottom = Self.height - 12
    return Tag.svg(
      Attribute("class", "map"), Attribute("role", "img"), .label(name),
      Attribute("viewBox", "0 0 \(Self.width) \(Self.height)"), Attribute("width", Self.width),
      Attribute("height", Self.height)
    ) {
      Tag.title { name }
      if !jumps.isEmpty { Tag.path(.classes("jump"), Attribute("d", jumps)) }
      Tag.path(.classes("data"), Attribute("d", route))
      if let last = sketch.last {
        Tag.path(.classes("end"), Attribute("d", "M\(place(last))h0"))
      }
      if let first = sketch.points.first {
        Tag.path(.classes("start"), Attribute("d", "M\(place(first))h0"))
        Tag.path(.classes("start-core"), Attribute("d", "M\(place(first))h0"))
      }
      Tag.path(
        .classes("scale-bar"),
        Attribute(
          "d", "M\(Self.margin),\(bottom - 6)v6h\(Self.tenths(bar))v-6"))
      PlotPath.text(
        "scale-text", x: "\(Self.margin + 4)", y: bottom - 9, Self.roundText(barMeters))
    }
  }
}
