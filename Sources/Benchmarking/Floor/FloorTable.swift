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
      stage.name, "\(stage.frames)", TableNumber.short(stage.megapixels),
      TableNumber.short(stage.decode?.cpuMillisecondsPerFrame),
      TableNumber.short(stage.convert?.cpuMillisecondsPerFrame),
      TableNumber.short(stage.copy.cpuMillisecondsPerFrame),
      TableNumber.short(stage.floorMillisecondsPerFrame),
      TableNumber.short(stage.ours.cpuMillisecondsPerFrame), TableNumber.short(stage.oursByFloor),
      TableNumber.short(stage.aboveFloorMillisecondsPerMegapixel),
      TableNumber.short(stage.busyCores), "\(stage.files)",
      TableNumber.short(Double(stage.bytes) / 1e6),
    ]
  }

  private static func split(_ stage: FloorStage) -> [String] {
    func text(_ cost: FloorCost?) -> String {
      guard let cost, stage.frames > 0 else { return "-" }
      let scale = 1000 / Double(stage.frames)
      return TableNumber.short(cost.userSeconds.median * scale) + " + "
        + TableNumber.short(cost.systemSeconds.median * scale)
    }
    return [stage.name, text(stage.convert ?? stage.decode), text(stage.copy), text(stage.ours)]
  }
}
