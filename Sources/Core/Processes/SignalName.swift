import CPlatform

#if canImport(Glibc)
  import Glibc
#endif

/// Names of signals, for messages.
public enum SignalName {
  private static let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
    SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
    SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM",
    SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
  ]

  /// Whether this process ignores the signal, by inheritance or since its start.
  public static func isIgnored(_ number: Int32) -> Bool { scanmill_is_ignored(number) != 0 }

  /// The name, such as `SIGSEGV`; `signal 42` for numbers without one.
  public static func text(_ number: Int32) -> String { names[number] ?? "signal \(number)" }
}
