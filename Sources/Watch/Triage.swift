import Captures
import Core
import Engine
import FoundationEssentials
import Glibc

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
    // Names in the request decide what is reported, not what is made.
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
  ) -> Failure? {
    guard let record = Failure(triageOf: target.layout), record.isQuarantined == true,
      let stamp = FolderSignature(of: target.recognition),
      record.key == key(stamp, program: program, pipeline: pipelineKey)
    else { return nil }
    return record
  }

  /// What a failed attempt leaves.
  ///
  /// - Parameters:
  ///   - attemptsBefore: what is noted for the same key.
  ///   - machineTries: tries in a row that trouble of the machine ended before this one.
  func failure(
    after report: CaptureReport, attemptsBefore: Int?, machineTries: Int, isGone: Bool,
    nowSeconds: Double, now: Date
  ) -> Failure {
    let failed =
      report.stages.first { $0.outcome == .failed && $0.why.cause == report.why.cause }
      ?? report.stages.first { $0.outcome == .failed }
      ?? report.stages.first { $0.outcome == .blocked }
    let cause = isGone ? .machine : report.why.cause ?? failed?.why.cause ?? .program
    let detail = (failed?.why ?? report.why).detail
    // Missing files and machine errors do not count as attempts of the capture.
    let attempts = (attemptsBefore ?? 0) + (cause == .machine ? 0 : 1)
    var failure = Failure(
      stage: failed?.stage,
      message: (failed?.why.message ?? report.why.message ?? Failure.noReason).firstLines,
      cause: cause,
      detail: isGone ? FailureDetail(.inputGone) : detail, attempts: attempts)
    (failure.isGone, failure.isQuarantined) = (isGone, false)
    switch cause {
    // The stage fails until a person moves the foreign file away.
    case .program where detail?.code == .notOurs: failure.isQuarantined = true
    case .input: failure.isQuarantined = true
    case .program where attempts >= settings.attempts: failure.isQuarantined = true
    case .program: wait(settings.pauseSeconds(afterAttempt: attempts), &failure, nowSeconds, now)
    // Nothing but a change of files, times of change included, makes another attempt.
    case .permission: failure.user = Self.rights
    case .machine:
      failure.machineTries = machineTries + 1
      // A capture that is gone is tried again when it is back.
      if !isGone {
        wait(
          settings.machinePauseSeconds(afterTry: failure.machineTries), &failure, nowSeconds, now)
      }
    }
    return failure
  }

  /// What an earlier watcher noted for the same key, with the time that is left; `nil`: it is due, and tried at once.
  ///
  /// Processes that live shorter than a pause try it as well, so the pause counts from the failure, by the pause that is
  /// set now where that is shorter. A wall clock that went back behind the failure tells nothing of what has passed.
  func failure(noted record: Failure, nowSeconds: Double, now: Date) -> Failure? {
    var failure = record
    failure.isNoted = true
    failure.retryAt = nil
    if record.isQuarantined == true { return failure }
    if record.cause == .permission {
      return record.user == Self.rights ? failure : nil
    }
    guard record.cause == .program, let at = record.retryAt, let date = MomentText.date(of: at),
      let failed = record.time.flatMap(MomentText.date), failed <= now
    else { return nil }
    let due = min(
      date, failed.addingTimeInterval(settings.pauseSeconds(afterAttempt: record.attempts ?? 1)))
    guard due > now else { return nil }
    wait(due.timeIntervalSince(now), &failure, nowSeconds, now)
    return failure
  }

  private func wait(
    _ seconds: Double, _ failure: inout Failure, _ nowSeconds: Double, _ now: Date
  ) {
    failure.retryAtSeconds = nowSeconds + seconds
    failure.retryAt = MomentText.utc(now.addingTimeInterval(seconds))
  }
}

extension String {
  /// The first lines: logs may follow.
  fileprivate var firstLines: String {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).prefix(4)
      .joined(separator: "\n")
  }
}

extension Triage {
  /// What decides which files this process may read, `1000 1000 27`: numbers of the user, and of all groups in order.
  private static let rights: String = {
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
