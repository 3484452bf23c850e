import Core
import Engine

extension CapturePieces {
  private static let mostRows = 300

  func settingsPart() -> Markup? {
    let rows = material.published.stages.flatMap { stage in
      (stage.record?.parameters ?? [:]).sorted { $0.key < $1.key }.map {
        [
          "\(phrasing.text(stage.name, most: 100)).\(phrasing.text($0.key, most: 100))",
          phrasing.text($0.value.shownText, most: 500),
        ]
      }
    }.filter { $0[1] != "–" }.prefix(Self.mostRows)
    guard !rows.isEmpty else { return nil }
    return Tag.section(.id("settings")) {
      Tag.h2 { "Settings" }
      Tag.p {
        "\(FigureText.counted(rows.count, "setting")) determined what is in the files, set explicitly or left at their defaults."
      }
      Tag.details {
        Tag.summary { "All settings" }
        PageTable.facts("Settings, as --set takes them", ["Setting", "Value"], Array(rows))
      }
    }
  }

  func calibrationPart() -> Markup? {
    guard let description = material.description else { return nil }
    let cameras = description.cameras
    var facts: [[String]] = []
    if description.isRegistered == true {
      facts.append(["Depth and color", "share one camera: depth is registered to color"])
    } else if let matrix = description.colorFromDepth {
      let translation = [matrix[3], matrix[7], matrix[11]]
      let length = (translation.reduce(0) { $0 + $1 * $1 }).squareRoot()
      facts.append([
        "Depth to color, translation",
        translation.map { FigureText.fixed($0 * 1000, 1) }.joined(separator: ", ")
          + " mm (\(FigureText.fixed(length * 1000, 1)) mm apart)",
      ])
      facts.append([
        "Depth to color, rotation by rows",
        [0, 1, 2, 4, 5, 6, 8, 9, 10].map { FigureText.fixed(matrix[$0], 6) }.joined(
          separator: ", "),
      ])
    }
    for (camera, terms) in description.distortion {
      facts.append([
        "Lens of \(phrasing.text(camera, most: 40))",
        terms.prefix(16).map { "\(phrasing.text($0.name, most: 20)) \($0.value)" }.joined(
          separator: ", "),
      ])
    }
    if let turns = description.clockwiseQuarterTurns, turns != 0 {
      facts.append(["Pictures turned upright", "\(90 * (turns % 4))° clockwise"])
    }
    facts += files()
    guard !cameras.isEmpty || !facts.isEmpty else { return nil }
    return Tag.section(.id("calibration")) {
      Tag.h2 { "Calibration" }
      if !cameras.isEmpty {
        PageTable.facts(
          "Cameras as the capture states them, pixels, pixel centers at integers",
          ["Camera", "Size", "fx", "fy", "cx", "cy"],
          cameras.map { camera in
            [
              camera.name,
              camera.width.flatMap { width in camera.height.map { "\(width)×\($0)" } } ?? "–",
            ]
              + [camera.fx, camera.fy, camera.cx, camera.cy].map { FigureText.fixed($0, 3) }
          })
      }
      if !facts.isEmpty { PageTable.facts("More facts", ["What", "Value"], facts) }
    }
  }

  /// Calibration files that stages used in place of the capture's own calibration.
  private func files() -> [[String]] {
    material.published.stages.compactMap { stage in
      guard let file = stage.record?.inputs.external["calibration"] else { return nil }
      return [
        "\(phrasing.text(stage.name, most: 100)) used a file in its place",
        "SHA-256 \(file.hex.prefix(16))…",
      ]
    }
  }
}

extension Markup {
  /// The head of a table.
  ///
  /// - Parameter numbers: the place of the first column of numbers; all that follow hold numbers, too.
  static func head(_ columns: [String], numbers: Int = .max) -> Markup {
    Tag.thead {
      Tag.tr {
        for (index, column) in columns.enumerated() {
          Tag.th(
            [Attribute("scope", "col")] + (index >= numbers ? [.classes("n")] : [])
          ) { column }
        }
      }
    }
  }
}
