import Foundation
import Testing

/// A mistake, or something that goes wrong, and what the program says of it.
struct MessageCase: Sendable, CustomTestStringConvertible {
  /// A line of what is printed; `…` stands for any text of it.
  var shows: String
  /// Exit status of the process.
  var status: Int32
  /// What names the remedy, word for word.
  var remedy: String
  /// Whether this machine can do it; if not, a reason has been printed.
  var isPossible: @Sendable () -> Bool
  /// Does it, in a place of its own.
  var make: @Sendable (MessagePlace) throws -> Program.Result

  init(
    _ shows: String, _ status: Int32, _ remedy: String,
    if isPossible: @escaping @Sendable () -> Bool = { true },
    make: @escaping @Sendable (MessagePlace) throws -> Program.Result
  ) {
    (self.shows, self.status, self.remedy) = (shows, status, remedy)
    (self.isPossible, self.make) = (isPossible, make)
  }

  /// A command line, words between blanks.
  init(_ words: String, shows: String, _ status: Int32, _ remedy: String) {
    self.init(shows, status, remedy) { try $0.program(words) }
  }

  /// A pipeline file `p.yaml`, run.
  init(pipeline text: String, shows: String, _ remedy: String) {
    self.init(shows, 78, remedy) { place in
      try place.write(text, "p.yaml")
      return try place.run("--pipeline p.yaml")
    }
  }

  /// A calibration file `lab.json`, used.
  init(calibration text: String, shows: String, _ remedy: String) {
    self.init(shows, 64, remedy) { place in
      try place.write(text, "lab.json")
      return try place.run("--set aligned.calibration=lab.json")
    }
  }

  var testDescription: String { shows }

  /// Whether a line of a text has the pieces between `…`, one after the other.
  func isShown(in text: String) -> Bool {
    text.split(whereSeparator: \.isNewline).contains { line in
      var rest = line[...]
      for piece in shows.split(separator: "…").map({ $0.trimmingCharacters(in: .whitespaces) }) {
        guard let place = rest.range(of: piece) else { return false }
        rest = rest[place.upperBound...]
      }
      return true
    }
  }

  static let all = mistakes + troubles

  /// What somebody has typed or written wrong.
  static let mistakes = commandLine + names + places + pipelines + calibrations

  /// What happens to somebody who has made none.
  static let troubles = captures + runs
}
