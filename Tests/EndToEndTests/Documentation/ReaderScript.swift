import Foundation
import SystemPackage
import TestSupport
import Testing

/// Scripts of `Tests/Readers` and blocks of documentation, by the Python of the readers.
enum ReaderScript {
  static let python = Fixtures.projectRoot.appending(".build/readers/bin/python").string

  /// Why the modules cannot be used; empty: they can. Printed each time it is asked.
  static func absence(of modules: String, for what: String) -> String {
    guard Readers.arePresent else { return "needs .build/readers" }
    // Whether they are there, without loading them, which takes seconds.
    let look =
      "import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))"
    let names = modules.components(separatedBy: ", ")
    let tried = try? PythonScript.run(python, ["-c", look] + names, nil, nil)
    if tried?.status == 0 { return "" }
    let text = "\(modules) is not in .build/readers (make setup-test): \(what)"
    print("skipped: \(text)")
    return text
  }

  static func run(_ name: String, _ words: [String]) throws -> PythonScript.Result {
    let file = Fixtures.projectRoot.appending("Tests/Readers").appending(name).string
    return try PythonScript.run(python, [file] + words, nil, nil)
  }
}
