import CPlatform

/// What `--nice` does to a worker: it takes what others leave over, and goes first when memory is short.
public enum Niceness {
  /// Lowers this process: nice 19, I/O class idle, OOM score 1000. To be called at the start of a worker;
  /// threads and programs that it starts inherit it. What the machine does not allow is left out.
  public static func lower() { scanmill_lower_priority() }
}
