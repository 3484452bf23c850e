import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Licenses", .runsPrograms)
struct LicenseTests {
  /// The names in the first column of the tables of docs/licenses.md, by section.
  private static func named(_ section: String) throws -> Set<String> {
    let file = Fixtures.projectRoot.appending("docs/licenses.md")
    var names: Set<String> = []
    var isHere = false
    for line in try file.text().lines {
      if line.hasPrefix("## ") { isHere = line == "## \(section)" }
      if isHere, line.hasPrefix("| `") {
        names.insert(String(line.dropFirst("| `".count).prefix { $0 != "`" }))
      }
    }
    return names
  }

  @Test("The page names exactly the Swift packages that the build resolves")
  func packages() throws {
    // Not Package.resolved: `make demo` writes it for the program alone, and later builds leave it so.
    let state = try Fixtures.projectRoot.appending(".build/workspace-state.json").json()
    let dependencies = (state["object"] as? [String: Any])?["dependencies"] as? [[String: Any]]
    let pins = (dependencies ?? []).compactMap {
      ($0["packageRef"] as? [String: Any])?["identity"] as? String
    }
    #expect(!pins.isEmpty)
    let inFiles = try Self.named("In the file of the installed program")
    let fetched = try Self.named("Fetched and in no file")
    #expect(inFiles.isDisjoint(with: fetched))
    #expect(inFiles.union(fetched) == Set(pins))
  }

  @Test("The page names exactly the libraries that the program needs or loads")
  func libraries() throws {
    // `scanmill-send` is a program of its own, beside it.
    let sender = Program.path.removingLastComponent().appending("scanmill-send")
    let output = try [Program.path, sender].map {
      try Running("/usr/bin/env", ["readelf", "-d", $0.string], in: nil).finish().output
    }.joined()
    let linked = output.matches(of: /\(NEEDED\).*\[(.+?)\.so/).map { String($0.output.1) }
    #expect(linked.count > 8)
    // Libraries of the toolchain: in the installed program they are in its file.
    let runtime = [
      "libswift", "libFoundation", "libdispatch", "libBlocksRuntime", "lib_Foundation",
    ]
    var needed = Set(
      linked.filter { name in !runtime.contains { name.hasPrefix($0) } }
        .map { $0.hasPrefix("ld-linux") ? "ld-linux" : $0 })
    for module in ["CFFmpeg", "CZimg", "CHDF5"] {
      let functions = Fixtures.projectRoot.appending("Sources/\(module)/functions.h")
      let list = try functions.text()
      let macros = list.lines.filter { $0.hasPrefix("F(") }
      #expect(!macros.isEmpty)
      needed.formUnion(macros.map { "lib" + $0.dropFirst("F(".count).prefix { $0 != "," } })
    }
    // Loaded without a module of C (SQLiteDatabase).
    needed.insert("libsqlite3")
    // The runtime of Swift needs these two: in the installed program it is in the file, here it is apart.
    needed.formUnion(["libstdc++", "libgcc_s"])
    let named = try Self.named("Libraries of the system")
    #expect(named == needed, "\(named.symmetricDifference(needed).sorted())")
  }
}
