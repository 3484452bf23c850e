import ArgumentParser
import Engine
import Core

/// The date syntax shared by all `--since` options.
enum DateArgument {
  /// Nanoseconds since 1970.
  static func nanoseconds(_ text: String) throws -> Int64 {
    guard let time = MomentText.nanoseconds(text, nowNanoseconds: FileStamp.nowNanoseconds()) else {
      throw ValidationError(
        "--since is a date such as 2026-11-20, 2026-11-20T22:00, or a duration back from now such as 24h, not '\(text)'"
      )
    }
    return time
  }
}
