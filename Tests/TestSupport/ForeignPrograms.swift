import Foundation

/// Programs of other people: judges of what we write (FFmpeg, loaders in Python, Chromium), or around us (Slurm).
public enum ForeignPrograms {
  /// Whether tests with them are left out although they may be installed: `make check`.
  public static let areLeftOut = ProcessInfo.processInfo.environment["SCANMILL_CHECK"] == "1"

  /// Why all are left out; empty: they are not.
  public static let absence = areLeftOut ? "left out by make check" : ""
}
