import Core
import Engine
import Glibc

extension CapturePieces {
  /// The part about the camera's track, seen from above; where it is not known what is up, along the world's y axis.
  func pathPart() -> Markup? {
    guard let path, path.count > 0 || !path.problems.isEmpty else { return nil }
    return Tag.section(.id("path")) {
      Tag.h2 { "Camera path" }
      phrasing.notices(path.problems)
      if path.count > 0 { plot(path) }
    }
  }

  private func plot(_ path: CameraPath) -> Markup {
    let (width, depth) = path.sketch.extent
    let height = path.highest - path.lowest
    let jumps =
      path.jumpCount == 0
      ? "no jumps"
      : "\(FigureText.counted(path.jumpCount, "jump")), after frame "
        + path.jumps.map { "\($0)" }.joined(separator: ", ")
        + (path.jumpCount > path.jumps.count ? ", …" : "")
    let words =
      "\(MapPlot.lengthText(path.sketch.length)) in \(FigureText.counted(path.count, "pose")), within "
      + "\(MapPlot.lengthText(width)) × \(MapPlot.lengthText(depth)), "
      + "\(MapPlot.lengthText(height)) \(world == .firstCamera ? "along y" : "up and down"); \(jumps)"
    let isZUp = world == .zUp
    let knowsUp = world != .firstCamera
    let view = knowsUp ? "From above" : "In x and z; which way is up is not known"
    let map = MapPlot(
      sketch: path.sketch, yIsUp: isZUp,
      name: "Camera path \(knowsUp ? "from above" : "in x and z"): \(words)")
    return Tag.figure(.classes("plot")) {
      map.markup()
      Tag.figcaption(.classes("small")) {
        "\(view): \(words). Ring: start; square: end."
        if path.jumpCount > 0 { " Broken lines: tracking jumped." }
      }
      PageTable(
        caption: "Camera path in figures", columns: ["Quantity", "Value"],
        rows: [
          ["Poses", FigureText.count(path.count)],
          ["Path length without jumps", MapPlot.lengthText(path.sketch.length)],
          [
            isZUp ? "Extent in x and y" : "Extent in x and z",
            "\(MapPlot.lengthText(width)) × \(MapPlot.lengthText(depth))",
          ],
          [
            knowsUp ? isZUp ? "Height (z)" : "Height (y)" : "y",
            "\(FigureText.fixed(path.lowest, 2)) m to \(FigureText.fixed(path.highest, 2)) m",
          ],
          ["Jumps", jumps],
        ]
      ).markup()
    }
  }
}

extension CapturePieces {
  /// The part about the track over ground, drawn without a map. `nil` on redacted pages.
  func geoPart() -> Markup? {
    guard !phrasing.isRedacted, let path = geo, path.count > 0 || !path.problems.isEmpty else {
      return nil
    }
    return Tag.section(.id("geo")) {
      Tag.h2 { "Position" }
      phrasing.notices(path.problems)
      if let first = path.first { figure(path, first) }
    }
  }

  private func figure(_ path: GeoPath, _ first: (latitude: Double, longitude: Double)) -> Markup {
    let (width, height) = path.sketch.extent
    let place = "\(FigureText.fixed(first.latitude, 6))°, \(FigureText.fixed(first.longitude, 6))°"
    let sources = path.sources.sorted { $0.key < $1.key }
      .map { "\(FigureText.count($0.value)) \(phrasing.text($0.key, most: 40))" }.joined(
        separator: ", ")
    let accuracy = path.accuracy.map {
      $0.lowerBound == $0.upperBound
        ? MapPlot.lengthText($0.lowerBound)
        : "\(MapPlot.lengthText($0.lowerBound)) to \(MapPlot.lengthText($0.upperBound))"
    }
    let isPoint = width < 0.05 && height < 0.05
    let words =
      isPoint
      ? "one place, \(place)"
      : "\(MapPlot.lengthText(path.sketch.length)) from \(place), within \(MapPlot.lengthText(width)) × \(MapPlot.lengthText(height))"
    return Tag.figure(.classes("plot")) {
      if !isPoint {
        MapPlot(sketch: path.sketch, yIsUp: true, name: "Track over ground, north up: \(words)")
          .markup()
      }
      Tag.figcaption(.classes(isPoint ? "plain" : "small")) {
        isPoint ? "One place: \(place)." : "North is up: \(words). Ring: start; square: end."
        if let accuracy { " Accuracy: \(accuracy)." }
      }
      PageTable(
        caption: "Positions in figures", columns: ["Quantity", "Value"],
        rows: [
          ["Positions", "\(FigureText.count(path.count)) (\(sources))"], ["First", place],
          [
            "Last",
            path.last.map {
              "\(FigureText.fixed($0.latitude, 6))°, \(FigureText.fixed($0.longitude, 6))°"
            } ?? "–",
          ],
          ["Way", MapPlot.lengthText(path.sketch.length)],
          ["Accuracy", accuracy ?? "not recorded"],
        ]
      ).markup()
    }
  }
}

/// The camera's track seen from above: `tables/poses.csv`, read once, in bounded memory.
struct CameraPath {
  private(set) var sketch = TrackSketch()
  private(set) var count = 0
  /// Lowest position along the upward axis, meters.
  private(set) var lowest = Double.infinity
  private(set) var highest = -Double.infinity
  /// The frames before the first jumps.
  private(set) var jumps: [Int] = []
  private(set) var jumpCount = 0
  private(set) var problems: [String] = []

  private static let names = ["frame", "timestamp_ns", "tx", "ty", "tz"]
  /// Speed limit of hand-held motion, meters per second: the threshold of `pose-jump`.
  private static let fastest = 10.0

  init?(_ table: PublishedTable?, isZUp: Bool) {
    guard let table else { return nil }
    var path = CameraPath()
    var before: (frame: Int, time: Int64?, position: [Double])?
    path.problems = table.read(columns: Self.names) { row in
      let position = [row.number(2), row.number(3), row.number(4)].compactMap(\.self)
      // Positions beyond a million meters are not real.
      guard position.count == 3, position.allSatisfy({ abs($0) < 1e6 }) else { return }
      let frame = row.nanoseconds(0).flatMap { Int(exactly: $0) } ?? path.count
      let time = row.nanoseconds(1)
      var step = 0.0
      var isAfterJump = false
      if let before {
        let d = zip(position, before.position).map { $0 - $1 }
        step = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).squareRoot()
        let seconds = time.flatMap { now in
          before.time.map { (Double(now) - Double($0)) / 1e9 }
        }
        // 1/60 s without a time, as in the formats.
        isAfterJump = step > Self.fastest * max(seconds ?? 1.0 / 60, 1e-3)
        if isAfterJump {
          path.jumpCount += 1
          if path.jumps.count < 20 { path.jumps.append(before.frame) }
        }
      }
      let up = isZUp ? position[2] : position[1]
      path.lowest = min(path.lowest, up)
      path.highest = max(path.highest, up)
      path.sketch.add(
        x: position[0], y: isZUp ? position[1] : position[2], isAfterJump: isAfterJump, step: step)
      path.count += 1
      before = (frame, time, position)
    }
    self = path
  }

  private init() {}
}

/// The track over ground: `tables/geo.csv`, read once, in bounded memory.
struct GeoPath {
  /// East and north of the first position, meters.
  private(set) var sketch = TrackSketch(tolerance: 0.05)
  private(set) var count = 0
  private(set) var sources: [String: Int] = [:]
  private(set) var first: (latitude: Double, longitude: Double)?
  private(set) var last: (latitude: Double, longitude: Double)?
  private(set) var accuracy: ClosedRange<Double>?
  private(set) var problems: [String] = []

  private static let names = ["frame", "latitude_deg", "longitude_deg", "accuracy_m", "source"]
  /// Mean radius of the Earth, meters (IUGG).
  private static let radius = 6_371_008.8

  init?(_ table: PublishedTable?) {
    guard let table else { return nil }
    var path = GeoPath()
    path.problems = table.read(columns: Self.names) { row in
      guard let latitude = row.number(1), let longitude = row.number(2), abs(latitude) <= 90,
        abs(longitude) <= 360
      else { return }
      let origin = path.first ?? (latitude, longitude)
      if path.first == nil { path.first = origin }
      path.last = (latitude, longitude)
      // The shorter way around.
      var east = longitude - origin.longitude
      if east > 180 { east -= 360 }
      if east < -180 { east += 360 }
      let meters = Self.radius * Double.pi / 180
      path.sketch.add(
        x: east * meters * cos(origin.latitude * .pi / 180),
        y: (latitude - origin.latitude) * meters)
      path.count += 1
      let source = row.text(4)
      if path.sources[source] != nil || path.sources.count < 8 {
        path.sources[source, default: 0] += 1
      }
      if let value = row.number(3), value >= 0 {
        let old = path.accuracy ?? value...value
        path.accuracy = min(old.lowerBound, value)...max(old.upperBound, value)
      }
    }
    self = path
  }

  private init() {}
}

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

/// Simplifies a track in the plane to a limited number of points. A point is kept if its distance
/// to the last kept one exceeds the tolerance, which grows when there are too many points. Turning
/// points farther out than the tolerance are never lost.
struct TrackSketch {
  struct Point: Hashable {
    var x: Double
    var y: Double
    /// Whether it is not connected to the previous point, because tracking was lost in between.
    var isAfterJump: Bool
  }

  private(set) var points: [Point] = []
  private(set) var count = 0
  /// Length of the track in meters, without jumps.
  private(set) var length = 0.0
  private(set) var low = (x: Double.infinity, y: Double.infinity)
  private(set) var high = (x: -Double.infinity, y: -Double.infinity)
  private(set) var last: Point?
  private var tolerance: Double
  private let most: Int

  init(tolerance: Double = 0.002, most: Int = 3000) {
    self.tolerance = tolerance
    self.most = max(16, most)
  }

  mutating func add(x: Double, y: Double, isAfterJump: Bool = false, step: Double? = nil) {
    guard x.isFinite, y.isFinite else { return }
    let point = Point(x: x, y: y, isAfterJump: isAfterJump && count > 0)
    if let last, !point.isAfterJump { length += step ?? hypot(x - last.x, y - last.y) }
    count += 1
    low = (min(low.x, x), min(low.y, y))
    high = (max(high.x, x), max(high.y, y))
    last = point
    keep(point)
    if points.count > most {
      let old = points
      points = []
      tolerance *= 2
      for point in old { keep(point) }
      // If all points are jumps, they are thinned too.
      if points.count > most {
        points = points.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      }
    }
  }

  private mutating func keep(_ point: Point) {
    if let kept = points.last, !point.isAfterJump,
      hypot(point.x - kept.x, point.y - kept.y) < tolerance
    {
      return
    }
    points.append(point)
  }

  /// Size of the track, meters.
  var extent: (x: Double, y: Double) {
    count > 0 ? (high.x - low.x, high.y - low.y) : (0, 0)
  }
}
