import Synchronization
import SystemPackage

/// For tests: makes writing steps fail as with a faulty device, network or full disk.
///
/// Affects only steps that call `fault`, and only below the folder of a rule. Without rules, a step
/// costs one atomic load.
package enum StorageFaults {
  package enum Step: String, Sendable, CaseIterable {
    case makeFolder, create, write, flush, flushFolder, flushFileSystem, rename, exchange, unlink
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
