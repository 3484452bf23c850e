@testable import Captures
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import Glibc

/// Looks into running toy stages of one capture, and disturbs them.
final class Probe: Sendable {
  typealias Hook = @Sendable (StageContext) throws -> Void

  private static let all = Mutex<[String: Probe]>([:])
  private let ran = Mutex<[String]>([])
  private let opened = Mutex(0)
  private let problems = Mutex<[String: [String]]>([:])
  private let copied = Mutex<[String: Set<CapturePart>]>([:])
  private let hooks = Mutex<(enter: [String: Hook], leave: [String: Hook])>(([:], [:]))

  /// The one of the capture in `folder`.
  static func of(_ folder: FilePath) -> Probe {
    all.withLock { all in
      let probe = all[folder.string] ?? Probe()
      all[folder.string] = probe
      return probe
    }
  }

  static func forget(_ folder: FilePath) {
    all.withLock { $0[folder.string] = nil }
  }

  /// Lets others go on.
  static func pause() { usleep(2_000) }

  /// What `stage` does before its work, or after.
  func before(_ stage: String, _ hook: Hook?) { hooks.withLock { $0.enter[stage] = hook } }
  func after(_ stage: String, _ hook: Hook?) { hooks.withLock { $0.leave[stage] = hook } }

  /// Stages that did work since the last call, sorted.
  func takeRan() -> [String] {
    ran.withLock { ran in
      defer { ran = [] }
      return ran.sorted()
    }
  }

  /// How often the capture was opened since the last call.
  func takeOpened() -> Int {
    opened.withLock { opened in
      defer { opened = 0 }
      return opened
    }
  }

  /// What `stage` says could not be made.
  func setProblems(_ problems: [String], of stage: String) {
    self.problems.withLock { $0[stage] = problems }
  }

  func problems(of stage: String) -> [String] { problems.withLock { $0[stage] ?? [] } }

  /// The parts of the capture that `stage` says it copied.
  func setCopied(_ parts: Set<CapturePart>, by stage: String) {
    copied.withLock { $0[stage] = parts }
  }

  func copied(by stage: String) -> Set<CapturePart> { copied.withLock { $0[stage] ?? [] } }

  func open() { opened.withLock { $0 += 1 } }

  func enter(_ context: StageContext) throws {
    ran.withLock { $0.append(context.stage) }
    try hooks.withLock { $0.enter[context.stage] }?(context)
  }

  func leave(_ context: StageContext) throws {
    try hooks.withLock { $0.leave[context.stage] }?(context)
  }
}
