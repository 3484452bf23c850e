import Foundation
import TestSupport
import Testing

@testable import Benchmarking

@Suite struct RatioIntervalTests {
  /// How runs of one program may vary.
  enum Machine: CaseIterable, Sendable {
    /// By a percent, by a fifth.
    case quiet, noisy
    /// Some runs take much longer than most.
    case skewed
    /// One run in five takes twice as long.
    case disturbed

    func run(_ random: inout SeededGenerator) -> Double {
      switch self {
      case .quiet: 1 + 0.01 * Self.normal(&random)
      case .noisy: max(0.1, 1 + 0.2 * Self.normal(&random))
      case .skewed: exp(0.3 * Self.normal(&random))
      case .disturbed: (1 + 0.01 * Self.normal(&random)) * (random.chance(5) ? 2 : 1)
      }
    }

    private static func normal(_ random: inout SeededGenerator) -> Double {
      let (a, b) = (
        Double.random(in: 1e-12..<1, using: &random), Double.random(in: 0..<1, using: &random)
      )
      return (-2 * log(a)).squareRoot() * cos(2 * .pi * b)
    }

    func runs(_ count: Int, _ random: inout SeededGenerator) -> [Double] {
      (0..<count).map { _ in run(&random) }
    }
  }

  /// The verdict on two programs whose runs take `now` and `before`.
  private static func verdict(
    _ now: [Double], _ before: [Double], tolerance: Double
  ) throws -> BaselineComparison.Verdict {
    let (now, before) = try (#require(Distribution(now)), #require(Distribution(before)))
    return BaselineComparison.Line(
      capture: "c", jobs: 1, name: "whole", quantity: "wallSeconds", before: before.median,
      now: now.median, tolerance: tolerance,
      interval: RatioInterval(now: now.samples, before: before.samples), isMeasured: true
    ).verdict
  }

  @Test(
    "One program is never worse or better than itself, over many measurements",
    arguments: Machine.allCases)
  func same(machine: Machine) throws {
    for seed in 0..<Rounds.of(60, soak: 300) {
      var random = SeededGenerator(seed: UInt64(seed))
      let count = [5, 6, 7, 10][seed % 4]
      let (now, before) = (machine.runs(count, &random), machine.runs(count, &random))
      let verdict = try Self.verdict(now, before, tolerance: 0.05)
      #expect(verdict == .same || verdict == .uncertain, "seed \(seed)")
    }
  }

  @Test("A tenth more is reported where runs vary by half a percent, in either direction")
  func tenth() throws {
    for seed in 0..<Rounds.of(20, soak: 100) {
      var random = SeededGenerator(seed: UInt64(seed))
      let (now, before) = (
        Machine.quiet.runs(10, &random).map { 1.1 * (1 + ($0 - 1) / 2) },
        Machine.quiet.runs(10, &random).map { 1 + ($0 - 1) / 2 }
      )
      #expect(try Self.verdict(now, before, tolerance: 0.05) == .worse, "seed \(seed)")
      #expect(try Self.verdict(before, now, tolerance: 0.05) == .better, "seed \(seed)")
    }
  }

  @Test("The fewer the runs, the wider, and the same samples give the same interval")
  func few() throws {
    var random = SeededGenerator(seed: 7)
    let runs = Machine.quiet.runs(10, &random)
    let widths = try [10, 5, 3, 2, 1].map { count in
      let some = Array(runs.prefix(count))
      let interval = try #require(RatioInterval(now: some, before: some))
      #expect(interval == RatioInterval(now: some, before: some))
      return interval.upper / interval.lower
    }
    #expect(widths == widths.sorted())
    #expect(RatioInterval(now: [], before: [1]) == nil)
    #expect(RatioInterval(now: [1], before: [0]) == nil)
    #expect(RatioInterval(now: [-1, 2], before: [1, 1]) == nil)
  }

  @Test("Doubt widens both ends")
  func doubt() throws {
    let runs = [1.0, 1.01, 0.99, 1, 1]
    let sure = try #require(RatioInterval(now: runs, before: runs))
    let unsure = try #require(RatioInterval(now: runs, before: runs, doubt: 0.5))
    #expect(abs(unsure.upper / sure.upper - 1.5) < 1e-9)
    #expect(abs(sure.lower / unsure.lower - 1.5) < 1e-9)
  }
}
