/// The numbers that scripts check; the gravest wins.
public enum ExitStatus {
  public static let success = 0
  public static let jobFailed = 1
  public static let usage = 64
  public static let noCapture = 65
  public static let notInstalled = 69
  public static let internalError = 70
  public static let cannotWrite = 73
  public static let locked = 75
  public static let badPipeline = 78
  public static let interrupted = 130
  public static let terminated = 143

  /// From the gravest to the least.
  private static let order = [
    interrupted, terminated, internalError, cannotWrite, locked, jobFailed, success,
  ]

  /// The code that a run with all of these ends with; one that is no code of a run is graver than all.
  public static func gravest(_ codes: some Sequence<Int>) -> Int {
    codes.min { (order.firstIndex(of: $0) ?? -1) < (order.firstIndex(of: $1) ?? -1) } ?? success
  }

  /// 1 where something that the run was to make failed or was blocked, or nothing that it named can be made of any
  /// capture.
  static func of(_ report: RunReport, _ codes: Set<Int>) -> Int {
    let outcomes = Set(report.captures.map(\.outcome))
    let isBad =
      outcomes.contains(where: \.hasFailed)
      || (outcomes.contains(.notPossible) && !outcomes.contains(where: \.isDone))
    return gravest(codes.union([isBad ? jobFailed : success]))
  }

  /// Every code with what it means in one sentence without a full stop, in the order of the numbers: for manual
  /// pages and help.
  public static let meanings: [(code: Int, meaning: String)] = [
    (success, "Everything asked for is done, or there was nothing to do"),
    (
      jobFailed,
      "Something that was to be made failed or was blocked; with --exit-code, also: a capture needs you"
    ),
    (usage, "The command line is wrong"),
    (noCapture, "What was named is not a readable capture"),
    (notInstalled, "A program or library that this needs is not installed"),
    (internalError, "An internal error: please report it"),
    (
      cannotWrite,
      "The output cannot be written: disk full, output gone or moved, a device error on its side"
    ),
    (locked, "Another run holds the lock, or the cluster cannot be reached"),
    (badPipeline, "A pipeline file or another configuration file is invalid"),
    (interrupted, "Interrupted (SIGINT)"),
    (terminated, "Terminated (SIGTERM)"),
  ]
}
