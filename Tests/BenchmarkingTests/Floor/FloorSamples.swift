import SystemPackage

@testable import Benchmarking

extension Samples {
  /// Seconds of CPU; a tenth of them in the kernel.
  static func part(
    _ cpu: Double, pictures: Int = 100, pixels: Int64 = 200_000_000, bytes: Int64 = 5_000_000
  ) -> FloorSample {
    FloorSample(
      userSeconds: cpu * 0.75, systemSeconds: cpu * 0.25, wallSeconds: cpu, pictures: pictures,
      pixels: pixels, files: pictures + 1, bytes: bytes)
  }

  /// Our run, with two cores half of the time.
  static func ours(_ cpu: Double) -> FloorSample {
    FloorSample(userSeconds: cpu * 0.75, systemSeconds: cpu * 0.25, wallSeconds: cpu / 1.5)
  }

  static func stage(
    _ name: String, reading: [FloorPart], parts: [FloorPart: Double], ours: Double
  ) -> FloorRounds.Stage {
    FloorRounds.Stage(
      name: name, parts: parts.mapValues { [part($0)] }, ours: [Samples.ours(ours)],
      reading: reading)
  }

  /// A round of a capture with color, depth and aligned depth; `scale` times as slow as another.
  static func round(_ scale: Double = 1) -> (FloorRound, whole: FloorSample) {
    var round = FloorRound(folder: "/r")
    round.stages = [
      stage(
        "color", reading: [.decode, .convert],
        parts: [.decode: 1.5 * scale, .convert: 1.75 * scale, .copy: 0.25 * scale],
        ours: 3 * scale),
      stage(
        "depth", reading: [.depth], parts: [.depth: 0.25 * scale, .copy: 0.25 * scale],
        ours: 1 * scale),
      stage(
        "aligned", reading: [.depth], parts: [.depth: 0.25 * scale, .copy: 0.5 * scale],
        ours: 2 * scale),
    ]
    return (round, Samples.ours(5 * scale))
  }

  static func floor(_ scales: [Double] = [1, 2, 4]) -> FloorFigures {
    var rounds = FloorRounds()
    for scale in scales {
      let (round, whole) = Samples.round(scale)
      rounds.add(round, whole: whole)
    }
    var figures = FloorFigures(jobs: 2, rounds: scales.count)
    figures.stages = rounds.figures
    figures.whole = rounds.wholeFigures(frames: 100)
    return figures
  }
}
