@testable import Benchmarking

/// Runs and reports for tests.
enum Samples {
  static func run(
    wall: Double, cpu: Double, memory: Int64 = 100 << 20, bytes: Int64 = 1_000_000,
    colorCPU: Double = 1
  ) -> RunSample {
    RunSample(
      wallSeconds: wall, cpuSeconds: cpu, peakMemoryBytes: memory, outputBytes: bytes,
      stages: [
        RunOutcome.Stage(
          stage: "color", outcome: "made", message: nil, seconds: wall / 2, cpuSeconds: colorCPU,
          frames: 100, bytes: 900_000, peakMemoryBytes: memory / 2),
        RunOutcome.Stage(
          stage: "imu", outcome: "not-possible", message: nil, seconds: nil, cpuSeconds: nil,
          frames: nil, bytes: nil),
      ])
  }

  static let machine = MachineDescription(
    processor: "A", cores: 2, memoryBytes: 8 << 30, system: "Linux 6 x86_64", loadBefore: 0.5)

  static func report(
    _ samples: [RunSample], jobs: [Int] = [2], id: String = "c",
    machine: MachineDescription = machine
  ) -> BenchmarkReport {
    var report = BenchmarkReport(
      version: "1", machine: machine,
      settings: BenchmarkReport.Settings(pipeline: "p", repeats: 3, warmups: 1, isCold: false))
    var capture = CaptureFigures(
      id: id, family: "scannet", frames: 100, inputBytes: 5_000_000)
    capture.runs = jobs.compactMap {
      JobsFigures(
        jobs: $0, samples: samples, frames: 100, inputBytes: 5_000_000)
    }
    report.captures = [capture]
    return report
  }
}
