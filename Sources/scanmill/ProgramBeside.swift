import Core
import Engine
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The programs behind verbs that are installed beside this one.
enum ProgramBeside {
  /// Puts `scanmill-VERB` in the place of this process, with everything behind the verb, byte for byte; returns only by
  /// an error.
  static func become(_ verb: String) throws {
    let name = "scanmill-\(verb)"
    guard let folder = ProgramPath.ofThisProgram?.removingLastComponent() else {
      throw CommandFailure(
        code: ExitStatus.internalError,
        text: "cannot find this program's own file, beside which \(name) is (is /proc mounted?)")
    }
    let program = folder.appending(name)
    guard FileSystem.exists(program) else {
      throw CommandFailure(
        code: ExitStatus.usage,
        text:
          "\(name) is not installed beside scanmill (\(program.shown)); install the package anew, or build it with"
          + " `swift build -c release --product \(name)`")
    }
    let words = ["scanmill \(verb)"] + ProgramStart.arguments.drop { $0 != verb }.dropFirst()
    var pointers = words.map { word in PathText.withCString(word) { strdup($0) } } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    _ = program.withPlatformString { execv($0, &pointers) }
    throw FileError(Errno(rawValue: errno), path: program, operation: "start")
  }
}
