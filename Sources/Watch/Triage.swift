import Captures
import Core
import Engine
import FoundationEssentials

/// What a failure means for the next attempt: by its cause, not by the number of attempts alone.
public struct Triage: Sendable {
  var settings: WatchSettings

  /// What attempts are counted for: the files of a capture as they are, the program, the pipeline.
  static func key(_ stamp: FolderSignature, program: ProgramIdentity, pipeline: String) -> String {
    let text = "\(stamp.digest.hex)\n\(program.version) \(program.commit ?? "")\n\(pipeline)"
    return String(Digest(of: text).hex.prefix(32))
  }

  /// Tells pipelines with their settings apart; files that they name count by name only.
  public static func pipelineKey(_ source: PipelineSource?, strict: Bool) -> String {
    // What is asked for by name decides what is told, not what is made.
    var source = source
    source?.named = nil
    source?.listed = nil
    source?.limits = nil
    let text = source.flatMap { try? JSONText.canonical($0) } ?? []
    return Digest(of: text).hex + (strict ? " strict" : "")
  }

  /// Why a plain run leaves a capture alone: it is quarantined, and its files, the program and the pipeline
  /// are as they were then. `nil`: it is not.
  public static func quarantine(
    _ target: CaptureTarget, program: ProgramIdentity, pipelineKey: String
  ) -> TriageRecord? {
    guard let record = TriageRecord(of: target.layout), record.isQuarantined,
      let stamp = FolderSignature(of: target.recognition),
      record.key == key(stamp, program: program, pipeline: pipelineKey)
    else { return nil }
    return record
  }

  /// What a failed attempt leaves.
  ///
  /// - Parameters:
  ///   - before: what is noted for the same key.
  ///   - machineTries: tries in a row that trouble of the machine ended before this one.
  func trouble(
    after report: CaptureReport, before: TriageRecord?, machineTries: Int, isGone: Bool,
    nowSeconds: Double, now: Date
  ) -> AttemptFailure {
    let failed =
      report.stages.first { $0.outcome == .failed && $0.cause == report.cause }
      ?? report.stages.first { $0.outcome == .failed }
      ?? report.stages.first { $0.outcome == .blocked }
    let cause = isGone ? .machine : report.cause ?? failed?.cause ?? .program
    let detail = failed == nil ? report.detail : failed?.detail
    var trouble = AttemptFailure(
      Failure(
        stage: failed?.stage,
        message: (failed?.message ?? report.message ?? Failure.noReason).firstLines, cause: cause,
        detail: isGone ? FailureDetail(.inputGone) : detail),
      attempts: before?.attempts ?? 0)
    trouble.isGone = isGone
    switch cause {
    // It fails until a person has moved away what is in its place.
    case .program where detail?.code == .notOurs:
      trouble.attempts += 1
      trouble.isQuarantined = true
    case .input:
      trouble.attempts += 1
      trouble.isQuarantined = true
    case .program:
      trouble.attempts += 1
      if trouble.attempts >= settings.attempts {
        trouble.isQuarantined = true
      } else {
        wait(settings.pauseSeconds(afterAttempt: trouble.attempts), &trouble, nowSeconds, now)
      }
    case .permission:
      // Nothing but a change of files, times of change included, makes another attempt.
      trouble.attempts += 1
    case .machine:
      trouble.machineTries = machineTries + 1
      // What is gone is tried again when it is there again.
      if !isGone {
        wait(
          settings.machinePauseSeconds(afterTry: trouble.machineTries), &trouble, nowSeconds, now)
      }
    }
    return trouble
  }

  /// What an earlier watcher noted for the same key, with the time that is left; `nil`: it is due, and tried at once.
  ///
  /// Processes that live shorter than a pause try it as well, so the pause counts from the failure, by the pause that is
  /// set now where that is shorter. A wall clock that went back behind the failure tells nothing of what has passed.
  func trouble(noted record: TriageRecord, nowSeconds: Double, now: Date) -> AttemptFailure? {
    var trouble = AttemptFailure(record.failure, attempts: record.attempts)
    trouble.isGone = record.isGone
    trouble.isNoted = true
    trouble.isQuarantined = record.isQuarantined
    if record.isQuarantined { return trouble }
    if record.cause == .permission {
      return record.user == ProcessRights.text ? trouble : nil
    }
    guard record.cause == .program, let at = record.retryAt, let date = MomentText.date(of: at),
      let failed = MomentText.date(of: record.time), failed <= now
    else { return nil }
    let due = min(
      date, failed.addingTimeInterval(settings.pauseSeconds(afterAttempt: record.attempts)))
    guard due > now else { return nil }
    wait(due.timeIntervalSince(now), &trouble, nowSeconds, now)
    return trouble
  }

  private func wait(
    _ seconds: Double, _ trouble: inout AttemptFailure, _ nowSeconds: Double, _ now: Date
  ) {
    trouble.retryAtSeconds = nowSeconds + seconds
    trouble.retryAt = MomentText.utc(now.addingTimeInterval(seconds))
  }

  /// The note that is left in the capture's folder.
  func record(_ trouble: AttemptFailure, key: String, run: String, time: String) -> TriageRecord {
    var record = TriageRecord(
      key: key, attempts: trouble.attempts, trouble.failure, run: run, time: time,
      retryAt: trouble.retryAt, isQuarantined: trouble.isQuarantined, isGone: trouble.isGone)
    if trouble.cause == .permission { record.user = ProcessRights.text }
    return record
  }
}

extension String {
  /// The first lines: logs may follow.
  fileprivate var firstLines: String {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).prefix(4)
      .joined(separator: "\n")
  }
}

#if canImport(Glibc)
  import Glibc
#endif

/// What decides which files this process may read: user and groups.
enum ProcessRights {
  /// `1000 1000 27`: numbers of the user, and of all groups in order.
  static let text: String = {
    var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
    let count = getgroups(Int32(groups.count), &groups)
    let all = Set(groups.prefix(Int(max(0, count))) + [getegid()]).sorted()
    return ([UInt32(geteuid())] + all).map { "\($0)" }.joined(separator: " ")
  }()
}

extension MomentText {
  /// `2026-11-20T22:00:00.000Z`.
  static func utc(_ date: Date) -> String {
    UTCText.text(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded(.down)))
  }

  /// What `utc` wrote, or the same without a fraction; `nil` for anything else.
  public static func date(of text: String) -> Date? {
    ISOTime(text).map {
      Date(timeIntervalSince1970: Double($0.seconds) + Double($0.fraction) / 1e9)
    }
  }
}
