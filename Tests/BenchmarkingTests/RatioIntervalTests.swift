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

@Suite struct StatisticsTests {
  @Test(
    "Percentiles lie on straight lines between the sorted samples",
    arguments: [
      ([3.0], [3.0, 3, 3, 3, 3]),
      ([2, 1], [1, 1.1, 1.5, 1.9, 2]),
      ([5, 1, 3, 2, 4], [1, 1.4, 3, 4.6, 5]),
    ])
  func percentiles(samples: [Double], expected: [Double]) throws {
    let found = try #require(Distribution(samples))
    #expect(found.samples == samples)
    let all = [
      found.minimum, found.percentile10, found.median, found.percentile90, found.maximum,
    ]
    for (value, expectation) in zip(all, expected) { #expect(abs(value - expectation) < 1e-12) }
  }

  @Test("There is no distribution of nothing")
  func nothing() {
    #expect(Distribution([]) == nil)
    #expect(
      JobsFigures(jobs: 1, samples: [], frames: 1, inputBytes: 1) == nil)
  }

  @Test("Rates come from the median run, memory from the worst")
  func rates() throws {
    let run = try #require(
      JobsFigures(
        jobs: 2,
        samples: [
          Samples.run(wall: 2, cpu: 4), Samples.run(wall: 4, cpu: 6, memory: 1 << 30),
          Samples.run(wall: 3, cpu: 5),
        ], frames: 300, inputBytes: 6_000_000))
    #expect(run.whole.framesPerSecond == 100)
    #expect(run.whole.inputBytesPerSecond == 2_000_000)
    #expect(abs(run.whole.cpuMillisecondsPerFrame - 5000.0 / 300) < 1e-9)
    #expect(abs(run.whole.busyCores - 5.0 / 3) < 1e-9)
    #expect(run.whole.peakMemoryBytes == 1 << 30)
    // Stages that did not run have no figures.
    #expect(run.stages.map(\.name) == ["color"])
    // A stage reads parts of files: how much is not known.
    #expect(run.stages.first?.inputBytes == nil && run.stages.first?.inputBytesPerSecond == nil)
    #expect(run.stages.first?.outputBytesPerSecond == 600_000)
    #expect(run.stages.first?.peakMemoryBytes == 1 << 29)
  }

  @Test(
    "Numbers have about three digits that count",
    arguments: [
      (0.0, "0.00"), (0.005, "0.01"), (1.234, "1.23"), (9.999, "10.00"), (12.34, "12.3"),
      (123.4, "123"), (-1.5, "-1.50"), (Double.nan, "-"), (1e300, "-"),
    ])
  func numbers(value: Double, text: String) {
    #expect(shortText(value) == text)
  }

  @Test("The processor and the load are found in the texts of the kernel")
  func machine() {
    let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: a b\n"
    #expect(MachineDescription.processorName(inCPUInfo: text) == "Some CPU @ 2 GHz")
    #expect(MachineDescription.processorName(inCPUInfo: "") == nil)
    #expect(MachineDescription.load(inLoadAverage: "1.25 0.5 0.1 1/200 3\n") == 1.25)
    let current = MachineDescription.current()
    #expect(current.cores >= 1)
    #expect(current.memoryBytes > 0)
    #expect(current.system.hasPrefix("Linux"))
  }
}
