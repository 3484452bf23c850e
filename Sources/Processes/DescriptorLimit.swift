import CPlatform
import Synchronization

/// How many descriptors this process may have open.
public enum DescriptorLimit {
  private static let given = Mutex<UInt64?>(nil)

  /// More than anything of ours comes to use.
  private static let enough: UInt64 = 65536

  /// Raises the limit as far as the user lets us. Programs of others get back what was given: some break
  /// when it is high.
  public static func raise() {
    let limit = scanmill_descriptor_limit()
    let target = min(limit.hard, enough)
    guard limit.soft < target, scanmill_set_descriptor_limit(target) == 0 else { return }
    given.withLock { $0 = $0 ?? limit.soft }
  }

  /// What this process was started with, if it has been raised since; told to workers.
  public static var original: UInt64? {
    get { given.withLock { $0 } }
    set { given.withLock { $0 = newValue } }
  }

  /// How many may be open now.
  public static var current: Int { Int(clamping: scanmill_descriptor_limit().soft) }
}

/// How many processes and threads the user of this process may have; root may have any number.
public enum ProcessLimit {
  /// `nil` where nothing limits them.
  public static var current: Int? {
    let limit = scanmill_process_limit()
    return limit == UInt64.max ? nil : Int(clamping: limit)
  }
}
