/// The samples of all measured rounds of one capture.
struct FloorRounds {
  /// The samples of one stage.
  struct Stage {
    var name: String
    /// Samples by part, in the order of the rounds.
    var parts: [FloorPart: [FloorSample]] = [:]
    var ours: [FloorSample] = []
    /// The parts that read for this stage.
    var reading: [FloorPart] = []

    var pictures: Int { parts[.copy]?.last?.pictures ?? 0 }
    var pixels: Int64 { parts[.copy]?.last?.pixels ?? 0 }
  }

  var stages: [Stage] = []
  var whole: [FloorSample] = []

  /// Figures of every stage that was measured.
  var figures: [FloorStage] {
    stages.compactMap { stage in
      let frames = stage.pictures
      func cost(_ part: FloorPart?) -> FloorCost? {
        part.flatMap { stage.parts[$0] }.flatMap { FloorCost($0, frames: frames) }
      }
      guard let copy = cost(.copy), let ours = FloorCost(stage.ours, frames: frames),
        let written = stage.parts[.copy]?.last
      else { return nil }
      return FloorStage(
        name: stage.name, frames: frames, pixels: stage.pixels, files: written.files,
        bytes: written.bytes, decode: cost(stage.reading.first { $0 != .convert }),
        convert: cost(stage.reading.first { $0 == .convert }), copy: copy, ours: ours)
    }
  }

  /// Figures of all stages in one run. What several stages read is decoded and counted once; parts
  /// are summed per round before medians are taken.
  ///
  /// - Parameter frames: frames of the capture, whose stages may have written different numbers of
  ///   pictures.
  func wholeFigures(frames: Int) -> FloorStage? {
    var counted: Set<FloorPart> = []
    var decode: [[FloorSample]] = []
    var convert: [[FloorSample]] = []
    for stage in stages {
      let fresh = stage.reading.filter { !counted.contains($0) }
      counted.formUnion(fresh)
      decode += fresh.filter { $0 != .convert }.compactMap { stage.parts[$0] }
      // If nothing is converted, the floor is reading alone.
      let last = fresh.contains(.convert) ? FloorPart.convert : fresh.first
      convert += [last.flatMap { stage.parts[$0] }].compactMap(\.self)
    }
    let copies = stages.compactMap { $0.parts[.copy] }
    guard let copy = FloorCost(Self.sum(copies), frames: frames),
      let ours = FloorCost(whole, frames: frames)
    else { return nil }
    let last = copies.compactMap(\.last)
    return FloorStage(
      name: FloorStage.wholeName, frames: frames, pixels: stages.map(\.pixels).reduce(0, &+),
      files: last.map(\.files).reduce(0, +), bytes: last.map(\.bytes).reduce(0, +),
      decode: FloorCost(Self.sum(decode), frames: frames),
      convert: counted.contains(.convert) ? FloorCost(Self.sum(convert), frames: frames) : nil,
      copy: copy, ours: ours)
  }

  /// The sums of times, per round.
  private static func sum(_ parts: [[FloorSample]]) -> [FloorSample] {
    let rounds = parts.map(\.count).min() ?? 0
    var sums: [FloorSample] = []
    for round in 0..<rounds {
      var sum = FloorSample(userSeconds: 0, systemSeconds: 0, wallSeconds: 0)
      for part in parts { sum.add(part[round]) }
      sums.append(sum)
    }
    return sums
  }

  /// The largest system time of the runs as a multiple of the smallest, for the stage where it
  /// varies most.
  var systemTimeSpread: Double {
    stages.compactMap { stage -> Double? in
      let times = stage.ours.map(\.systemSeconds)
      guard let least = times.min(), let most = times.max(), least > 0.02 else { return nil }
      return most / least
    }.max() ?? 1
  }
}
