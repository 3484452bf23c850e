import ArgumentParser
import Engine
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Writes the manual pages of the program and its verbs. Called by `make install`; not meant for
/// users.
struct GenerateManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate-manual",
    abstract: "Write the manual pages of the program and of each verb.",
    discussion: "They bear the date of SOURCE_DATE_EPOCH, else of today.", shouldDisplay: false)

  @Argument(help: "A folder that exists.")
  var folder: String

  func run() throws {
    let root = try ToolDescription.ofThisProgram().command
    let date = Self.date
    let pages =
      [ManualPage(verb: root, program: nil, date: date)]
      + root.shownVerbs.map {
        ManualPage(verb: $0, program: root.commandName, date: date)
      }
    for page in pages {
      let file = FilePath(text: folder).appending(page.fileName)
      try OutputFile.write(Array(page.text.utf8), to: file)
      Console.print(file.shown)
    }
  }

  /// Formatted as `November 22, 2026`, in UTC so that builds are reproducible.
  private static var date: String {
    let given = getenv("SOURCE_DATE_EPOCH").map { String(cString: $0) }.flatMap { Int($0) }
    var moment = time_t(given ?? time(nil))
    var parts = tm()
    guard gmtime_r(&moment, &parts) != nil else { return "January 1, 1970" }
    let months = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September",
      "October", "November", "December",
    ]
    let month = months.indices.contains(Int(parts.tm_mon)) ? months[Int(parts.tm_mon)] : months[0]
    return "\(month) \(parts.tm_mday), \(1900 + Int(parts.tm_year))"
  }
}
