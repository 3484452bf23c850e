import Core

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
      PlotTable(
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
      PlotTable(
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
