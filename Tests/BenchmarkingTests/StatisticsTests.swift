import Testing

@testable import Benchmarking

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
