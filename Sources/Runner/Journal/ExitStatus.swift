/// The numbers that scripts check; the gravest wins.
public enum ExitStatus {
  public static let success = 0
  public static let jobFailed = 1
  public static let usage = 64
  public static let noCapture = 65
  public static let internalError = 70
  public static let cannotWrite = 73
  public static let locked = 75
  public static let badPipeline = 78
  public static let interrupted = 130
  public static let terminated = 143

  static func of(_ report: RunReport, hadOutputFailure: Bool, wasLocked: Bool) -> Int {
    if hadOutputFailure { return cannotWrite }
    if wasLocked { return locked }
    let isBad = report.captures.contains { $0.outcome == .failed || $0.outcome == .blocked }
    return isBad ? jobFailed : success
  }
}
