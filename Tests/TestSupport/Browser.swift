import Foundation
import SystemPackage
import Testing

/// Pages in headless Chromium, by `Tests/Browser/check_pages.py`: phone and desktop, light and dark, printed,
/// sorted, filtered, validated.
public enum Browser {
  private static let python = "/usr/bin/python3"
  private static let script = Fixtures.projectRoot.appending("Tests/Browser/check_pages.py")

  /// What the script needs and does not find; empty: nothing. Printed once.
  public static let absence: String = {
    if ForeignPrograms.areLeftOut { return ForeignPrograms.absence }
    var missing = ["chromium", "chromedriver"].filter { program in
      !["/usr/bin", "/usr/local/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
      }
    }
    if (try? run([python, "-c", "import selenium"]))?.status != 0 { missing.append("selenium") }
    if missing.isEmpty { return "" }
    let text =
      "\(missing.joined(separator: ", ")) not found: pages are not opened in a browser (apt-get install chromium chromium-driver python3-selenium)"
    print("note: \(text)")
    return text
  }()

  public static var isPresent: Bool { absence.isEmpty }

  /// Checks files of pages. Status 0: nothing is wrong; else `output` has a line per problem.
  public static func check(_ pages: [String]) throws -> (status: Int32, output: String) {
    let result = try run([python, script.string] + pages)
    for line in result.output.split(separator: "\n") where line.hasPrefix("note:") { print(line) }
    return result
  }

  /// Checks pages of a server.
  public static func check(served addresses: [String]) throws -> (status: Int32, output: String) {
    let script = Fixtures.projectRoot.appending("Tests/Browser/check_served.py")
    return try run([python, script.string] + addresses)
  }

  /// For somebody who wants to look at a page of a test: kept in the folder that `SCANMILL_PAGES` names.
  public static func keep(_ page: [UInt8], as name: String) {
    guard let folder = ProcessInfo.processInfo.environment["SCANMILL_PAGES"] else { return }
    try? Data(page).write(to: URL(filePath: "\(folder)/\(name)"))
  }

  private static func run(_ words: [String]) throws -> (status: Int32, output: String) {
    let result = try Running(FilePath(words[0]), Array(words.dropFirst()), mergesErrors: true)
      .finish()
    return (result.status, result.output)
  }
}
