import Testing

@testable import Benchmarking

@Suite struct FloorBaselineTests {
  private static func report(_ floor: FloorFigures?) -> BenchmarkReport {
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)])
    report.captures[0].floor = floor
    return report
  }

  private static let rounds = [1.0, 1, 1, 1, 1]

  /// Only our color runs are slower than before, by a part of their time.
  private static func slower(_ part: Double) -> FloorFigures {
    var rounds = FloorRounds()
    for _ in Self.rounds {
      var (round, whole) = Samples.round()
      round.stages[0].ours = [Samples.ours(3 * (1 + part))]
      rounds.add(round, whole: whole)
    }
    var figures = Samples.floor(Self.rounds)
    figures.stages = rounds.figures
    return figures
  }

  private static let quantity = "aboveFloorMillisecondsPerMegapixel"

  @Test(
    "What is above the floor counts, per megapixel: a tenth of a run is three tenths of it",
    arguments: [(0.0, 0.1, false), (0.1, 0.2, true), (0.1, 0.4, false), (-0.1, 0, false)])
  func above(part: Double, tolerance: Double, isWorse: Bool) throws {
    let comparison = BaselineComparison(
      now: Self.report(Self.slower(part)), before: Self.report(Samples.floor(Self.rounds)),
      tolerance: tolerance)
    let lines = comparison.lines.filter { $0.quantity == Self.quantity }
    #expect(lines.map(\.name) == ["color", "depth", "aligned", "whole"])
    let color = try #require(lines.first)
    #expect(color.before == 5)
    #expect(abs(color.change - 3 * part) < 1e-9)
    #expect(comparison.regressions.map(\.name) == (isWorse ? ["color"] : []))
  }

  @Test("One slow round among others is the machine")
  func slowRound() {
    let comparison = BaselineComparison(
      now: Self.report(Samples.floor([1, 3, 1, 1, 1])),
      before: Self.report(Samples.floor(Self.rounds)), tolerance: 0)
    #expect(comparison.regressions.isEmpty)
  }

  @Test("A baseline without floor, or with other cores, is said to be so")
  func notes() {
    let floor = Samples.floor([1])
    var other = floor
    other.jobs = 1
    for before in [nil, other] {
      let comparison = BaselineComparison(
        now: Self.report(floor), before: Self.report(before), tolerance: 0)
      #expect(comparison.notes.count == 1)
      #expect(!comparison.lines.contains { $0.quantity == Self.quantity })
    }
    // A floor that was not measured again is told.
    let comparison = BaselineComparison(
      now: Self.report(nil), before: Self.report(floor), tolerance: 0)
    #expect(comparison.notes == ["c: a floor is in the baseline only"])
  }
}
