/// Formats floor figures for people.
enum FloorTable {
  static func lines(_ floor: FloorFigures) -> [String] {
    var lines = [
      "",
      "against the floor · -j \(floor.jobs) · medians of \(floor.rounds) rounds, parts and runs in turn · "
        + "CPU ms per picture written",
    ]
    let stages = floor.stages + [floor.whole].compactMap(\.self)
    if !stages.isEmpty {
      lines += ColumnText.lines([columns] + stages.map(row))
      lines.append("user + system, CPU ms per picture")
      lines += ColumnText.lines([["", "read", "copy", "ours"]] + stages.map(split))
    }
    return lines + floor.notes.map { "note: " + $0 }
  }

  private static let columns = [
    "", "pictures", "Mpx", "decode", "+ RGB", "copy", "floor", "ours", "ours/floor",
    "above floor, ms/Mpx", "cores busy", "files", "MB out",
  ]

  private static func row(_ stage: FloorStage) -> [String] {
    [
      stage.name, "\(stage.frames)", NumberText.short(stage.megapixels),
      NumberText.short(stage.decode?.cpuMillisecondsPerFrame),
      NumberText.short(stage.convert?.cpuMillisecondsPerFrame),
      NumberText.short(stage.copy.cpuMillisecondsPerFrame),
      NumberText.short(stage.floorMillisecondsPerFrame),
      NumberText.short(stage.ours.cpuMillisecondsPerFrame), NumberText.short(stage.oursByFloor),
      NumberText.short(stage.aboveFloorMillisecondsPerMegapixel),
      NumberText.short(stage.busyCores), "\(stage.files)",
      NumberText.short(Double(stage.bytes) / 1e6),
    ]
  }

  private static func split(_ stage: FloorStage) -> [String] {
    func text(_ cost: FloorCost?) -> String {
      guard let cost, stage.frames > 0 else { return "-" }
      let scale = 1000 / Double(stage.frames)
      return NumberText.short(cost.userSeconds.median * scale) + " + "
        + NumberText.short(cost.systemSeconds.median * scale)
    }
    return [stage.name, text(stage.convert ?? stage.decode), text(stage.copy), text(stage.ours)]
  }
}
