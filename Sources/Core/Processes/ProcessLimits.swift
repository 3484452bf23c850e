import CPlatform
import Glibc
import Synchronization

/// The first steps of each program.
public enum ProgramStart {
  /// The words that this process was started with, the name of the program first, in the form of `PathText`, which
  /// preserves all bytes. Taken from what the system hands to the process: `CommandLine` looks for them in `/proc` and
  /// around the environment, and finds none where the one is not mounted or the other was moved.
  public static let arguments: [String] = {
    var words: UnsafePointer<UnsafePointer<CChar>?>?
    let count = Int(scanmill_arguments(&words))
    return (0..<max(0, count)).compactMap { index in
      words?[index].map { PathText.text(of: $0) }
    }
  }()

  /// Writing to a closed pipe, and beyond a limit of file sizes (`ulimit -f`), becomes an error of the call in place of
  /// a signal that ends the process without a word. As many files may be open as the system allows.
  public static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    ProcessLimits.raiseDescriptors()
  }
}

/// What this process may have, by limits of the system (`ulimit`).
public enum ProcessLimits {
  private static let given = Mutex<UInt64?>(nil)

  /// More than this program ever opens.
  private static let enough: UInt64 = 65536

  /// Raises the soft limit as far as the hard limit allows. Programs of others are started with the
  /// original limit, because some fail with a high one.
  static func raiseDescriptors() {
    let limit = scanmill_descriptor_limit()
    let target = min(limit.hard, enough)
    guard limit.soft < target, scanmill_set_descriptor_limit(target) == 0 else { return }
    given.withLock { $0 = $0 ?? limit.soft }
  }

  /// The limit with which this process was started, if it has been raised since; passed on to
  /// workers.
  public static var originalDescriptors: UInt64? {
    get { given.withLock { $0 } }
    set { given.withLock { $0 = newValue } }
  }

  /// How many descriptors may be open.
  public static var descriptors: Int { Int(clamping: scanmill_descriptor_limit().soft) }

  /// How many processes and threads the user may have; `nil`: unlimited, as for root.
  public static var processes: Int? {
    let limit = scanmill_process_limit()
    return limit == UInt64.max ? nil : Int(clamping: limit)
  }

  /// How much address space there may be (`ulimit -v`); `nil` if there is no limit.
  public static var addressSpaceBytes: Int64? {
    let limit = scanmill_address_space_limit()
    return limit == UInt64.max ? nil : Int64(clamping: limit)
  }

  /// Lets threads allocate from few arenas of the C library: one for every four cores, at least two. By default there are
  /// eight for each core, and each keeps as much freed memory as its threads ever needed. To be called before threads are
  /// started.
  public static func limitArenas() {
    scanmill_limit_arenas(Int32(clamping: max(2, ProcessorCount.available / 4)))
  }

  /// Standard streams, the pipes of one worker, a journal, and what libraries keep open. Measured: with 6 the runtime
  /// itself cannot continue.
  private static let leastDescriptors = 12
  /// Measured: with less address space, libraries and their threads cannot be mapped, and the runtime ends the
  /// process.
  private static let leastAddressSpaceBytes: Int64 = 512 << 20

  /// What is missing, with the remedy; `nil` when there is enough.
  public static var shortage: String? {
    if descriptors < leastDescriptors {
      return "only \(descriptors) files may be open at a time, at least \(leastDescriptors) "
        + "are needed; raise ulimit -n"
    }
    if let bytes = addressSpaceBytes, bytes < leastAddressSpaceBytes {
      return "the address space is limited to \(bytes >> 20) MiB, at least "
        + "\(leastAddressSpaceBytes >> 20) MiB are needed; raise ulimit -v"
    }
    return nil
  }
}
