import ArgumentParser
import Benchmarking
import Pipeline
import Runner
import Storage
import SystemPackage

extension BenchCommand {
  func conclude(_ report: BenchmarkReport, _ earlier: BenchmarkReport?) throws {
    let comparison = toleranceShare.flatMap { tolerance in
      earlier.map { BaselineComparison(now: report, before: $0, tolerance: tolerance) }
    }
    if json {
      Console.print(json: try JSONText.pretty(report))
      if let comparison { Console.error(BenchmarkTable.text(comparison)) }
    } else {
      Console.print(BenchmarkTable.text(report))
      if let comparison { Console.print(BenchmarkTable.text(comparison)) }
    }
    try checkPeers(report)
    try checkFloors(report)
    if let comparison { try judge(comparison) }
  }

  /// Two reports that were measured earlier.
  func tellChange(from before: BenchmarkReport, to now: BenchmarkReport) throws {
    let comparison = BaselineComparison(
      now: now, before: before, tolerance: toleranceShare ?? 0)
    if json {
      Console.print(json: try JSONText.pretty(comparison))
    } else {
      Console.print(BenchmarkTable.text(comparison, isWhole: true))
    }
    try judge(comparison)
  }

  private func judge(_ comparison: BaselineComparison) throws {
    if comparison.lines.isEmpty {
      throw Failure(
        code: ExitStatus.jobFailed,
        text: "the baseline has nothing that could be compared; measure the same captures and jobs")
    }
    if !comparison.regressions.isEmpty { throw Exit(code: ExitStatus.jobFailed) }
  }

  static func report(_ file: String) throws -> BenchmarkReport {
    do {
      let bytes = try MappedFile(FilePath(file)).withBytes { $0.withUnsafeBytes { Array($0) } }
      return try BenchmarkReport(json: bytes)
    } catch let error as FileError {
      throw ValidationError("\(error); give what `scanmill bench --json` printed")
    } catch {
      throw ValidationError(
        "\(file): is not a report: give what `scanmill bench --json` printed (\(error))")
    }
  }
}
