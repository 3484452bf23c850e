import Synchronization
import SystemPackage
import Glibc

/// For tests: makes steps fail as with a faulty device, network or full disk.
///
/// Affects only steps that call `fault`, and only below the folder of a rule. Without rules, a step
/// costs one atomic load.
package enum StorageFaults {
  package enum Step: String, Sendable, CaseIterable {
    case makeFolder, create, write, flush, flushFolder, flushFileSystem, rename, exchange, unlink
  }

  /// Steps that change nothing.
  enum Look: String, CaseIterable {
    case open, inspect, list, read
  }

  typealias LookRule = @Sendable (Look, FilePath) -> Errno?

  private static let isWatching = Atomic<Bool>(false)
  private static let lookRules = Mutex<[FilePath: LookRule]>([:])

  /// Installs `rule` for every step at or below `folder` that changes nothing; `nil` removes it.
  static func setLooks(below folder: FilePath, _ rule: LookRule?) {
    lookRules.withLock { rules in
      rules[folder] = rule
      isWatching.store(!rules.isEmpty, ordering: .relaxed)
    }
  }

  /// Whether a step at `path` is to fail; then `errno` tells why.
  static func fails(_ look: Look, _ path: @autoclosure () -> FilePath) -> Bool {
    guard isWatching.load(ordering: .relaxed) else { return false }
    let path = path()
    let rule = lookRules.withLock { rules in rules.first { path.starts(with: $0.key) }?.value }
    guard let error = rule?(look, path) else { return false }
    errno = error.rawValue
    return true
  }

  /// Returns the error of a step; `nil` to perform the step.
  package typealias Rule = @Sendable (Step, FilePath) -> Errno?

  private static let isArmed = Atomic<Bool>(false)
  private static let rules = Mutex<[FilePath: Rule]>([:])

  /// Installs `rule` for every step below `folder`; `nil` removes it.
  package static func set(below folder: FilePath, _ rule: Rule?) {
    rules.withLock { rules in
      rules[folder] = rule
      isArmed.store(!rules.isEmpty, ordering: .relaxed)
    }
  }

  /// The error that a rule gives for a step at `path`; `nil` if there is none.
  package static func fault(_ step: Step, _ path: @autoclosure () -> FilePath) -> Errno? {
    guard isArmed.load(ordering: .relaxed) else { return nil }
    let path = path()
    let rule = rules.withLock { rules in rules.first { path.starts(with: $0.key) }?.value }
    return rule?(step, path)
  }
}
