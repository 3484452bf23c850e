import ArgumentParser
import Processes
import Runner
import ReceiveArguments
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Starts the program that receives uploads, which is installed beside this one.
struct ReceiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receive", abstract: ReceiveArguments.abstract,
    discussion: ReceiveArguments.discussion)

  @OptionGroup var arguments: ReceiveArguments

  private static let program = "scanmill-receive"

  /// Puts the other program in the place of this process; returns only by an error.
  func run() throws {
    let beside = ProgramPath.ofThisProgram?.removingLastComponent().appending(Self.program)
    guard let program = beside, FileSystem.exists(program) else {
      throw Failure(
        code: ExitStatus.usage,
        text: "\(Self.program) is not installed beside scanmill"
          + (beside.map { " (\($0.shown))" } ?? "")
          + "; install the package anew, or build it with"
          + " `swift build -c release --product \(Self.program)`")
    }
    // Everything behind the verb, byte for byte.
    let rest = Arguments.all.drop { $0 != "receive" }.dropFirst()
    let words = ["scanmill receive"] + rest
    var pointers = words.map { word in PathText.withCString(word) { strdup($0) } } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    _ = program.withPlatformString { execv($0, &pointers) }
    throw FileError(Errno(rawValue: errno), path: program, operation: "start")
  }
}
