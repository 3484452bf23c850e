import Captures
import Core

/// What has become of the stages of one capture so far, and the report that this adds up to.
struct CaptureResults {
  private var results: [String: JobResult] = [:]

  subscript(stage: String) -> JobResult? {
    get { results[stage] }
    set { results[stage] = newValue }
  }

  /// Whether something that a job needed was short.
  var lacksResources: Bool { results.values.contains { $0.verdict?.isShortage == true } }

  /// The exit codes that failed jobs ask for.
  var codes: Set<Int> { Set(results.values.compactMap(\.verdict?.exit)) }

  /// - Parameters:
  ///   - stages: the names, in pipeline order; those without a result are left out.
  ///   - report: who it is about, empty otherwise.
  ///   - found: the warnings of opening the capture; those of the stages are added.
  ///   - lacking: streams of which opening found less than is declared.
  ///   - shortfallPercent: how much of it may be lost.
  ///   - named: stages that were asked for by name.
  func report(
    of stages: [String], into report: CaptureReport, found: [CaptureWarning],
    lacking: [StreamClaim] = [], shortfallPercent: Double = Shortfall.usualPercent, isStrict: Bool,
    named: [String] = []
  ) -> CaptureReport {
    var report = report
    var warnings: [CaptureWarning] = []
    var holes: [String: FrameHoles] = [:]
    for stage in stages {
      guard var result = results[stage] else { continue }
      if result.report.outcome == .notApplicable, named.contains(stage) {
        result.report.askedByName = true
      }
      report.stages.append(result.report)
      warnings = warnings.merged(with: result.warnings)
      holes.merge(result.holes) { $0.lostShare >= $1.lostShare ? $0 : $1 }
    }
    report.warnings = found.merged(with: warnings)
    let shortfalls = Shortfall.found(lacking: lacking, holes: holes, percent: shortfallPercent)
    report.shortfalls = shortfalls.isEmpty ? nil : shortfalls
    report.conclude(isStrict: isStrict)
    return report
  }
}

extension CaptureReport {
  /// Sets the outcome that follows from the stages and, if `isStrict`, from the warnings.
  mutating func conclude(isStrict: Bool) {
    if !stages.isEmpty, stages.allSatisfy({ $0.outcome == .notApplicable }) {
      let why = stages.compactMap { stage in
        stage.message.map { "\(stage.stage) does not apply (\($0))" }
      }
      message = "nothing to do: " + why.joined(separator: ", ")
    }
    cause = FailureCause.deciding(stages.filter { $0.outcome == .failed }.compactMap(\.cause))
    if stages.contains(where: { $0.outcome == .failed }) {
      outcome = .failed
    } else if stages.contains(where: { $0.outcome == .cancelled }) {
      outcome = .interrupted
    } else if stages.contains(where: { $0.outcome == .blocked }) {
      outcome = .blocked
    } else {
      // Notes fail nothing.
      let count = isStrict ? warningCount : WarningCount([])
      outcome = count.isNone ? .done : .failed
      cause = count.isNone ? nil : .input
      if !count.isNone {
        message =
          "--strict: there \(Plural.word(count.kinds, "is", "are")) \(count.sentence); "
          + "run without it to accept them"
      }
    }
  }
}
