import Synchronization
import SystemPackage

/// A seam for tests: steps of writing that fail as a device, a network or a full disk would make them.
///
/// Only what goes through `HeldFolder` is asked, and only below the folder of a rule; without any rule a
/// step costs one look at a flag.
package enum StorageFaults {
  package enum Step: String, Sendable, CaseIterable {
    case makeFolder, create, write, flush, flushFolder, flushFileSystem, rename, exchange, unlink
  }

  /// What to answer in place of the file system; `nil`: let it do the step.
  package typealias Rule = @Sendable (Step, FilePath) -> Errno?

  private static let isArmed = Atomic<Bool>(false)
  private static let rules = Mutex<[FilePath: Rule]>([:])

  /// From now on `rule` is asked about every step below `folder`; `nil` ends it.
  package static func set(below folder: FilePath, _ rule: Rule?) {
    rules.withLock { rules in
      rules[folder] = rule
      isArmed.store(!rules.isEmpty, ordering: .relaxed)
    }
  }

  /// The fault of a step at `path`.
  package static func fault(_ step: Step, _ path: @autoclosure () -> FilePath) -> Errno? {
    guard isArmed.load(ordering: .relaxed) else { return nil }
    let path = path()
    let rule = rules.withLock { rules in rules.first { path.starts(with: $0.key) }?.value }
    return rule?(step, path)
  }
}
