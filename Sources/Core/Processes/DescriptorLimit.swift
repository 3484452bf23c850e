import CPlatform
import Synchronization

/// How many descriptors this process may have open.
public enum DescriptorLimit {
  private static let given = Mutex<UInt64?>(nil)

  /// More than this program ever opens.
  private static let enough: UInt64 = 65536

  /// Raises the soft limit as far as the hard limit allows. Programs of others are started with the
  /// original limit, because some fail with a high one.
  static func raise() {
    let limit = scanmill_descriptor_limit()
    let target = min(limit.hard, enough)
    guard limit.soft < target, scanmill_set_descriptor_limit(target) == 0 else { return }
    given.withLock { $0 = $0 ?? limit.soft }
  }

  /// The limit with which this process was started, if it has been raised since; passed on to
  /// workers.
  public static var original: UInt64? {
    get { given.withLock { $0 } }
    set { given.withLock { $0 = newValue } }
  }

  /// The current limit.
  public static var current: Int { Int(clamping: scanmill_descriptor_limit().soft) }
}

/// How many processes and threads the user of this process may have; unlimited for root.
public enum ProcessLimit {
  /// The current limit; `nil` if there is none.
  public static var current: Int? {
    let limit = scanmill_process_limit()
    return limit == UInt64.max ? nil : Int(clamping: limit)
  }
}

/// How much address space a process may have (`ulimit -v`).
public enum AddressSpaceLimit {
  /// The current limit; `nil` if there is none.
  public static var currentBytes: Int64? {
    let limit = scanmill_address_space_limit()
    return limit == UInt64.max ? nil : Int64(clamping: limit)
  }
}

/// The least resources with which any part of the program works.
public enum LeastResources {
  /// Standard streams, the pipes of one worker, a journal, and what libraries keep open. Measured:
  /// with 6 the runtime itself cannot continue.
  static let descriptors = 12
  /// Measured: with less, libraries and their threads cannot be mapped, and the runtime ends the
  /// process.
  static let addressSpaceBytes: Int64 = 512 << 20

  /// What is missing, with the remedy; `nil` when there is enough.
  public static var shortage: String? {
    if DescriptorLimit.current < descriptors {
      return "only \(DescriptorLimit.current) files may be open at a time, at least \(descriptors) "
        + "are needed; raise ulimit -n"
    }
    if let bytes = AddressSpaceLimit.currentBytes, bytes < addressSpaceBytes {
      return "the address space is limited to \(bytes >> 20) MiB, at least "
        + "\(addressSpaceBytes >> 20) MiB are needed; raise ulimit -v"
    }
    return nil
  }
}
