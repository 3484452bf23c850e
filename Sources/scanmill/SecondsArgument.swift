import ArgumentParser
import Engine
import Core

/// A short time on the command line: a number of seconds (`0.0167`) or a duration with its unit (`16ms`), also negative.
struct SecondsArgument: ExpressibleByArgument {
  var seconds: Double

  init(_ seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    if let number = Double(argument) {
      guard number.isFinite else { return nil }
      seconds = number
      return
    }
    let isNegative = argument.hasPrefix("-")
    guard let size = DurationSyntax.nanoseconds(String(argument.dropFirst(isNegative ? 1 : 0))) else {
      return nil
    }
    seconds = (isNegative ? -1 : 1) * Double(size) / 1e9
  }

  /// At most four decimals: `0.0167`.
  var defaultValueDescription: String {
    let rounded = (seconds * 10_000).rounded() / 10_000
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
